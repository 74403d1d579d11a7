//! What a server costs that has nothing to do.

use std::{
    fs,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};

use super::{
    Row,
    measure::{Times, progress},
};

const ROUNDS: u64 = 20;
/// So long it has nothing to do before its memory is looked at.
const IDLE: Duration = Duration::from_millis(300);
/// Much longer than any start takes.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) const START: &str = "server.start";
pub(super) const IDLES: &str = "server.idle";

/// Starts servers on fresh data folders: the time until one is ready, and its memory a little later.
pub(super) fn all() -> Result<Vec<Row>> {
    let (mut times, mut sizes) = (Times::default(), Vec::new());
    let bar = progress(START, ROUNDS);
    for _ in 0..ROUNDS {
        let folder = tempfile::tempdir()?;
        let begin = Instant::now();
        let mut server = Started::new(folder.path())?;
        server.until_ready()?;
        times.since(begin);
        std::thread::sleep(IDLE);
        sizes.push(resident_bytes(server.0.id())?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    sizes.sort_unstable();
    let median = sizes.get(sizes.len() / 2).copied();
    Ok(vec![Row::new(START, times), Row { bytes: median, ..Row::new(IDLES, Times::default()) }])
}

/// A server that ends with us.
struct Started(Child);

impl Started {
    #[expect(clippy::disallowed_methods, reason = "a benchmark runs the program it measures")]
    fn new(folder: &Path) -> Result<Self> {
        // The person's own configuration may have anything in it.
        let config = folder.join("toolgate.toml");
        fs::write(&config, "")?;
        let child = Command::new(std::env::current_exe()?)
            .arg("--config")
            .arg(config)
            .arg("--data")
            .arg(folder.join("data"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self(child))
    }

    /// Reads where it listens, and asks there until it can work.
    fn until_ready(&mut self) -> Result<()> {
        let output = self.0.stdout.take().context("the server has no output")?;
        let mut line = String::new();
        // What it says besides fits into the pipe, and it does not mind if nobody reads it.
        BufReader::new(output).read_line(&mut line)?;
        let address = line.trim().rsplit("http://").next().unwrap_or_default().to_owned();
        let begin = Instant::now();
        while !is_ready(&address)? {
            ensure!(begin.elapsed() < PATIENCE, "the server at `{address}` does not become ready");
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // There is nobody to tell if it has ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn is_ready(address: &str) -> io::Result<bool> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "GET /readyz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.starts_with("HTTP/1.1 200 "))
}

/// What a process has in memory: `VmRSS`.
fn resident_bytes(id: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    Ok(kilobytes.context("the system does not say how much memory a process has")? * 1024)
}
