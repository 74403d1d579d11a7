//! The server's log: lines are gathered for a moment and written together by a thread of its own, so that
//! nobody else waits for whoever reads them.

mod line;

use std::{
    io::{self, Write},
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError},
    thread,
    time::Duration,
};

use serde_json::json;

pub(crate) use self::line::Line;
use crate::output::LogForm;

/// So long lines are gathered.
const MOMENT: Duration = Duration::from_millis(20);
/// So much is gathered at most; more is lost.
const MOST_BYTES: usize = 1024 * 1024;
/// So much room is kept for what is gathered next.
const KEPT_BYTES: usize = 256 * 1024;
/// So long the end waits for whoever reads.
const LAST_MOMENT: Duration = Duration::from_secs(1);

static LINES: OnceLock<Arc<Lines>> = OnceLock::new();

/// Lines that are not written yet.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    gathered: Mutex<Gathered>,
    /// There is something to write, or the end has come.
    some: Condvar,
    /// All of it was written.
    none: Condvar,
}

#[derive(Debug, Default)]
struct Gathered {
    bytes: Vec<u8>,
    /// How many lines came after these and found no room.
    lost: u64,
    /// Whether those before are being written.
    is_writing: bool,
    /// Whether to write at once what comes.
    is_ending: bool,
}

/// Begins to write lines to standard error.
pub(crate) fn begin(form: LogForm) -> io::Result<Arc<Lines>> {
    let lines = LINES.get_or_init(Arc::default).clone();
    lines.clone().write_to(io::stderr(), form)?;
    Ok(lines)
}

/// Writes what was said and is not written yet, unless whoever reads it takes too long.
pub(crate) fn end() {
    if let Some(lines) = LINES.get() {
        lines.end(LAST_MOMENT);
    }
}

impl Lines {
    /// Writes what comes, on a thread of its own, which may wait for whoever reads.
    fn write_to(
        self: Arc<Self>,
        mut to: impl Write + Send + 'static,
        form: LogForm,
    ) -> io::Result<()> {
        let mut lines = Vec::new();
        let write = move || loop {
            self.take(&mut lines, form);
            // A reader that went away is not an error.
            let _ = to.write_all(&lines);
            self.lock().is_writing = false;
            self.none.notify_all();
            lines.clear();
            lines.shrink_to(KEPT_BYTES);
        };
        thread::Builder::new().name("log".to_owned()).spawn(write).map(drop)
    }

    /// Waits for something to write, and for a moment for more. What is gathered next is gathered in what `lines` was.
    fn take(&self, lines: &mut Vec<u8>, form: LogForm) {
        let some = self.some.wait_while(self.lock(), |gathered| gathered.is_empty());
        let some = some.unwrap_or_else(PoisonError::into_inner);
        let more = self.some.wait_timeout_while(some, MOMENT, |gathered| !gathered.is_ending);
        let (mut gathered, _) = more.unwrap_or_else(PoisonError::into_inner);
        gathered.is_writing = true;
        mem::swap(lines, &mut gathered.bytes);
        let lost = mem::take(&mut gathered.lost);
        if lost > 0 {
            lines.extend_from_slice(lost_line(lost, form).as_bytes());
        }
    }

    /// Waits until all is written, but not longer than `most`.
    fn end(&self, most: Duration) {
        let mut gathered = self.lock();
        gathered.is_ending = true;
        self.some.notify_all();
        let unwritten = |gathered: &mut Gathered| gathered.is_writing || !gathered.is_empty();
        drop(self.none.wait_timeout_while(gathered, most, unwritten));
    }

    fn lock(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gathered {
    const fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.lost == 0
    }
}

fn lost_line(lost: u64, form: LogForm) -> String {
    let message = format!("{lost} lines of the log were lost");
    match form {
        LogForm::Text => format!("{message}\n"),
        LogForm::Json => format!("{}\n", json!({"level": "WARN", "message": message})),
    }
}

impl Write for &Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut gathered = self.lock();
        let first = gathered.is_empty();
        // Those after one that was lost are, too, so that it is known where they are missing.
        if gathered.lost > 0 || gathered.bytes.len() + line.len() > MOST_BYTES {
            gathered.lost += 1;
        } else {
            gathered.bytes.extend_from_slice(line);
        }
        drop(gathered);
        if first {
            self.some.notify_one();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// A reader who takes nothing until `go` is dropped.
    struct Stalled {
        go: mpsc::Receiver<()>,
        read: mpsc::Sender<Vec<u8>>,
    }

    impl Write for Stalled {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.go.recv();
            let _ = self.read.send(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn nobody_waits_for_a_reader_who_stalls_and_what_is_lost_is_counted() {
        const SAID: usize = 5_000;
        let (go, stalls) = mpsc::channel();
        let (read, heard) = mpsc::channel();
        let lines = Arc::<Lines>::default();
        lines.clone().write_to(Stalled { go: stalls, read }, LogForm::Text).unwrap();
        let line = format!("{}\n", "x".repeat(1_000));
        for _ in 0..SAID {
            (&*lines).write_all(line.as_bytes()).unwrap();
        }
        lines.end(Duration::from_millis(50));
        assert!(heard.try_recv().is_err(), "the end does not wait for them either");
        drop(go);
        lines.end(Duration::from_mins(1));
        let heard = String::from_utf8(heard.try_iter().flatten().collect()).unwrap();
        let (mut kept, mut lost) = (0, 0);
        for line in heard.lines() {
            match line.strip_suffix(" lines of the log were lost") {
                Some(count) => lost += count.parse::<usize>().unwrap(),
                None => kept += 1,
            }
        }
        assert_eq!(kept + lost, SAID);
        assert!(lost > 2_000, "{lost}");
    }

    #[test]
    fn in_json_it_is_said_in_json_that_lines_were_lost() {
        let line: serde_json::Value = lost_line(3, LogForm::Json).parse().unwrap();
        assert_eq!(line["message"], "3 lines of the log were lost");
    }
}
