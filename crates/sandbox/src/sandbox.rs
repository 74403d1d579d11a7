//! What a caller has.

use std::{
    ffi::OsString,
    net::TcpListener,
    os::fd::AsFd,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Instant,
};

use rustix::process::{getegid, geteuid};

use crate::{
    HostJob, IsolationMode, IsolationWalls, Job, Level, Limits, Network, Process, Report,
    SandboxError, SandboxSettings, SandboxStats,
    confined::{self, ConfinedReady},
    features,
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
    offer: Arc<Offer>,
}

/// What the machine offers, found out once.
#[derive(Debug, Default)]
struct Offer {
    report: OnceLock<Report>,
    making: Mutex<()>,
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
        Self { pool: Arc::new(Pool::new(settings, identity)), maps, offer: Arc::default() }
    }

    /// What this machine offers. Everything is tried out, once.
    pub async fn report(&self) -> Result<&Report, SandboxError> {
        if self.offer.report.get().is_none() {
            let (offer, pool, maps) = (self.offer.clone(), self.pool.clone(), self.maps.clone());
            let find = move || offer.find(&pool, maps.as_deref()).map(drop);
            tokio::task::spawn_blocking(find).await.map_err(|_| SandboxError::Stopped)??;
        }
        self.report_now()
    }

    /// The same for a caller that may wait; the first time takes some milliseconds.
    pub fn report_now(&self) -> Result<&Report, SandboxError> {
        self.offer.find(&self.pool, self.maps.as_deref())
    }

    /// Why a job with this `minimum` and these limits would be refused; `Ok` if it would not be.
    /// Blocks as [`Sandbox::report_now`] does.
    pub fn check(&self, minimum: Level, limits: &Limits) -> Result<(), SandboxError> {
        self.mode_for(self.report_now()?, minimum, limits).map(drop)
    }

    fn mode_for(
        &self,
        report: &Report,
        minimum: Level,
        limits: &Limits,
    ) -> Result<IsolationMode, SandboxError> {
        let Some(mode) = report.mode else {
            return Err(SandboxError::NoIsolation(report.reason()));
        };
        if report.level < minimum {
            let (found, why) = (report.level, report.reason());
            return Err(SandboxError::TooWeak { found, minimum, why });
        }
        match self.pool.bases() {
            Err(why) if limits.cpu_percent.is_some() => {
                Err(SandboxError::NoProcessorLimit(why.clone()))
            }
            _ => Ok(mode),
        }
    }

    /// Starts a command. When this returns it runs; an error means that nothing of it did.
    pub async fn start(&self, job: Job) -> Result<Process, SandboxError> {
        let asked = Instant::now();
        let report = self.report().await?;
        let mode = self.mode_for(report, job.minimum, &job.limits)?;
        let slot = self.pool.slot()?;
        let (program, limits) = (name(&job.argv), job.limits.clone());
        let (kind, ready, listener) = match (mode.walls, job.network) {
            (IsolationWalls::Landlock, _) => {
                let ready = confined::ready(job, &self.pool.settings.system, mode.limits)?;
                let ConfinedReady { ready, listener } = ready;
                (Kind::OnHost, ready, listener)
            }
            (IsolationWalls::Namespaces, Network::None | Network::Proxied { .. }) => {
                (Kind::Isolated, spec::ready(job, self.maps.as_deref(), mode.limits)?, None)
            }
            (IsolationWalls::Namespaces, Network::Host) => {
                (Kind::Networked, spec::ready(job, self.maps.as_deref(), mode.limits)?, None)
            }
        };
        let mut lease = self.pool.lease(kind).await?;
        lease.parked()?.limit(&limits)?;
        Starting { pool: &self.pool, asked, program, slot, listener }.run(lease, ready).await
    }

    /// Starts a command on the host itself, where nothing is held from it but the limits. It needs
    /// nothing of what a sandbox is made of.
    pub async fn start_on_host(&self, job: HostJob) -> Result<Process, SandboxError> {
        let asked = Instant::now();
        if !init::was_called() {
            return Err(SandboxError::NotInitialised);
        }
        let pool = self.pool.clone();
        let find = move || pool.bases().as_ref().err().cloned();
        let missing = tokio::task::spawn_blocking(find).await.map_err(|_| SandboxError::Stopped)?;
        if let (Some(why), Some(_)) = (missing, job.limits.cpu_percent) {
            return Err(SandboxError::NoProcessorLimit(why));
        }
        let slot = self.pool.slot()?;
        let (program, limits) = (name(&job.argv), job.limits.clone());
        let ready = spec::ready_on_host(job, self.pool.keeper_of_limits())?;
        let mut lease = self.pool.lease(Kind::OnHost).await?;
        lease.parked()?.limit(&limits)?;
        Starting { pool: &self.pool, asked, program, slot, listener: None }.run(lease, ready).await
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

impl Offer {
    fn find(&self, pool: &Pool, maps: Option<&IdMaps>) -> Result<&Report, SandboxError> {
        if let Some(report) = self.report.get() {
            return Ok(report);
        }
        if !init::was_called() {
            return Err(SandboxError::NotInitialised);
        }
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have found it out meanwhile.
        if let Some(report) = self.report.get() {
            return Ok(report);
        }
        let report = features::report(pool, maps)?;
        Ok(self.report.get_or_init(|| report))
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
    /// Where connections to the proxy arrive, if it is ours and not the launcher's.
    listener: Option<TcpListener>,
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
        let inner = started.listener.then(|| fds.next()).flatten().map(Into::into);
        let listener = self.listener.or(inner);
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
