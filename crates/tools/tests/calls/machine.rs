//! A machine that runs nothing: it does what a test says, and remembers what it was asked.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::sync::Notify;
use tool::{
    BoxFuture, Caller, Captured, Ended, Exec, How, Named, OutputPart, Pinned, Place, Process,
    ProcessStatus, Ran, Run, Start, Stream, Terminal, ToolError,
};

/// The machine.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    /// What comes of the next command.
    ran: Mutex<Option<Ran>>,
    /// The next command that is started becomes this.
    next: Mutex<Option<Arc<Fake>>>,
    processes: Mutex<Vec<Arc<Fake>>>,
    asked: Mutex<Vec<(Run, How)>>,
}

impl Machine {
    /// One whose next command comes to this.
    pub(crate) fn that_ran(ran: Ran) -> Arc<Self> {
        Arc::new(Self { ran: Mutex::new(Some(ran)), ..Self::default() })
    }

    /// One that starts this.
    pub(crate) fn that_starts(process: &Arc<Fake>) -> Arc<Self> {
        Arc::new(Self { next: Mutex::new(Some(process.clone())), ..Self::default() })
    }

    /// One where these processes are known.
    pub(crate) fn with(processes: &[&Arc<Fake>]) -> Arc<Self> {
        let processes = processes.iter().map(|&process| process.clone()).collect();
        Arc::new(Self { processes: Mutex::new(processes), ..Self::default() })
    }

    /// What it was asked to run, and how.
    pub(crate) fn asked(&self) -> Vec<(Run, How)> {
        self.asked.lock().unwrap().clone()
    }

    /// The processes it knows.
    pub(crate) fn ids(&self) -> String {
        let processes = self.processes.lock().unwrap();
        processes.iter().map(|process| process.id()).collect::<Vec<_>>().join(" ")
    }

    fn ask(&self, start: &Start<'_>) {
        self.asked.lock().unwrap().push((start.run.clone(), start.how));
    }
}

impl Exec for Machine {
    fn run<'a>(&'a self, start: Start<'a>) -> BoxFuture<'a, Result<Ran, ToolError>> {
        self.ask(&start);
        Box::pin(async { Ok(self.ran.lock().unwrap().take().unwrap()) })
    }

    fn interact<'a>(&'a self, _: Start<'a>) -> BoxFuture<'a, Result<Ran, ToolError>> {
        Box::pin(async { Err(ToolError::internal("nobody sits here")) })
    }

    fn pin<'a>(
        &'a self,
        _: &'a Caller,
        _: &'a Run,
        _: &'a [Named],
    ) -> BoxFuture<'a, Result<Pinned, ToolError>> {
        Box::pin(async { Err(ToolError::internal("nobody is asked here")) })
    }

    fn start<'a>(&'a self, start: Start<'a>) -> BoxFuture<'a, Result<Arc<dyn Process>, ToolError>> {
        self.ask(&start);
        Box::pin(async { Ok(self.next.lock().unwrap().take().unwrap() as Arc<dyn Process>) })
    }

    fn processes(&self, _: &Caller) -> Vec<Arc<dyn Process>> {
        let processes = self.processes.lock().unwrap();
        processes.iter().map(|process| process.clone() as Arc<dyn Process>).collect()
    }

    fn forget(&self, _: &Caller, id: &str) -> bool {
        let mut processes = self.processes.lock().unwrap();
        let before = processes.len();
        processes.retain(|process| process.id() != id || process.status().ended.is_none());
        processes.len() < before
    }
}

/// A command that ended like this.
pub(crate) fn ended(exit_code: i32) -> Ended {
    Ended {
        exit_code: Some(exit_code),
        signal: None,
        timed_out: false,
        killed_for: None,
        took: Duration::from_millis(1_500),
        cpu: Duration::from_millis(700),
        max_rss_bytes: 4_096,
    }
}

