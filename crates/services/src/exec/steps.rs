//! Commands known to be harmless, as lists of arguments: no shell has a part in it. In the sandbox
//! they can change nothing and reach nobody.

use std::{
    fs::File,
    io,
    os::fd::{AsFd as _, OwnedFd},
    time::Duration,
};

use sandbox::{Exit, Output, Process, Stdio};
use tokio::time::Instant;
use tool::{
    Action, After, Argv, Capabilities as _, Ended, FilePath, Inlet, Outlet, Place, Ran, Run, Start,
    Step, Stream, ToolError,
};

use super::{
    Ground, Runner,
    argv::Argument,
    blocking,
    foreground::{Stopped, ended},
    git,
    heard::Heard,
    host,
    job::{Asked, shell},
    pin,
    problem::not_started,
    pump::Pump,
    watch::{Event, Watch},
    workdir::workdir,
};

/// More than a repository has to say about itself.
const MOST_SAID: usize = 1 << 20;

/// Runs the steps of a line, in order, each with all of its programs at once.
pub(super) async fn run(
    runner: &Runner,
    start: Start<'_>,
    ground: Ground,
) -> Result<Ran, ToolError> {
    if start.pinned.is_some() {
        let (world, settings) = (runner.world.clone(), runner.settings.load_full());
        let asked = Asked::from(start);
        blocking(move || pin::check(&world, &settings, &asked)).await?;
    }
    let mut line = Line::new(runner, start, ground);
    for step in &start.run.steps {
        if line.comes_to(step) {
            line.take(step).await?;
        }
    }
    Ok(line.end())
}

/// A line on its way.
struct Line<'a> {
    runner: &'a Runner,
    start: Start<'a>,
    ground: Ground,
    /// The folder the next step runs in.
    cwd: FilePath,
    began: Instant,
    heard: Heard,
    /// How the step before ended, as a shell has it.
    status: i32,
    /// How the program of that step ended whose end counts, if it was one.
    last: Option<Ended>,
    cpu: Duration,
    max_rss_bytes: u64,
}

/// What a program of a pipeline reads and writes, unless it says otherwise.
struct Usual<'a> {
    input: Option<OwnedFd>,
    output: OwnedFd,
    errors: &'a OwnedFd,
}

impl<'a> Line<'a> {
    fn new(runner: &'a Runner, start: Start<'a>, ground: Ground) -> Self {
        Self {
            runner,
            start,
            ground,
            cwd: start.run.cwd.clone(),
            began: Instant::now(),
            heard: Heard::new(runner.settings.load().output_bytes),
            status: 0,
            last: None,
            cpu: Duration::ZERO,
            max_rss_bytes: 0,
        }
    }

    /// Whether the next thing that happens is this step.
    fn comes_to(&self, step: &Step) -> bool {
        self.goes_on()
            && match step.after {
                After::Anything => true,
                After::Success => self.status == 0,
                After::Failure => self.status != 0,
            }
    }

    /// Whether nobody ended it.
    fn goes_on(&self) -> bool {
        self.last.as_ref().is_none_or(|last| last.killed_for.is_none())
    }

    async fn take(&mut self, step: &Step) -> Result<(), ToolError> {
        match &step.action {
            Action::Enter(folder) => self.enter(folder).await,
            Action::Run(pipeline) => self.pipeline(pipeline).await,
        }
    }

    async fn enter(&mut self, folder: &str) -> Result<(), ToolError> {
        let inner = self.cwd.join(folder);
        let run = Run { cwd: inner.clone(), ..Run::new("") };
        let (world, caller) = (self.runner.world.clone(), self.start.caller.clone());
        let entered = blocking(move || workdir(&world, &caller, &run)).await;
        self.last = None;
        self.status = i32::from(entered.is_err());
        match entered {
            Ok(_) => self.cwd = inner,
            Err(error) => self.complain(&format!("cd: {folder}"), &error, Outlet::Own),
        }
        Ok(())
    }

