//! A server process that ends with its owner.

use std::{
    ffi::OsStr,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Stdio,
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use nix::{
    sys::signal::{Signal, kill},
    time::clock_getcpuclockid,
    unistd::Pid,
};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

/// How long a server may take to start.
const START: Duration = Duration::from_secs(30);
/// How long a server may take to end by itself, in steps.
const END: (u32, Duration) = (100, Duration::from_millis(50));

/// A running server. It is ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Owned {
    child: Child,
    pid: Pid,
    lines: Lines<BufReader<ChildStdout>>,
    log: PathBuf,
}

impl Owned {
    /// Starts `program` in `folder`; what it logs goes to a file there.
    pub(crate) fn start<A: AsRef<OsStr>>(
        program: &Path,
        args: &[A],
        folder: &Path,
    ) -> Result<Self> {
        let log = folder.join("log");
        #[expect(clippy::disallowed_methods, reason = "a server to measure, not a command")]
        let mut command = Command::new(program);
        // In a group of its own: Ctrl-C is for us, and we end it.
        command.args(args).current_dir(folder).process_group(0).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(File::create(&log)?);
        let mut child =
            command.spawn().with_context(|| format!("cannot start `{}`", program.display()))?;
        let pid = child.id().context("the server has no process id")?;
        let pid = Pid::from_raw(pid.try_into()?);
        let stdout = child.stdout.take().context("the server has no output")?;
        Ok(Self { child, pid, lines: BufReader::new(stdout).lines(), log })
    }

    /// What follows `before` in the first line that has it, up to the next space.
    pub(crate) async fn said(&mut self, before: &str) -> Result<String> {
        let search = async {
            while let Some(line) = self.lines.next_line().await? {
                if let Some((_, after)) = line.split_once(before) {
                    return Ok(after.split_whitespace().next().unwrap_or_default().to_owned());
                }
            }
            bail!("the server ended")
        };
        let found = timeout(START, search).await.context("the server says nothing");
        found.flatten().with_context(|| {
            let log = fs::read_to_string(&self.log).unwrap_or_default();
            format!("a server that says `{before}` was expected; it logged: {log}")
        })
    }

    /// The CPU time the process has used: all its threads, also those that have ended.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        Ok(clock_getcpuclockid(self.pid)?.now()?.into())
    }
}

impl Drop for Owned {
    /// Asks it to end, and if it does not, `kill_on_drop` makes it. The id cannot be another's: only we take
    /// note of its end, which frees the id.
    fn drop(&mut self) {
        if kill(self.pid, Signal::SIGTERM).is_err() {
            return;
        }
        let (steps, step) = END;
        for _ in 0..steps {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(step),
                Ok(Some(_)) | Err(_) => return,
            }
        }
    }
}
