//! The terminal of the person, whatever standard input is.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    termios::{QueueSelector, tcflush, tcgetwinsize},
};
use tokio_util::sync::CancellationToken;

/// How often it is looked whether the answer is still wanted.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// `/dev/tty`, for as long as somebody waits for what is typed there.
#[derive(Debug)]
pub(crate) struct Tty {
    file: File,
    stop: CancellationToken,
}

impl Tty {
    /// Opens it. What was typed before was no answer to what is asked now.
    pub(crate) fn open(stop: CancellationToken) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        tcflush(&file, QueueSelector::IFlush)?;
        Ok(Self { file, stop })
    }

    /// What the person typed, without spaces around it; `None` if the terminal was closed.
    pub(crate) fn answer(&self) -> io::Result<Option<String>> {
        self.wait()?;
        let mut line = String::new();
        let read = BufReader::new(&self.file).read_line(&mut line)?;
        Ok((read > 0).then(|| line.trim().to_owned()))
    }

    /// Waits until something was typed, or nobody waits for it any more.
    fn wait(&self) -> io::Result<()> {
        loop {
            if self.stop.is_cancelled() {
                return Err(io::Error::other("nobody waits for the answer any more"));
            }
            let mut look = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut look, Some(&LOOK_EVERY)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// A screenful at a time.
    pub(crate) fn page(&mut self, text: &str) -> io::Result<()> {
        let rows = tcgetwinsize(&self.file).map_or(24, |size| usize::from(size.ws_row.max(5)));
        let lines: Vec<_> = text.lines().collect();
        let mut pages = lines.chunks(rows - 2).peekable();
        while let Some(lines) = pages.next() {
            for line in lines {
                writeln!(self, "{line}")?;
            }
            if pages.peek().is_some() {
                write!(self, "[Enter] more  [q] enough: ")?;
                self.flush()?;
                if self.answer()?.is_none_or(|answer| answer.to_lowercase().starts_with('q')) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

impl Write for Tty {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
