//! Launchers that wait, and how a call gets one.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc::Sender,
    },
    time::Duration,
};

use tokio::sync::oneshot;

use crate::{
    Cgroups, LimitKeeper, SandboxError, SandboxSettings, SandboxStats,
    cgroup::Bases,
    keeper::{self, Recipe, Task},
    parked::{Kind, Parked},
    scope,
    wire::{Identity, SetUp},
};

// The system's folders and files change; what a launcher shows of them is as old as it is.
const OLDEST: Duration = Duration::from_mins(10);
const MOST_CALLS: u32 = 10_000;

/// Launchers, some of them waiting.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) settings: SandboxSettings,
    pub(crate) identity: Identity,
    /// Where limits can be counted without asking for a scope, or why they cannot.
    found: Result<Bases, String>,
    bases: OnceLock<Result<Bases, String>>,
    idle: Arc<Idle>,
    running: AtomicUsize,
    jobs: AtomicU64,
    keeper: Mutex<Keeper>,
}

/// The thread that makes launchers is started by the first call.
#[derive(Debug)]
enum Keeper {
    NotYet,
    Runs(Sender<Task>),
    /// It sees off who is left, and starts nobody.
    Stops(Sender<Task>),
}

/// Launchers that wait.
#[derive(Debug, Default)]
pub(crate) struct Idle(Mutex<VecDeque<Parked>>);

/// A place among the commands that may run at the same time.
#[derive(Debug)]
pub(crate) struct Slot(Arc<Pool>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A launcher that is ours until it runs something. If anything goes wrong before, or nobody waits
/// for it any more, it is got rid of.
#[derive(Debug)]
pub(crate) struct Lease<'a> {
    pool: &'a Pool,
    parked: Option<Parked>,
}

impl Lease<'_> {
    pub(crate) fn parked(&mut self) -> Result<&mut Parked, SandboxError> {
        self.parked.as_mut().ok_or(SandboxError::LauncherDied)
    }

    pub(crate) fn keep(mut self) -> Result<Parked, SandboxError> {
        self.parked.take().ok_or(SandboxError::LauncherDied)
    }

    async fn ready(&mut self) -> Result<(), SandboxError> {
        let parked = self.parked()?;
        parked.calls += 1;
        parked.ready().await
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Some(parked) = self.parked.take() {
            self.pool.bury(parked);
        }
    }
}

impl Pool {
    pub(crate) fn new(settings: SandboxSettings, identity: Identity) -> Self {
        // Also removes what processes have left behind that were killed.
        let found = match settings.cgroups {
            Cgroups::Used => Bases::find(),
            Cgroups::Unused => Err("they are switched off by configuration".to_owned()),
        };
        Self {
            settings,
            identity,
            found,
            bases: OnceLock::new(),
            idle: Arc::default(),
            running: AtomicUsize::new(0),
            jobs: AtomicU64::new(0),
            keeper: Mutex::new(Keeper::NotYet),
        }
    }

    /// Where limits are counted, or why they are not. The first time it may ask systemd for a scope,
    /// which blocks.
    pub(crate) fn bases(&self) -> &Result<Bases, String> {
        self.bases.get_or_init(|| match (&self.found, self.settings.cgroups) {
            (Err(reason), Cgroups::Used) => {
                scope::enter().map_err(|why| format!("{reason}; {why}"))?;
                Bases::find()
            }
            (found, _) => found.clone(),
        })
    }

    pub(crate) fn keeper_of_limits(&self) -> LimitKeeper {
        if self.bases().is_ok() { LimitKeeper::Cgroup } else { LimitKeeper::Watching }
    }

    pub(crate) fn slot(self: &Arc<Self>) -> Result<Slot, SandboxError> {
        let most = self.settings.max_running;
        let slot = Slot(self.clone());
        if self.running.fetch_add(1, Ordering::Relaxed) >= most {
            return Err(SandboxError::Busy(most));
        }
        self.jobs.fetch_add(1, Ordering::Relaxed);
        Ok(slot)
    }

    pub(crate) fn stats(&self) -> SandboxStats {
        SandboxStats {
            parked: self.idle.len(),
            running: self.running.load(Ordering::Relaxed),
            jobs: self.jobs.load(Ordering::Relaxed),
        }
    }

