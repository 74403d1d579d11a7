//! A network of one machine: names, addresses and servers as a test wants them.

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer},
    },
};
use tool::{Answer, BoxFuture, Fetch, Net, Source, ToolError};
use world::{Dial, Door, DoorParts, NetSettings, Outlet, Resolve};

/// Where names lead, unless a test says otherwise.
pub(crate) const PUBLIC: &str = "93.184.216.34";

/// What a server does with a request.
pub(crate) enum Reply {
    /// Sends this and waits for the next request.
    Whole(Vec<u8>),
    /// Sends this and closes.
    Closing(Vec<u8>),
    /// Sends this, then one byte every now and then, for ever.
    Dripping(Vec<u8>),
    /// Sends this, then more as fast as it can, for ever.
    Flooding(Vec<u8>),
}

/// A request as the server saw it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// Head and body.
    pub(crate) text: String,
    /// How it came.
    pub(crate) scheme: &'static str,
}

impl Seen {
    pub(crate) fn method(&self) -> &str {
        self.text.split(' ').next().unwrap()
    }

    pub(crate) fn path(&self) -> &str {
        self.text.split(' ').nth(1).unwrap()
    }

    pub(crate) fn body(&self) -> &str {
        self.text.split_once("\r\n\r\n").unwrap().1
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let head = self.text.split_once("\r\n\r\n").unwrap().0;
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Scheme and host, as a URL begins.
    pub(crate) fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.header("host").unwrap())
    }
}

type Script = dyn Fn(&Seen) -> Reply + Send + Sync;

/// Names, addresses and servers.
#[derive(Default)]
pub(crate) struct Network {
    names: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    dialled: Mutex<Vec<SocketAddr>>,
    seen: Mutex<Vec<Seen>>,
    servers: Mutex<Option<(SocketAddr, SocketAddr)>>,
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Network")
    }
}

/// A door to such a network.
pub(crate) struct Setup {
    pub(crate) door: Arc<Door>,
    /// The only certificate that is trusted.
    pub(crate) root: CertificateDer<'static>,
    network: Arc<Network>,
}

impl Setup {
    /// Servers that do as `script` says, on every address there is.
    pub(crate) async fn new(script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::with(NetSettings::default(), script).await
    }

    pub(crate) async fn with(
        settings: NetSettings,
        script: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let names = ["ok.example", "other.example", PUBLIC].map(str::to_owned);
        let certified = rcgen::generate_simple_self_signed(names).unwrap();
        let certificate = certified.cert.der().clone();
        let key = PrivateKeyDer::try_from(certified.signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .unwrap();
        let (network, script) = (Arc::new(Network::default()), Arc::new(script));
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let plain = serve(network.clone(), script.clone(), None).await;
        let secure = serve(network.clone(), script, Some(acceptor)).await;
        *network.servers.lock().unwrap() = Some((plain, secure));
        let door = Arc::new(Door::with(settings, parts(&network, &certificate)));
        let setup = Self { door, root: certificate, network };
        setup.name("ok.example", &[&[PUBLIC]]);
        setup.name("other.example", &[&["93.184.216.35"]]);
        setup
    }

    /// The way to hosts that were configured, in the same network.
    pub(crate) fn outlet(&self) -> Outlet {
        Outlet::with(parts(&self.network, &self.root))
    }

    /// What a name resolves to, lookup by lookup; the last answer stays.
    pub(crate) fn name(&self, name: &str, answers: &[&[&str]]) {
        let ips = |list: &&[&str]| list.iter().map(|ip| ip.parse().unwrap()).collect();
        let mut answers: Vec<Vec<IpAddr>> = answers.iter().map(ips).collect();
        answers.reverse();
        self.network.names.lock().unwrap().insert(name.to_owned(), answers);
    }

    pub(crate) async fn get(&self, url: &str) -> Result<Answer, ToolError> {
        self.door.fetch(Fetch::get(url)).await
    }

    /// The status, or kind and rule of the error.
    pub(crate) async fn outcome(&self, fetch: Fetch) -> String {
        match self.door.fetch(fetch).await {
            Ok(answer) => answer.status.to_string(),
            Err(error) => {
                let (kind, details) = (error.kind(), error.details());
                let (stage, rule) = (details.get("stage"), details.get("rule"));
                let rule = stage.zip(rule).map(|(s, r)| format!(" {s}: {}", r.as_str().unwrap()));
                format!("{kind}{}", rule.unwrap_or_default())
            }
        }
    }

    /// Where connections went, so far.
    pub(crate) fn dialled(&self) -> Vec<String> {
        self.network.dialled.lock().unwrap().iter().map(ToString::to_string).collect()
    }

    /// What servers saw, so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.network.seen.lock().unwrap().clone()
    }
}

