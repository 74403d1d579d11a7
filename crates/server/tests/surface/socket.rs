//! A WebSocket client that speaks JSON-RPC, and keeps what it is told meanwhile.

use std::collections::VecDeque;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::{
    net::{TcpSocket, TcpStream},
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{
        Error, Message,
        client::IntoClientRequest as _,
        http::{HeaderName, HeaderValue},
    },
};

use crate::helper::{PATIENCE, Site};

/// What a request came to: its result, or the error.
pub(crate) type Answered = Result<Value, Value>;

pub(crate) struct Socket {
    pub(crate) stream: WebSocketStream<TcpStream>,
    last: u64,
    notifications: VecDeque<Value>,
    answers: Vec<Value>,
}

impl Site {
    /// A socket of whoever has the token.
    pub(crate) async fn socket(&self, token: &str) -> Socket {
        let bearer = format!("Bearer {token}");
        self.open(&[("authorization", &bearer)]).await.expect("a WebSocket")
    }

    /// A socket, or the status it is refused with.
    pub(crate) async fn open(&self, headers: &[(&str, &str)]) -> Result<Socket, u16> {
        self.open_through(TcpSocket::new_v4().unwrap(), headers).await
    }

    /// The same through a connection that is made with `tcp`.
    pub(crate) async fn open_through(
        &self,
        tcp: TcpSocket,
        headers: &[(&str, &str)],
    ) -> Result<Socket, u16> {
        let stream = tcp.connect(self.address).await.unwrap();
        let mut request = format!("ws://{}/ws", self.address).into_client_request().unwrap();
        for (name, value) in headers {
            let name: HeaderName = name.parse().unwrap();
            request.headers_mut().insert(name, HeaderValue::from_str(value).unwrap());
        }
        match timeout(PATIENCE, client_async(request, stream)).await.expect("an answer") {
            Ok((stream, _)) => {
                let (notifications, answers) = (VecDeque::new(), Vec::new());
                Ok(Socket { stream, last: 0, notifications, answers })
            }
            Err(Error::Http(response)) => Err(response.status().as_u16()),
            Err(other) => panic!("{other}"),
        }
    }

    /// How many sockets are open.
    pub(crate) async fn sockets(&self) -> u64 {
        self.metric("toolgate_ws_connections").await
    }

    /// A number of the page for Prometheus.
    pub(crate) async fn metric(&self, name: &str) -> u64 {
        let page = self.get("/metrics").await.text();
        let line = page.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("no {name} in {page}")).parse().unwrap()
    }
}

impl Socket {
    /// Sends a message as it is.
    pub(crate) async fn say(&mut self, text: &str) {
        self.stream.send(Message::text(text)).await.unwrap();
    }

    /// Sends a request, and gives its id.
    pub(crate) async fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let message =
            json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        self.say(&message.to_string()).await;
        self.last
    }

    /// Sends a request and waits for what comes of it.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Answered {
        let id = self.begin(method, params).await;
        self.answer(id).await
    }

    /// The same for a request that succeeds.
    pub(crate) async fn get(&mut self, method: &str, params: Value) -> Value {
        let answered = self.ask(method, params).await;
        answered.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// The same for one that does not: the code and the message of the error.
    pub(crate) async fn error(&mut self, method: &str, params: Value) -> (i64, String) {
        let error = self.ask(method, params.clone()).await;
        let error = error.expect_err(&format!("{method} {params}"));
        (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap().to_owned())
    }

    /// What came of the request with this id.
    pub(crate) async fn answer(&mut self, id: u64) -> Answered {
        loop {
            let found = self.answers.iter().position(|answer| answer["id"] == id);
            if let Some(found) = found {
                let mut answer = self.answers.remove(found);
                assert_eq!(answer["jsonrpc"], "2.0");
                return match answer.get_mut("error") {
                    Some(error) => Err(error.take()),
                    None => Ok(answer["result"].take()),
                };
            }
            self.listen().await;
        }
    }

    /// The params of the next notification of this kind.
    pub(crate) async fn told(&mut self, kind: &str) -> Value {
        loop {
            let found = self.notifications.iter().position(|one| one["method"] == kind);
            if let Some(mut one) = found.and_then(|found| self.notifications.remove(found)) {
                return one["params"].take();
            }
            self.listen().await;
        }
    }

    /// Every notification that came so far, oldest first. An answer comes after what happened before
    /// the request, so nothing is under way.
    pub(crate) async fn all(&mut self) -> Vec<Value> {
        self.get("ping", json!({})).await;
        self.notifications.drain(..).collect()
    }

    /// Passes over what was told so far.
    pub(crate) fn forget(&mut self) {
        self.notifications.clear();
    }

    /// Takes one message.
    async fn listen(&mut self) {
        let message = self.message().await;
        if message.get("method").is_some() {
            self.notifications.push_back(message);
        } else {
            self.answers.push(message);
        }
    }

    /// The next message.
    pub(crate) async fn message(&mut self) -> Value {
        let came = self.told_or_closed().await;
        came.unwrap_or_else(|code| panic!("instead of a message it is closed: {code:?}"))
    }

    /// The next message, or the code the connection is closed with, if that gets through.
    pub(crate) async fn told_or_closed(&mut self) -> Result<Value, Option<u16>> {
        // All of it at once: a ping that comes meanwhile gives nobody more time.
        let next = async {
            loop {
                match self.stream.next().await {
                    Some(Ok(Message::Text(text))) => return Ok(text),
                    Some(Ok(Message::Close(frame))) => {
                        return Err(frame.map(|frame| frame.code.into()));
                    }
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return Err(None),
                }
            }
        };
        let text = timeout(PATIENCE, next).await.expect("something comes")?;
        Ok(serde_json::from_str(&text).unwrap())
    }

    /// Passes over what comes until the server ends the connection: the code it gives.
    pub(crate) async fn closed(&mut self) -> Option<u16> {
        loop {
            if let Err(code) = self.told_or_closed().await {
                return code;
            }
        }
    }
}
