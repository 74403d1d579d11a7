//! The server.

use std::{
    collections::VecDeque,
    fmt, io,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinHandle,
    time::sleep,
};
use tool::Format;

use crate::{
    Reply, Request,
    reply::{End, What},
};

/// A model that says what a test wants, in the format that the path of a request asks for. It listens
/// on this machine until it is dropped.
pub struct ScriptedModel {
    address: SocketAddr,
    seen: Arc<Seen>,
    task: JoinHandle<()>,
}

type Script = dyn Fn(&Request) -> Reply + Send + Sync;

#[derive(Default)]
struct Seen {
    requests: Mutex<Vec<Request>>,
    connections: AtomicUsize,
    abandoned: AtomicUsize,
    changed: Notify,
}

impl ScriptedModel {
    /// Gives these replies, one to each request. A request too many gets an error that says so.
    pub async fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let left: VecDeque<_> = replies.into_iter().collect();
        let left = Mutex::new(left);
        Self::answering(move |_| {
            let next = left.lock().unwrap().pop_front();
            next.unwrap_or_else(|| Reply::error(400, "script", "the script has ended"))
        })
        .await
    }

    /// Replies to each request as `script` says.
    pub async fn answering(script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, script) = (Arc::<Seen>::default(), Arc::new(script));
        let shared = seen.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let (seen, script) = (shared.clone(), script.clone());
                tokio::spawn(async move { talk(stream, &seen, &*script).await });
            }
        });
        Self { address, seen, task }
    }

    /// Where a provider of this format is: what its configuration has as `base_url`.
    pub fn base_url(&self, format: Format) -> String {
        let path = match format {
            Format::OpenAi | Format::OpenAiResponses => "/v1",
            Format::Anthropic | Format::Gemini | Format::Mcp => "",
        };
        format!("http://{}{path}", self.address)
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.seen.requests.lock().unwrap().clone()
    }

    /// Connections so far.
    pub fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    /// Waits until there were so many requests.
    pub async fn requested(&self, count: usize) {
        self.until(|| self.requests().len() >= count).await;
    }

    /// Waits until somebody has closed a connection on which an answer was not whole.
    pub async fn abandoned(&self) {
        self.until(|| self.seen.abandoned.load(Ordering::SeqCst) > 0).await;
    }

    async fn until(&self, done: impl Fn() -> bool) {
        loop {
            let changed = self.seen.changed.notified();
            tokio::pin!(changed);
            // From here on no change is missed.
            changed.as_mut().enable();
            if done() {
                return;
            }
            changed.await;
        }
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Answers requests until one side has enough.
async fn talk(mut stream: TcpStream, seen: &Seen, script: &Script) -> io::Result<()> {
    stream.set_nodelay(true)?;
    loop {
        let request = Request::read(&mut stream).await?;
        let reply = script(&request);
        let format = request.format();
        let model = request.model();
        seen.requests.lock().unwrap().push(request);
        seen.changed.notify_waiters();
        wait(reply.delay).await;
        let sent = send(&mut stream, &reply, format, &model).await;
        if !matches!(sent, Ok(Sent::Whole)) {
            if !matches!(sent, Ok(Sent::Vanished)) {
                seen.abandoned.fetch_add(1, Ordering::SeqCst);
                seen.changed.notify_waiters();
            }
            return Ok(());
        }
    }
}

/// What became of a reply.
enum Sent {
    Whole,
    /// We closed the connection.
    Vanished,
    /// They did.
    Left,
}

async fn send(
    stream: &mut TcpStream,
    reply: &Reply,
    format: Option<Format>,
    model: &str,
) -> io::Result<Sent> {
    let (answer, format) = match (&reply.what, format) {
        (What::Error { status, headers, body }, _) => {
            return whole(stream, *status, headers, body).await;
        }
        (What::Answer(_), None) => return whole(stream, 404, &[], "{}").await,
        (What::Answer(answer), Some(format)) => (answer, format),
    };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                transfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    if matches!(reply.end, End::Flood) {
        loop {
            chunk(stream, format!(": {}\n\n", "x".repeat(64 * 1024)).as_bytes()).await?;
        }
    }
    let events = answer.events(format, model);
    let mut left = match reply.end {
        End::Whole | End::Flood => usize::MAX,
        End::Vanish(bytes) | End::Stall(bytes) => bytes,
    };
    let bytes: Vec<Vec<u8>> = match reply.cut {
        Some(size) => events.concat().as_bytes().chunks(size).map(<[u8]>::to_vec).collect(),
        None => events.into_iter().map(String::into_bytes).collect(),
    };
    for piece in bytes {
        let part = piece.get(..left.min(piece.len())).unwrap_or_default();
        chunk(stream, part).await?;
        left -= part.len();
        if left == 0 {
            break;
        }
        wait(reply.pause).await;
    }
    match reply.end {
        End::Whole | End::Flood => stream.write_all(b"0\r\n\r\n").await.map(|()| Sent::Whole),
        End::Vanish(_) => Ok(Sent::Vanished),
        End::Stall(_) => {
            // Whatever comes, the other side has closed or will.
            let _ = stream.read(&mut [0; 1]).await;
            Ok(Sent::Left)
        }
    }
}

/// Sleeping for no time at all takes a millisecond.
async fn wait(time: Duration) {
    if !time.is_zero() {
        sleep(time).await;
    }
}

async fn whole(
    stream: &mut TcpStream,
    status: u16,
    headers: &[(String, String)],
    body: &str,
) -> io::Result<Sent> {
    let headers: Vec<_> =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let headers = headers.concat();
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\n\r\n{body}");
    stream.write_all(head.as_bytes()).await.map(|()| Sent::Whole)
}

async fn chunk(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    stream.write_all(format!("{:x}\r\n", bytes.len()).as_bytes()).await?;
    stream.write_all(bytes).await?;
    stream.write_all(b"\r\n").await
}