fn parts(network: &Arc<Network>, root: &CertificateDer<'static>) -> DoorParts {
    let (resolver, dialer) = (network.clone(), network.clone());
    DoorParts { resolver, dialer, roots: vec![root.to_vec()] }
}

impl Resolve for Network {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, Source>> {
        let mut names = self.names.lock().unwrap();
        let found = names.get_mut(name).map(|answers| match answers.len() {
            1 => answers.last().cloned().unwrap(),
            _ => answers.pop().unwrap_or_default(),
        });
        Box::pin(async move { Ok(found.unwrap_or_default()) })
    }
}

impl Dial for Network {
    fn dial(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        self.dialled.lock().unwrap().push(address);
        let (plain, secure) = self.servers.lock().unwrap().unwrap();
        let server = if matches!(address.port(), 443 | 8443) { secure } else { plain };
        Box::pin(async move {
            if address.port() == 8080 {
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            TcpStream::connect(server).await
        })
    }
}

async fn serve(network: Arc<Network>, script: Arc<Script>, tls: Option<TlsAcceptor>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (network, script, tls) = (network.clone(), script.clone(), tls.clone());
            tokio::spawn(async move {
                match tls {
                    None => talk(stream, &network, &*script, "http").await,
                    Some(tls) => match tls.accept(stream).await {
                        Ok(stream) => talk(stream, &network, &*script, "https").await,
                        Err(error) => Err(error),
                    },
                }
            });
        }
    });
    address
}

/// Answers requests until one side has enough.
async fn talk(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    network: &Network,
    script: &Script,
    scheme: &'static str,
) -> io::Result<()> {
    loop {
        let seen = Seen { text: request(&mut stream).await?, scheme };
        network.seen.lock().unwrap().push(seen.clone());
        match script(&seen) {
            Reply::Whole(bytes) => stream.write_all(&bytes).await?,
            Reply::Closing(bytes) => {
                stream.write_all(&bytes).await?;
                return stream.shutdown().await;
            }
            Reply::Dripping(bytes) => {
                stream.write_all(&bytes).await?;
                loop {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    stream.write_all(b"a").await?;
                    stream.flush().await?;
                }
            }
            Reply::Flooding(bytes) => {
                stream.write_all(&bytes).await?;
                loop {
                    stream.write_all(&[b'a'; 8 * 1024]).await?;
                }
            }
        }
        stream.flush().await?;
    }
}

async fn request(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<String> {
    let mut text = String::new();
    loop {
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let chunked = head.contains("transfer-encoding: chunked");
            (!chunked || body.ends_with("0\r\n\r\n"))
                && body.len() >= length.map_or(0, |length| length.parse().unwrap())
        });
        if whole {
            return Ok(text);
        }
        text.push(char::from(stream.read_u8().await?));
    }
}

/// A whole answer.
pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    let headers: Vec<_> =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let (headers, length) = (headers.concat(), body.len());
    let head = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\n\r\n");
    Reply::Whole([head.as_bytes(), body].concat())
}
