//! The server's log: lines are gathered for a moment and written together by a thread of its own, so that no
//! request waits for whoever reads them.

use std::{
    io::{self, Write},
    sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError},
    thread,
    time::Duration,
};

/// So long lines are gathered.
const MOMENT: Duration = Duration::from_millis(20);
/// So much is gathered at most; more is written by whoever says it.
const MOST_BYTES: usize = 1024 * 1024;

static LINES: OnceLock<Arc<Lines>> = OnceLock::new();

/// Lines that are not written yet.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    gathered: Mutex<Vec<u8>>,
    some: Condvar,
    /// Held by whoever writes, so that lines stay in their order.
    writing: Mutex<()>,
}

/// Begins to write lines to standard error.
pub(crate) fn begin() -> io::Result<Arc<Lines>> {
    let lines = LINES.get_or_init(Arc::default).clone();
    let written = lines.clone();
    thread::Builder::new().name("log".to_owned()).spawn(move || {
        loop {
            written.wait();
            thread::sleep(MOMENT);
            written.write_all_of_them();
        }
    })?;
    Ok(lines)
}

/// Writes what was said and is not written yet.
pub(crate) fn end() {
    if let Some(lines) = LINES.get() {
        lines.write_all_of_them();
    }
}

impl Lines {
    /// Returns when there is something to write.
    fn wait(&self) {
        let none = |gathered: &mut Vec<u8>| gathered.is_empty();
        let gathered = self.some.wait_while(self.gathered(), none);
        drop(gathered.unwrap_or_else(PoisonError::into_inner));
    }

    fn write_all_of_them(&self) {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let gathered = std::mem::take(&mut *self.gathered());
        // A reader that went away is not an error.
        let _ = io::stderr().write_all(&gathered);
    }

    fn gathered(&self) -> MutexGuard<'_, Vec<u8>> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for &Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut gathered = self.gathered();
        let first = gathered.is_empty();
        gathered.extend_from_slice(line);
        let many = gathered.len() > MOST_BYTES;
        drop(gathered);
        if many {
            self.write_all_of_them();
        } else if first {
            self.some.notify_one();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
