//! What a caller has.

use std::{ffi::OsString, os::fd::AsFd, sync::Arc, time::Instant};

use rustix::process::{getegid, geteuid};
use tokio::sync::OnceCell;

use crate::{
    HostJob, Job, Network, Process, Report, SandboxError, SandboxSettings, SandboxStats, features,
    id_map::IdMaps,
    init,
    parked::Kind,
    pool::{Lease, Pool, Slot},
    process::Parts,
    spec::{self, Ready},
    wire::{Answer, Identity},
};

// Who a command is inside if it cannot be who we are.
const INSIDE: u32 = 1000;

/// Runs commands that see and can do only what their [`Job`] says.
#[derive(Debug)]
pub struct Sandbox {
    pool: Arc<Pool>,
    /// There if we are root: commands are not, and must be let to the files they work on.
    maps: Option<Arc<IdMaps>>,
    report: OnceCell<Report>,
}

impl Sandbox {
    /// Starts nothing yet.
    pub fn new(settings: SandboxSettings) -> Self {
        let dedicated = settings.dedicated_id;
        let (uid, gid) = (geteuid(), getegid());
        let (identity, maps) = if uid.is_root() {
            let identity = Identity { become_id: Some(dedicated), uid: INSIDE, gid: INSIDE };
            (identity, Some(Arc::new(IdMaps::new(dedicated))))
        } else {
            (Identity { become_id: None, uid: uid.as_raw(), gid: gid.as_raw() }, None)
        };
        Self { pool: Arc::new(Pool::new(settings, identity)), maps, report: OnceCell::new() }
    }

    /// What this machine offers. Everything is tried out, once.
    pub async fn report(&self) -> Result<&Report, SandboxError> {
        if !init::was_called() {
            return Err(SandboxError::NotInitialised);
        }
        self.report.get_or_try_init(|| features::report(&self.pool, self.maps.as_deref())).await
    }

    /// Starts a command. When this returns it runs; an error means that nothing of it did.
    pub async fn start(&self, job: Job) -> Result<Process, SandboxError> {
        let asked = Instant::now();
        if !init::was_called() {
            return Err(SandboxError::NotInitialised);
        }
        let (found, minimum) = (self.pool.level(), job.minimum);
        if found < minimum {
            let why = self.pool.bases.as_ref().err().cloned().unwrap_or_default();
            return Err(SandboxError::TooWeak { found, minimum, why });
        }
        let slot = self.pool.slot()?;
        let kind = match job.network {
            Network::None | Network::Proxied { .. } => Kind::Isolated,
            Network::Host => Kind::Networked,
        };
        let (program, limits) = (name(&job.argv), job.limits.clone());
        let ready = spec::ready(job, self.maps.as_deref(), found)?;
        let mut lease = self.pool.lease(kind).await?;
        lease.parked()?.limit(&limits)?;
        Starting { pool: &self.pool, asked, program, slot }.run(lease, ready).await
    }

    /// Starts a command on the host itself, where nothing is held from it but the limits. It needs
    /// nothing of what a sandbox is made of.
    pub async fn start_on_host(&self, job: HostJob) -> Result<Process, SandboxError> {
        let asked = Instant::now();
        if !init::was_called() {
            return Err(SandboxError::NotInitialised);
        }
        let slot = self.pool.slot()?;
        let (program, limits) = (name(&job.argv), job.limits.clone());
        let ready = spec::ready_on_host(job, self.pool.level())?;
        let mut lease = self.pool.lease(Kind::OnHost).await?;
        lease.parked()?.limit(&limits)?;
        Starting { pool: &self.pool, asked, program, slot }.run(lease, ready).await
    }

    /// What it is doing.
    pub fn stats(&self) -> SandboxStats {
        self.pool.stats()
    }

    /// Ends every launcher that waits, and returns when nothing is left of them. Commands that run go
    /// on until their [`Process`] is dropped; none can be started any more.
    pub async fn shutdown(&self) {
        self.pool.shut_down().await;
    }
}

/// What to call a command in a message.
fn name(argv: &[OsString]) -> String {
    argv.first().map(|name| name.display().to_string()).unwrap_or_default()
}

/// A command on its way to a launcher.
struct Starting<'a> {
    pool: &'a Arc<Pool>,
    asked: Instant,
    program: String,
    slot: Slot,
}

impl Starting<'_> {
    async fn run(self, mut lease: Lease<'_>, ready: Ready) -> Result<Process, SandboxError> {
        let Ready { order, fds, ends } = ready;
        let parked = lease.parked()?;
        let borrowed: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
        parked.order(&order, &borrowed).map_err(SandboxError::Launcher)?;
        // The command has them now, and only if nobody else has can it close them.
        drop(fds);
        let (started, fds) = match parked.answer().await.map_err(SandboxError::Launcher)? {
            Some((Answer::Started(started), fds)) => (started, fds),
            Some((Answer::SetUpFailed(failure), _)) => return Err(failure.into()),
            Some((Answer::ExecFailed(errno), _)) => {
                return Err(self.not_executed(errno, lease).await);
            }
            Some(_) | None => return Err(SandboxError::LauncherDied),
        };
        let mut fds = fds.into_iter();
        let Some(command) = fds.next() else { return Err(SandboxError::LauncherDied) };
        let first = started.first.then(|| fds.next()).flatten();
        let terminal = started.terminal.then(|| fds.next()).flatten();
        let listener = started.listener.then(|| fds.next()).flatten().map(Into::into);
        let streams = ends.open(terminal).map_err(SandboxError::Launcher)?;
        let parked = lease.keep()?;
        let (pool, slot, asked) = (self.pool.clone(), self.slot, self.asked);
        let parts = Parts { pool, parked, slot, command, first, streams, listener, asked };
        Ok(Process::new(parts))
    }

    /// A program that is not there is nobody's fault; the launcher can be used again.
    async fn not_executed(self, errno: i32, mut lease: Lease<'_>) -> SandboxError {
        if let Ok(parked) = lease.parked()
            && let Ok(Some((Answer::Gone(_), _))) = parked.answer().await
            && let Ok(parked) = lease.keep()
        {
            self.pool.give_back(parked);
        }
        let source = std::io::Error::from_raw_os_error(errno);
        SandboxError::Exec { program: self.program, source }
    }
}