    /// A launcher that waits for an order.
    pub(crate) async fn lease(&self, kind: Kind) -> Result<Lease<'_>, SandboxError> {
        if kind == Kind::Isolated {
            while let Some(parked) = self.idle.take() {
                let mut lease = Lease { pool: self, parked: Some(parked) };
                if self.idle.len() == 0 {
                    self.tell(Task::Refill)?;
                }
                // It may have died while it waited. Whether one can be started is seen below.
                if lease.ready().await.is_ok() {
                    return Ok(lease);
                }
            }
        }
        let (answer, started) = oneshot::channel();
        self.tell(Task::Start(kind, answer))?;
        let parked = started.await.map_err(|_| SandboxError::Stopped)??;
        let mut lease = Lease { pool: self, parked: Some(parked) };
        lease.ready().await?;
        // Where there is no sandbox, commands can run on the host.
        if kind != Kind::OnHost {
            self.tell(Task::Refill)?;
        }
        Ok(lease)
    }

    /// Takes back a launcher whose command has ended and left nothing behind.
    pub(crate) fn give_back(&self, parked: Parked) {
        let fresh = parked.born.elapsed() < OLDEST && parked.calls < MOST_CALLS;
        let useful = parked.kind == Kind::Isolated && fresh && !self.has_ended();
        let most = if useful { self.settings.parked } else { 0 };
        if let Some(unwanted) = self.idle.put(parked, most) {
            self.bury(unwanted);
        }
    }

    /// Gets rid of a launcher, and of whatever it runs.
    pub(crate) fn bury(&self, parked: Parked) {
        if let Err(Task::Bury(parked)) = self.hand(Task::Bury(Box::new(parked))) {
            // The thread is gone, so is who would wait for it; the launcher ends by itself.
            drop(parked.let_go());
        }
    }

    /// Lets every launcher go and waits until nothing is left of them.
    pub(crate) async fn shut_down(&self) {
        let Some(sender) = self.stop() else { return };
        for parked in self.idle.take_all() {
            drop(sender.send(Task::Bury(Box::new(parked))));
        }
        let (answer, flushed) = oneshot::channel();
        drop(sender.send(Task::Flush(answer)));
        drop(flushed.await);
    }

    fn tell(&self, task: Task) -> Result<(), SandboxError> {
        self.hand(task).map_err(|_| SandboxError::Stopped)
    }

    fn hand(&self, task: Task) -> Result<(), Task> {
        let mut keeper = self.keeper();
        if matches!(*keeper, Keeper::NotYet) {
            let recipe = Recipe {
                bases: self.bases().as_ref().ok().cloned(),
                set_up: SetUp {
                    identity: self.identity,
                    host_network: false,
                    watched: self.bases().is_err(),
                    system: self.settings.system.clone(),
                },
                parked: self.settings.parked,
            };
            match keeper::start(recipe, self.idle.clone()) {
                Ok(sender) => *keeper = Keeper::Runs(sender),
                Err(_) => return Err(task),
            }
        }
        match (&*keeper, &task) {
            (Keeper::Runs(sender), _) | (Keeper::Stops(sender), Task::Bury(_) | Task::Flush(_)) => {
                sender.send(task).map_err(|unsent| unsent.0)
            }
            (Keeper::NotYet | Keeper::Stops(_), _) => Err(task),
        }
    }

    /// From here on nobody is started.
    fn stop(&self) -> Option<Sender<Task>> {
        let mut keeper = self.keeper();
        match &*keeper {
            Keeper::NotYet => None,
            Keeper::Runs(sender) | Keeper::Stops(sender) => {
                let sender = sender.clone();
                *keeper = Keeper::Stops(sender.clone());
                Some(sender)
            }
        }
    }

    fn has_ended(&self) -> bool {
        matches!(*self.keeper(), Keeper::Stops(_))
    }

    fn keeper(&self) -> MutexGuard<'_, Keeper> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Idle {
    pub(crate) fn len(&self) -> usize {
        self.list().len()
    }

    /// Gives it back if there are enough.
    pub(crate) fn put(&self, parked: Parked, most: usize) -> Option<Parked> {
        let mut list = self.list();
        if list.len() >= most {
            return Some(parked);
        }
        list.push_back(parked);
        None
    }

    /// The one that has waited longest: it is the one most likely to be ready.
    fn take(&self) -> Option<Parked> {
        self.list().pop_front()
    }

    pub(crate) fn take_all(&self) -> Vec<Parked> {
        self.list().drain(..).collect()
    }

    fn list(&self) -> MutexGuard<'_, VecDeque<Parked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