    /// Starts every program, connected to the next, and reads until all of them have ended.
    async fn pipeline(&mut self, pipeline: &[Argv]) -> Result<(), ToolError> {
        let (output, from_output) = Output::pipe().map_err(ToolError::internal)?;
        let (errors, from_errors) = Output::pipe().map_err(ToolError::internal)?;
        let (mut processes, mut input, mut last_runs) = (Vec::new(), None, false);
        for (index, argv) in pipeline.iter().enumerate() {
            let is_last = index + 1 == pipeline.len();
            let (next, own) = if is_last { (None, copy(&output)?) } else { connected()? };
            let before = std::mem::replace(&mut input, next);
            let usual = Usual { input: before, output: own, errors: &errors };
            let started = self.begin(argv, usual).await?;
            last_runs = started.is_some();
            processes.extend(started);
        }
        // What is left of the ends are the programs' own, so what they write ends with them.
        drop((output, errors, input));
        let pump = Pump::new(Some(from_output), Some(from_errors));
        let mut watch = Watch::over(processes, pump, self.began + self.start.how.timeout);
        self.heard.listen(&mut watch, self.start).await;
        let (exits, stopped) = watch.ends().await;
        let exits = exits.map_err(|_| ToolError::failed("the command could not be ended"))?;
        let exits = exits.map_err(not_started)?;
        self.start.live.check()?;
        self.note(&exits, stopped);
        if !last_runs && self.goes_on() {
            (self.last, self.status) = (None, 1);
        }
        Ok(())
    }

    /// Starts one program; `None` if what it is to read cannot be opened.
    async fn begin(&mut self, argv: &Argv, usual: Usual<'_>) -> Result<Option<Process>, ToolError> {
        let streams = &argv.streams;
        let stdin = match &streams.input {
            Inlet::Own => usual.input,
            Inlet::Null => None,
            Inlet::File(file) => match self.open(file).await {
                Ok(opened) => Some(opened),
                Err(error) => {
                    self.complain(file, &error, streams.errors);
                    return Ok(None);
                }
            },
        };
        let to = |outlet: Outlet, own: &OwnedFd, other: &OwnedFd| match outlet {
            Outlet::Own => copy(own),
            Outlet::Other => copy(other),
            Outlet::Null => null(),
        };
        let stdio = Stdio::Given {
            // A pipe that says nothing would be taken for input that is meant.
            stdin: stdin.map_or_else(null, Ok)?,
            stdout: to(streams.output, &usual.output, usual.errors)?,
            stderr: to(streams.errors, usual.errors, &usual.output)?,
        };
        drop(usual.output);
        let mut argv = argv.clone();
        argv.env.extend(self.disarm(&argv).await?);
        let argument = Argument::new(argv, &self.cwd, self.start);
        argument.begin(self.runner, self.ground, stdio).await.map(Some)
    }

    /// Variables without which the program would run what the workspace names.
    async fn disarm(&self, argv: &Argv) -> Result<Vec<(String, String)>, ToolError> {
        let Some(question) = git::question(argv) else { return Ok(Vec::new()) };
        let settings = self.ask(question).await?;
        if matches!(self.ground, Ground::Host)
            && let Some(question) = git::folders_question(argv)
        {
            // In the sandbox nothing is seen of what lies elsewhere.
            let folders = self.ask(question).await?;
            let root = self.runner.world.root(self.start.caller)?;
            git::refuse_elsewhere(&settings, &folders, &root)?;
        }
        git::answer(&settings)
    }

    /// What a program prints that is asked before the line's own programs run.
    async fn ask(&self, question: Argv) -> Result<Vec<u8>, ToolError> {
        let (output, from_output) = Output::pipe().map_err(ToolError::internal)?;
        let stdio = Stdio::Given { stdin: null()?, stdout: output, stderr: null()? };
        let argument = Argument::new(question, &self.cwd, self.start);
        let process = argument.begin(self.runner, self.ground, stdio).await?;
        let deadline = self.began + self.start.how.timeout;
        let mut watch = Watch::over(vec![process], Pump::new(Some(from_output), None), deadline);
        let mut said = Vec::new();
        loop {
            match watch.next(self.start.live.cancellation().cancelled()).await {
                Event::Wrote(_, bytes) if said.len() < MOST_SAID => said.extend_from_slice(bytes),
                Event::Wrote(..) | Event::Ending => {}
                Event::Ended => break,
            }
        }
        self.start.live.check()?;
        Ok(said)
    }

