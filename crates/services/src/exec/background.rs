//! Commands that go on after their call.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use sandbox::Input;
use tokio::{
    io::AsyncWriteExt,
    sync::{Notify, mpsc, oneshot},
    task::JoinHandle,
    time::Instant,
};
use tool::{
    BoxFuture, Ended, OutputPart, Place, Process, ProcessStatus, Start, Terminal, ToolError,
};
use world::{Fence, Proxy};

use super::{
    Runner,
    direct::{DirectReady, prepare, trespasses},
    egress,
    foreground::ended,
    problem::not_started,
    temp_bound::SessionTemp,
    watch::{Event, Watch},
};

/// What is kept of the output of one process, the newest.
const KEPT: usize = 1 << 20;
/// How many pieces of input may wait to be read.
const PENDING: usize = 16;

/// Starts a command in the sandbox that writes to the workspace itself.
pub(super) async fn start(
    runner: &Runner,
    start: Start<'_>,
) -> Result<Arc<dyn Process>, ToolError> {
    runner.processes.refuse_too_many(start.caller)?;
    let DirectReady { job, fence, copies: _copies } = prepare(runner, start).await?;
    let mut process = runner.sandbox.start(job).await.map_err(not_started)?;
    let proxy = egress::open(&runner.world, start.run, &mut process)?;
    let isolation = runner.isolation().and_then(|isolation| isolation.note());
    let temp = Some(runner.session_temp(start.caller));
    let around = Around { _way_out: proxy, fence: Some(fence), isolation, temp };
    Ok(keep(runner, start, Running { process, place: Place::Sandbox, around }))
}

/// A command that runs, and where.
pub(super) struct Running {
    pub(super) process: sandbox::Process,
    pub(super) place: Place,
    pub(super) around: Around,
}

/// Keeps a command among the processes of its agent.
pub(super) fn keep(runner: &Runner, start: Start<'_>, running: Running) -> Arc<dyn Process> {
    let Running { mut process, place, around } = running;
    let (to, from) = mpsc::channel(PENDING);
    let background = Arc::new(Background {
        id: uuid::Uuid::new_v4().simple().to_string().chars().take(8).collect(),
        command: start.run.command.clone(),
        cwd: start.run.cwd.to_string(),
        place,
        terminal: start.how.terminal,
        pid: process.id(),
        began: Instant::now(),
        input: to,
        stop: Notify::new(),
        news: Notify::new(),
        state: Mutex::default(),
    });
    let feeding = tokio::spawn(feed(process.take_stdin(), from));
    let watch = Watch::new(process, start.how.timeout);
    tokio::spawn(background.clone().watch(watch, around, feeding));
    runner.processes.add(start.caller, background.clone());
    background
}

/// What a process is to read.
enum Typed {
    /// This; then somebody is told whether it was taken.
    Bytes(Vec<u8>, oneshot::Sender<bool>),
    /// Nothing more.
    End,
}

/// Writes to a process in the order things were sent, so that one who waits holds up no other call.
async fn feed(input: Option<Input>, mut from: mpsc::Receiver<Typed>) {
    let Some(mut input) = input else { return };
    while let Some(Typed::Bytes(bytes, told)) = from.recv().await {
        let written = async {
            input.write_all(&bytes).await?;
            input.flush().await
        };
        let taken = written.await.is_ok();
        // Whoever sent it may have stopped waiting.
        let _ = told.send(taken);
        if !taken {
            return;
        }
    }
}

/// What the sandbox needs as long as a process runs, and at its end.
#[derive(Default)]
pub(super) struct Around {
    _way_out: Option<Proxy>,
    fence: Option<Fence>,
    /// What is unusual about how it is isolated.
    isolation: Option<String>,
    temp: Option<SessionTemp>,
}

impl Around {
    /// What has to be said about what the process left.
    async fn settle(self, ended: &Ended) -> Vec<String> {
        let emptied = match self.temp {
            Some(temp) => temp.settle(ended).await,
            None => None,
        };
        let Some(fence) = self.fence else { return emptied.into_iter().collect() };
        let mut notes = trespasses(fence).await;
        notes.extend(self.isolation);
        notes.extend(emptied);
        notes
    }
}

