//! The server's log: written by a thread of its own, many lines at a time, so that no request waits for
//! whoever reads it.

use std::{
    io::{self, Write},
    sync::{
        Arc, OnceLock,
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::Duration,
};

/// So many lines wait; one more is written by whoever says it.
const MOST_LINES: usize = 4_096;
/// So much is written at once.
const MOST_BYTES: usize = 64 * 1024;
/// So long the last lines may take.
const LAST_LINES: Duration = Duration::from_secs(1);

static LINES: OnceLock<Arc<Lines>> = OnceLock::new();

/// Where lines go.
#[derive(Debug)]
pub(crate) struct Lines(SyncSender<Said>);

enum Said {
    Line(Vec<u8>),
    /// Everything before it is to be written now.
    All(SyncSender<()>),
}

/// Begins to write lines to standard error.
pub(crate) fn begin() -> io::Result<Arc<Lines>> {
    let (sender, said) = sync_channel(MOST_LINES);
    thread::Builder::new().name("log".to_owned()).spawn(move || write(&said))?;
    Ok(LINES.get_or_init(|| Arc::new(Lines(sender))).clone())
}

/// Waits until what was said is written.
pub(crate) fn end() {
    let Some(Lines(lines)) = LINES.get().map(|lines| &**lines) else { return };
    let (done, written) = sync_channel(1);
    if lines.send(Said::All(done)).is_ok() {
        // A reader that takes nothing must not keep the server from ending.
        let _ = written.recv_timeout(LAST_LINES);
    }
}

fn write(said: &Receiver<Said>) {
    while let Ok(first) = said.recv() {
        let (mut bytes, mut done) = (Vec::new(), Vec::new());
        let more = std::iter::from_fn(|| said.try_recv().ok());
        for one in std::iter::once(first).chain(more) {
            match one {
                Said::Line(line) => bytes.extend(line),
                Said::All(waits) => done.push(waits),
            }
            if bytes.len() >= MOST_BYTES {
                break;
            }
        }
        // A reader that went away is not an error.
        let _ = io::stderr().write_all(&bytes);
        for waits in done {
            let _ = waits.try_send(());
        }
    }
}

impl Write for &Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match self.0.try_send(Said::Line(line.to_vec())) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                io::stderr().write_all(line)?;
            }
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
