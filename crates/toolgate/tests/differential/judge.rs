//! Runs lines in bash, in a sandbox where everything that can be executed writes down that it was.
//!
//! What is seen: every program that is executed by name or by path, with its words, by bash or by a
//! program that bash started, whatever became of variables, folders and descriptors; wrappers and
//! shells, and what they start in turn; and in bash every name that is no program.
//!
//! What is not seen: builtins and functions, which start nothing; a name that another program than
//! bash did not find, since nothing ran; the loader of programs and the running shell itself, when
//! they are executed by paths such as `/proc/self/exe` (what they start is seen); what a line runs
//! after it has taken its own right to write files; and what lines did that had to be killed. A limit
//! says which line a program belongs to, so no line may change limits; and none may name the file that
//! is written to. The generated lines do none of this.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use sandbox::{
    Changes, Job, Level, Limits, Process, Sandbox, SandboxSettings, Scratch, Source, Workspace,
};
use tempfile::TempDir;

use crate::room::{BREAK, RECORD, Room, UNIT};

/// What bash ran for one line.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) line: usize,
    pub(crate) words: Vec<String>,
}

/// What became of some lines.
pub(crate) struct Verdict {
    pub(crate) ran: Vec<Ran>,
    /// Lines that did not end, or ended everything.
    pub(crate) endless: usize,
}

/// A sandbox and what is in it.
pub(crate) struct Judge {
    sandbox: Sandbox,
    room: Room,
}

impl Judge {
    pub(crate) fn new() -> Self {
        // Nothing of the system is seen but what the room brings.
        let settings = SandboxSettings { system: Vec::new(), ..SandboxSettings::default() };
        Self { sandbox: Sandbox::new(settings), room: Room::new() }
    }

    /// Ends every process of ours, and removes every file.
    pub(crate) fn close(self) {
        runtime().block_on(self.sandbox.shutdown());
    }

    pub(crate) const fn room(&self) -> &Room {
        &self.room
    }

    /// Runs each line in a folder of its own. One that takes longer than `patience` is killed.
    pub(crate) fn run(&self, lines: &[String], patience: Duration) -> Verdict {
        let batch = Batch::new(lines, &self.room);
        let (mut start, mut endless) = (0, Vec::new());
        let runtime = runtime();
        // Some lines never end; the next process goes on behind them.
        while let Some(line) = runtime.block_on(self.stuck(&batch, start, patience)) {
            endless.push(line);
            start = line + 1;
        }
        // What was killed while it wrote has written half of it.
        let mut ran = self.records(&fs::read(batch.path("log")).unwrap());
        ran.retain(|one| !endless.contains(&one.line));
        Verdict { ran, endless: endless.len() }
    }

    /// Runs one line and gives what it left in a file.
    pub(crate) fn left_by(&self, line: &str, name: &str, patience: Duration) -> String {
        let batch = Batch::new(&[line.to_owned()], &self.room);
        assert_eq!(runtime().block_on(self.stuck(&batch, 0, patience)), None);
        fs::read_to_string(batch.path("folders/0").join(name)).unwrap()
    }

    /// Runs the lines from `start` on. Gives the line that does not end, if one does not. Nothing of
    /// them is left afterwards.
    async fn stuck(&self, batch: &Batch, start: usize, patience: Duration) -> Option<usize> {
        let mut process = self.sandbox.start(self.job(batch, start)).await.unwrap();
        // Open until the end, so that the last moment is waited for.
        let _input = process.take_stdin();
        // Before the first line it says where others were.
        let at = || fs::read_to_string(batch.path("at")).ok()?.trim().parse::<usize>().ok();
        let line = || at().unwrap_or(start).max(start);
        let (mut now, mut since) = (line(), Instant::now());
        while !ended(&mut process).await {
            if line() != now {
                (now, since) = (line(), Instant::now());
            }
            if since.elapsed() > patience {
                process.kill().unwrap();
                process.wait().await.unwrap();
                return Some(now);
            }
        }
        // A line may have killed everybody; but who ends in good order has run them all.
        let exit = process.wait().await.unwrap();
        let left = Some(line()).filter(|line| *line < batch.lines);
        assert!(left.is_none() || exit.code != Some(0), "lines from {left:?} on were not run");
        left
    }

    fn job(&self, batch: &Batch, start: usize) -> Job {
        let work = self.room.work();
        let inside = |name: &str| work.join(name).into_os_string();
        let argv: [OsString; 8] = [
            self.room.bash().into(),
            "--norc".into(),
            "--noprofile".into(),
            self.room.driver().into(),
            inside("lines"),
            start.to_string().into(),
            inside("at"),
            inside("folders"),
        ];
        let source = Source::Path(batch.folder.path().canonicalize().unwrap());
        Job {
            cwd: work.clone(),
            env: vec![
                ("PATH".into(), self.room.path().into()),
                ("HOME".into(), work.clone().into()),
                ("LANG".into(), "C.UTF-8".into()),
            ],
            binds: self.room.binds(),
            read_only: vec![work.join("lines")],
            workspace: Some(Workspace { source, target: work, mode: Changes::Direct }),
            temp: Scratch::Memory { max_bytes: 16 << 20 },
            // Where memory is not counted, it says how many processes there may be.
            limits: Limits { memory_bytes: 8 << 30, file_bytes: 64 << 20, ..Limits::default() },
            minimum: Level::Reduced,
            ..Job::new(argv)
        }
    }

    fn records(&self, log: &[u8]) -> Vec<Ran> {
        let text = String::from_utf8_lossy(log);
        let read = |record: &str| {
            let mut words =
                record.strip_suffix(UNIT)?.split(UNIT).map(|word| word.replace(BREAK, "\n"));
            let line: usize = words.next()?.parse().ok()?;
            let mut words: Vec<_> = words.collect();
            let folders = self.room.work().join("folders");
            let program = words.first_mut()?;
            // What was looked up is called by its name; `exec` makes paths absolute.
            if let Ok(name) = Path::new(program).strip_prefix(self.room.path()) {
                *program = name.to_str()?.to_owned();
            } else if let Ok(path) = Path::new(program).strip_prefix(folders) {
                *program = format!("./{}", path.to_str()?);
            }
            Some(Ran { line, words })
        };
        text.split(RECORD).filter_map(read).collect()
    }
}

/// Waits a little.
async fn ended(process: &mut Process) -> bool {
    match tokio::time::timeout(Duration::from_millis(10), process.wait()).await {
        Ok(exit) => exit.map(|_| true).unwrap(),
        Err(_) => false,
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// The files of some lines, gone afterwards.
struct Batch {
    folder: TempDir,
    lines: usize,
}

impl Batch {
    fn new(lines: &[String], room: &Room) -> Self {
        let folder = tempfile::Builder::new().prefix("judged-").tempdir_in("/var/tmp").unwrap();
        let batch = Self { folder, lines: lines.len() };
        fs::write(batch.path("lines"), lines.join("\0") + "\0").unwrap();
        fs::write(batch.path("log"), "").unwrap();
        let folders = batch.path("folders");
        // Programs that are found by a path only.
        fs::create_dir_all(folders.join("sub")).unwrap();
        for name in ["here", "sub/here"] {
            symlink(room.path().join("s0"), folders.join(name)).unwrap();
        }
        for line in 0..lines.len() {
            fs::create_dir(folders.join(line.to_string())).unwrap();
        }
        batch
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
