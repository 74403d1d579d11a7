//! Tunnels: bytes both ways, once it is clear for whom.

use std::{io, sync::Arc};

use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use policy::url::CheckedUrl;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional_with_sizes};

use super::{
    hello::{self, Hello},
    meter::Metered,
    tally::Tally,
};

/// What is read at once, each way. Two records of TLS: more makes it hardly faster.
const BUFFER: usize = 32 * 1024;
/// Where TLS is spoken and nothing else.
const TLS_PORT: u16 = 443;

/// A tunnel that was granted.
pub(super) struct Tunnel {
    pub(super) url: CheckedUrl,
    /// The client, once it has been told.
    pub(super) client: OnUpgrade,
    pub(super) server: Metered,
    pub(super) tally: Arc<Tally>,
}

impl Tunnel {
    /// Carries bytes until both sides have ended. One that has ended still gets what comes for it.
    pub(super) async fn carry(self) -> io::Result<()> {
        let Self { url, client, mut server, tally } = self;
        let mut client = TokioIo::new(client.await.map_err(io::Error::other)?);
        if url.port() == TLS_PORT {
            let first = first_words(&mut client, url.host(), &tally).await?;
            server.write_all(&first).await?;
        }
        copy_bidirectional_with_sizes(&mut client, &mut server, BUFFER, BUFFER).await?;
        Ok(())
    }
}

/// What the client says first, if it is meant for `host`. Otherwise a server of many hosts could be
/// reached as one of them and asked for another.
async fn first_words(
    client: &mut TokioIo<Upgraded>,
    host: &str,
    tally: &Tally,
) -> io::Result<Vec<u8>> {
    let mut words = Vec::new();
    loop {
        match hello::read(&words) {
            Hello::Nameless => return Ok(words),
            Hello::Named(name) if is_same(&name, host) => return Ok(words),
            Hello::Named(name) => {
                tally.refuse(Some(&format!("{name}:{TLS_PORT}")));
                return Err(io::Error::other("TLS for another host"));
            }
            Hello::Wrong => {
                tally.refuse(None);
                return Err(io::Error::other("no TLS"));
            }
            Hello::Unfinished => {}
        }
        if client.read_buf(&mut words).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

fn is_same(name: &str, host: &str) -> bool {
    let bare = |host: &str| host.trim_matches(['[', ']']).to_ascii_lowercase();
    bare(name) == bare(host)
}