/// A command that wrote this and ended well.
pub(crate) fn ran(output: &[u8]) -> Ran {
    Ran {
        ended: ended(0),
        output: Captured { head: vec![(Stream::Stdout, output.to_vec())], ..Captured::default() },
        place: Place::Sandbox,
        changed: Vec::new(),
        notes: Vec::new(),
    }
}

/// A process that does what a test says.
#[derive(Debug)]
pub(crate) struct Fake {
    id: &'static str,
    state: Mutex<State>,
    news: Notify,
}

#[derive(Debug)]
struct State {
    status: ProcessStatus,
    output: Vec<u8>,
    /// What was before this is no longer kept.
    kept_from: usize,
    input: Vec<u8>,
    input_ended: bool,
}

impl Fake {
    /// One that runs, without a terminal.
    pub(crate) fn running(id: &'static str, output: &[u8]) -> Arc<Self> {
        let status = ProcessStatus {
            command: "npm start".into(),
            cwd: "web".into(),
            place: Place::Sandbox,
            pid: 42,
            age: Duration::from_secs(3),
            ended: None,
            written: output.len() as u64,
            terminal: Terminal::No,
            notes: Vec::new(),
        };
        let state = State {
            status,
            output: output.to_vec(),
            kept_from: 0,
            input: Vec::new(),
            input_ended: false,
        };
        Arc::new(Self { id, state: Mutex::new(state), news: Notify::new() })
    }

    /// One that has ended.
    pub(crate) fn exited(id: &'static str, output: &[u8], code: i32) -> Arc<Self> {
        let process = Self::running(id, output);
        process.exit(ended(code));
        process
    }

    pub(crate) fn with_terminal(self: Arc<Self>) -> Arc<Self> {
        self.state.lock().unwrap().status.terminal = Terminal::Yes;
        self
    }

    pub(crate) fn with_command(self: Arc<Self>, command: &str) -> Arc<Self> {
        self.state.lock().unwrap().status.command = command.into();
        self
    }

    /// What was before this is no longer kept.
    pub(crate) fn kept_from(self: Arc<Self>, from: usize) -> Arc<Self> {
        self.state.lock().unwrap().kept_from = from;
        self
    }

    pub(crate) fn say(&self, output: &[u8]) {
        let mut state = self.state.lock().unwrap();
        state.output.extend(output);
        state.status.written = state.output.len() as u64;
        drop(state);
        self.news.notify_waiters();
    }

    pub(crate) fn exit(&self, ended: Ended) {
        self.state.lock().unwrap().status.ended = Some(ended);
        self.news.notify_waiters();
    }

    /// What it was sent, and whether that was all.
    pub(crate) fn input(&self) -> (String, bool) {
        let state = self.state.lock().unwrap();
        (String::from_utf8_lossy(&state.input).into_owned(), state.input_ended)
    }
}

impl Process for Fake {
    fn id(&self) -> &str {
        self.id
    }

    fn status(&self) -> ProcessStatus {
        self.state.lock().unwrap().status.clone()
    }

    fn output(&self, from: u64, max: usize) -> OutputPart {
        let state = self.state.lock().unwrap();
        let from = usize::try_from(from).unwrap().clamp(state.kept_from, state.output.len());
        let end = state.output.len().min(from + max);
        let bytes = state.output.get(from..end).unwrap().to_vec();
        OutputPart { from: from as u64, bytes, written: state.status.written }
    }

    fn write<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, Result<(), ToolError>> {
        self.state.lock().unwrap().input.extend(bytes);
        Box::pin(async { Ok(()) })
    }

    fn close_input(&self) -> Result<(), ToolError> {
        self.state.lock().unwrap().input_ended = true;
        Ok(())
    }

    fn kill(&self) -> Result<(), ToolError> {
        self.exit(Ended { exit_code: None, signal: Some(9), ..ended(0) });
        Ok(())
    }

    fn changed(&self, seen: u64) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            loop {
                let news = self.news.notified();
                let status = self.status();
                if status.ended.is_some() || status.written > seen {
                    return;
                }
                news.await;
            }
        })
    }
}