    async fn open(&self, file: &str) -> Result<OwnedFd, ToolError> {
        let (world, caller) = (self.runner.world.clone(), self.start.caller.clone());
        let path = self.cwd.join(file);
        let open = move || {
            // By where it is, so that it is nothing but a file.
            let path = world.root(&caller)?.join(path.as_str());
            let path = FilePath::new(&path.display().to_string());
            Ok(world.disk(&caller)?.open(&path)?.file.into())
        };
        blocking(open).await
    }

    /// Says what a shell would say.
    fn complain(&mut self, about: &str, error: &ToolError, outlet: Outlet) {
        let is_missing = matches!(error, ToolError::FileNotFound { .. });
        let why =
            if is_missing { "No such file or directory".to_owned() } else { error.to_string() };
        let text = format!("{}: line 1: {about}: {why}\n", shell());
        let stream = match outlet {
            Outlet::Own => Stream::Stderr,
            Outlet::Other => Stream::Stdout,
            Outlet::Null => return,
        };
        self.heard.add(stream, text.as_bytes(), self.start);
    }

    /// Takes down how the programs of a pipeline ended. The last one counts.
    fn note(&mut self, exits: &[Exit], stopped: Stopped) {
        self.cpu += exits.iter().map(|exit| exit.cpu).sum::<Duration>();
        let rss = exits.iter().map(|exit| exit.max_rss_bytes).max();
        self.max_rss_bytes = self.max_rss_bytes.max(rss.unwrap_or(0));
        let all: Vec<_> = exits.iter().map(|exit| ended(exit, stopped)).collect();
        let killed_for = all.iter().find_map(|ended| ended.killed_for.clone());
        self.last = all.into_iter().next_back().map(|last| Ended { killed_for, ..last });
        self.status = self.last.as_ref().map_or(1, status);
    }

    fn end(self) -> Ran {
        let Self { runner, start, ground, began, heard, status, last, cpu, max_rss_bytes, .. } =
            self;
        let as_a_shell = Ended {
            exit_code: Some(status),
            signal: None,
            timed_out: false,
            killed_for: None,
            took: began.elapsed(),
            cpu,
            max_rss_bytes,
        };
        // A shell replaces itself by the only program of a line; its end is that of the line then.
        let alone = start.run.steps.iter().flat_map(Step::programs).count() == 1;
        let ended = match last {
            Some(last) if alone || last.killed_for.is_some() => Ended {
                exit_code: last.exit_code,
                signal: last.signal,
                timed_out: last.timed_out,
                killed_for: last.killed_for,
                ..as_a_shell
            },
            Some(_) | None => as_a_shell,
        };
        let (place, notes) = match ground {
            Ground::Sandbox => {
                let isolation = runner.isolation().and_then(|isolation| isolation.note());
                (Place::Sandbox, isolation.into_iter().collect())
            }
            Ground::Host => (Place::Host, vec![host::NOTE.to_owned()]),
        };
        Ran { ended, output: heard.done(), place, changed: Vec::new(), notes }
    }
}

/// What a shell makes of how a program ended.
fn status(ended: &Ended) -> i32 {
    ended.exit_code.or_else(|| ended.signal.map(|signal| 128 + signal)).unwrap_or(1)
}

/// Two ends of a pipe: what the next program reads, and what this one writes.
fn connected() -> Result<(Option<OwnedFd>, OwnedFd), ToolError> {
    let (from, to) = io::pipe().map_err(ToolError::internal)?;
    Ok((Some(from.into()), to.into()))
}

fn copy(fd: &OwnedFd) -> Result<OwnedFd, ToolError> {
    fd.as_fd().try_clone_to_owned().map_err(ToolError::internal)
}

fn null() -> Result<OwnedFd, ToolError> {
    let null = File::options().read(true).write(true).open("/dev/null");
    null.map(Into::into).map_err(ToolError::internal)
}
