//! The other end: this same program, executed again, with many connections.

use std::{
    io::{BufRead as _, BufReader, Lines, Write as _},
    net::SocketAddr,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::{SinkExt as _, StreamExt as _};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::{
    net::{TcpSocket, TcpStream},
    sync::{Semaphore, watch},
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, handshake::client::generate_key, http::Request},
};

use crate::served::Served;

/// The first argument of a client.
pub(crate) const CLIENT: &str = "client";

/// So many connect at once.
const AT_ONCE: usize = 200;
/// Connections from one address of this machine; each has only so many ports.
const PER_ADDRESS: usize = 2_000;
/// Longer than any answer takes, also on a machine that does much else.
const PATIENCE: Duration = Duration::from_mins(2);

type Socket = WebSocketStream<TcpStream>;

/// A process with connections, as the test sees it.
pub(crate) struct Clients {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Clients {
    /// Starts a process that connects so often and then sends `message` on each connection.
    pub(crate) fn start(server: &Served, count: usize, message: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([CLIENT, &server.base, &server.token, &count.to_string(), message])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().unwrap());
        Self { child, stdin, lines: BufReader::new(stdout).lines() }
    }

    /// Lets all of them ping, and waits until each has its answer.
    pub(crate) fn ping(&mut self) {
        writeln!(self.stdin.as_mut().unwrap(), "ping").unwrap();
        self.until("answered");
    }

    /// Waits until the process says so.
    pub(crate) fn until(&mut self, wanted: &str) {
        let said = self.lines.by_ref().map_while(Result::ok).find(|line| line == wanted);
        assert!(said.is_some(), "the clients ended before they were {wanted}");
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it as it would by itself.
    pub(crate) fn leave(mut self) {
        drop(self.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }

    /// Ends it with no chance to say so.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The process itself, with what it was given.
pub(crate) fn run(args: &[String]) {
    let [base, token, count, message] = args else { panic!("not so: {args:?}") };
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (to, count) = (base.trim_start_matches("http://").parse().unwrap(), count.parse().unwrap());
    runtime.block_on(hold(to, token, count, message));
}

/// Connects, says `connected`, and pings whenever it is told to, until standard input closes.
async fn hold(to: SocketAddr, token: &str, count: usize, message: &str) {
    let (told, pings) = watch::channel(0_usize);
    let answered = Arc::new(AtomicUsize::new(0));
    let (places, token) = (Arc::new(Semaphore::new(AT_ONCE)), Arc::<str>::from(token));
    let mut connecting = tokio::task::JoinSet::new();
    for number in 0..count {
        let (places, token) = (places.clone(), token.clone());
        connecting.spawn(async move {
            let _place = places.acquire_owned().await.unwrap();
            connect(to, &token, number).await
        });
    }
    while let Some(socket) = connecting.join_next().await {
        let mut socket = socket.unwrap();
        if !message.is_empty() {
            socket.send(Message::text(message)).await.unwrap();
        }
        tokio::spawn(stay(socket, pings.clone(), answered.clone()));
    }
    say("connected");
    let (lines, mut read) = tokio::sync::mpsc::channel(1);
    std::thread::spawn(move || {
        let lines_of = std::io::stdin().lines();
        lines_of.map_while(Result::ok).try_for_each(|_| lines.blocking_send(()))
    });
    while read.recv().await.is_some() {
        told.send_modify(|rounds| *rounds += 1);
        let all = count * *told.borrow();
        let waiting = async {
            while answered.load(Ordering::SeqCst) < all {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.unwrap();
        say("answered");
    }
}

async fn connect(to: SocketAddr, token: &str, number: usize) -> Socket {
    let own = u8::try_from(1 + number / PER_ADDRESS).unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from(([127, 0, 0, own], 0))).unwrap();
    let stream = socket.connect(to).await.unwrap();
    let request = Request::builder()
        .uri(format!("ws://{to}/ws"))
        .header("host", to.to_string())
        .header("authorization", format!("Bearer {token}"))
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", generate_key())
        .body(())
        .unwrap();
    client_async(request, stream).await.unwrap().0
}

/// Reads all that comes, and so answers when the server asks whether somebody is there.
async fn stay(mut socket: Socket, mut pings: watch::Receiver<usize>, answered: Arc<AtomicUsize>) {
    loop {
        tokio::select! {
            message = socket.next() => match message {
                Some(Ok(message)) if message.to_text().is_ok_and(|text| text.contains("pong")) => {
                    answered.fetch_add(1, Ordering::SeqCst);
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            },
            told = pings.changed() => {
                let ping = Message::text(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
                if told.is_err() || socket.send(ping).await.is_err() {
                    return;
                }
            }
        }
    }
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").unwrap();
    out.flush().unwrap();
}
