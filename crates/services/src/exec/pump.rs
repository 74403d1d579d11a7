//! Reads what a command writes, as it comes.

use std::io;

use sandbox::Output;
use tokio::io::AsyncReadExt;
use tool::Stream;

/// What is read at once.
const CHUNK: usize = 64 * 1024;

/// The two outputs of a command.
pub(super) struct Pump {
    stdout: Option<Output>,
    stderr: Option<Output>,
    buffers: (Vec<u8>, Vec<u8>),
}

impl Pump {
    pub(super) fn new(stdout: Option<Output>, stderr: Option<Output>) -> Self {
        Self { stdout, stderr, buffers: (vec![0; CHUNK], vec![0; CHUNK]) }
    }

    /// The next piece, or `None` once both have ended. Can be given up without losing anything.
    pub(super) async fn next(&mut self) -> Option<(Stream, &[u8])> {
        loop {
            let (out, err) = (&mut self.buffers.0, &mut self.buffers.1);
            let (stream, read) = tokio::select! {
                read = read(&mut self.stdout, out), if self.stdout.is_some() => {
                    (Stream::Stdout, read)
                }
                read = read(&mut self.stderr, err), if self.stderr.is_some() => {
                    (Stream::Stderr, read)
                }
                else => return None,
            };
            // A pipe that fails has nothing more to say, like one that ended.
            match (stream, read.unwrap_or(0)) {
                (Stream::Stdout, 0) => self.stdout = None,
                (Stream::Stderr, 0) => self.stderr = None,
                (Stream::Stdout, count) => return Some((stream, self.buffers.0.get(..count)?)),
                (Stream::Stderr, count) => return Some((stream, self.buffers.1.get(..count)?)),
            }
        }
    }
}

async fn read(output: &mut Option<Output>, buffer: &mut [u8]) -> io::Result<usize> {
    match output {
        Some(output) => output.read(buffer).await,
        None => Ok(0),
    }
}
