//! Stands before the server and signs in whoever comes, because the suite cannot: every request gets the token,
//! and all else is passed on as it is, byte for byte and as soon as it comes.

use std::{io, net::SocketAddr};

use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    io::{BufReader, copy},
    net::{TcpListener, TcpStream},
};

pub(crate) async fn forward(listener: TcpListener, server: SocketAddr, token: String) {
    while let Ok((client, _)) = listener.accept().await {
        let token = token.clone();
        tokio::spawn(async move {
            // Whoever is gone on one side is gone on the other.
            let _ = connect(client, server, &token).await;
        });
    }
}

async fn connect(mut client: TcpStream, server: SocketAddr, token: &str) -> io::Result<()> {
    let mut server = TcpStream::connect(server).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    tokio::select! {
        done = requests(BufReader::new(from_client), &mut to_server, token) => done,
        done = copy(&mut from_server, &mut to_client) => done.map(drop),
    }
}

/// Passes requests on until the client is gone.
async fn requests(
    mut from: impl AsyncBufRead + Unpin,
    to: &mut (impl AsyncWrite + Unpin),
    token: &str,
) -> io::Result<()> {
    let mut head = String::new();
    while from.read_line(&mut head).await? > 0 {
        head.extend(["authorization: Bearer ", token, "\r\n"]);
        while !head.ends_with("\r\n\r\n") {
            if from.read_line(&mut head).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        to.write_all(head.as_bytes()).await?;
        copy(&mut (&mut from).take(length(&head)?), to).await?;
        head.clear();
    }
    Ok(())
}

/// How long the body of a request is.
fn length(head: &str) -> io::Result<u64> {
    let header = |wanted: &str| {
        let mut headers = head.lines().filter_map(|line| line.split_once(':'));
        headers.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim())
    };
    // Nobody who comes here sends a body in pieces.
    if header("transfer-encoding").is_some() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    header("content-length").map_or(Ok(0), |length| length.parse().map_err(io::Error::other))
}