/// A command in the background.
pub(super) struct Background {
    id: String,
    command: String,
    cwd: String,
    place: Place,
    terminal: Terminal,
    pid: u32,
    began: Instant,
    input: mpsc::Sender<Typed>,
    stop: Notify,
    news: Notify,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    output: VecDeque<u8>,
    written: u64,
    ended: Option<(Ended, Instant)>,
    notes: Vec<String>,
}

impl Background {
    async fn watch(self: Arc<Self>, mut watch: Watch, around: Around, feeding: JoinHandle<()>) {
        loop {
            match watch.next(self.stop.notified()).await {
                Event::Wrote(_, bytes) => self.keep(bytes),
                Event::Ending => {}
                Event::Ended => break,
            }
        }
        let (exit, stopped) = watch.end().await;
        let ended = match exit {
            Ok(Ok(exit)) => ended(&exit, stopped),
            Ok(Err(_)) | Err(_) => Ended {
                exit_code: None,
                signal: None,
                timed_out: false,
                killed_for: Some("lost".to_owned()),
                took: self.began.elapsed(),
                cpu: Duration::ZERO,
                max_rss_bytes: 0,
            },
        };
        let notes = around.settle(&ended).await;
        feeding.abort();
        let mut state = self.state();
        state.notes = notes;
        state.ended = Some((ended, Instant::now()));
        drop(state);
        self.news.notify_waiters();
    }

    fn keep(&self, bytes: &[u8]) {
        let mut state = self.state();
        state.written += bytes.len() as u64;
        state.output.extend(bytes);
        let excess = state.output.len().saturating_sub(KEPT);
        state.output.drain(..excess);
        drop(state);
        self.news.notify_waiters();
    }

    /// When it ended, if it did.
    pub(super) fn ended_at(&self) -> Option<Instant> {
        self.state().ended.as_ref().map(|(_, at)| *at)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Process for Background {
    fn id(&self) -> &str {
        &self.id
    }

    fn status(&self) -> ProcessStatus {
        let state = self.state();
        let ended = state.ended.as_ref();
        ProcessStatus {
            command: self.command.clone(),
            cwd: self.cwd.clone(),
            place: self.place,
            pid: self.pid,
            age: ended.map_or_else(|| self.began.elapsed(), |(ended, _)| ended.took),
            ended: ended.map(|(ended, _)| ended.clone()),
            written: state.written,
            terminal: self.terminal,
            notes: state.notes.clone(),
        }
    }

    fn output(&self, from: u64, max: usize) -> OutputPart {
        let state = self.state();
        let first = state.written - state.output.len() as u64;
        let from = from.clamp(first, state.written);
        let skipped = usize::try_from(from - first).unwrap_or(usize::MAX);
        let bytes = state.output.iter().skip(skipped).take(max).copied().collect();
        OutputPart { from, bytes, written: state.written }
    }

    fn write<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move {
            let gone = || ToolError::failed("the process takes no more input");
            let (told, taken) = oneshot::channel();
            let typed = Typed::Bytes(bytes.to_vec(), told);
            self.input.send(typed).await.map_err(|_| gone())?;
            if taken.await.unwrap_or(false) { Ok(()) } else { Err(gone()) }
        })
    }

    fn close_input(&self) -> Result<(), ToolError> {
        match self.input.try_send(Typed::End) {
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => Ok(()),
            Err(mpsc::error::TrySendError::Full(_)) => {
                Err(ToolError::failed("the process has not read what it was sent; try again"))
            }
        }
    }

    fn kill(&self) -> Result<(), ToolError> {
        self.stop.notify_one();
        Ok(())
    }

    fn changed(&self, seen: u64) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            loop {
                let mut news = std::pin::pin!(self.news.notified());
                news.as_mut().enable();
                {
                    let state = self.state();
                    if state.written > seen || state.ended.is_some() {
                        return;
                    }
                }
                news.await;
            }
        })
    }
}

impl fmt::Debug for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} `{}`", self.id, self.command)
    }
}
