//! The journal: the tamper-evident record of every call.

mod abandoned;
mod chain;
mod checkpoint;
mod draft;
mod durability;
mod entry;
mod export;
mod health;
mod large;
mod queue;
mod record;
mod repair;
mod row;
mod setup;
mod upkeep;
mod verify;
mod writer;

use std::{
    ops::{Deref, DerefMut, Range},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicBool, Ordering},
    },
    time::SystemTime,
};

use rusqlite::Connection;
use serde_json::Value;
use tokio::{runtime::Handle, sync::oneshot, task::yield_now};
use tool::{CallId, CallIds, Change, ChangeLog, Clock, ToolError};

pub use self::{
    abandoned::{Abandoned, OpenCall},
    checkpoint::Checkpoint,
    durability::Durability,
    entry::{Entry, Filter, Status},
    record::{Ending, Intent, Record},
    repair::JournalRepair,
    verify::{FirstBad, Verification},
};
use self::{
    chain::{Chain, Patience},
    draft::Draft,
    queue::{Group, Leader, Queue},
    writer::WriterFile,
};
use crate::{
    StoreError,
    folder::FolderLock,
    time::{from_micros, micros},
};

/// So often others get a turn before what has gathered is committed.
const MOST_TURNS: usize = 8;

/// So many records are looked at together when payloads are erased.
const ERASED_AT_ONCE: i64 = 2_000;

/// The record of every call: append-only records *intent*, *change* and *outcome*. An [`Entry`] is
/// what the records of one call say together.
///
/// Any number of processes write to one journal. Each adds to a hash chain of its own, and each
/// record also names the one before it in the file, so that nothing can be changed, taken out, put
/// in or moved without [`Journal::verify`] finding the place.
#[derive(Debug, Clone)]
pub struct Journal {
    inner: Option<Arc<Inner>>,
}

#[derive(Debug)]
struct Inner {
    data: PathBuf,
    writer: String,
    clock: Arc<dyn Clock>,
    chain: Mutex<Chain>,
    reader: Mutex<Connection>,
    /// What must be on the disk.
    queue: Queue,
    /// What must survive the process.
    soon: Queue,
    /// Whether somebody who came to commit that has left it to whoever has the chain.
    left: AtomicBool,
}

/// The chain, for whoever may block. When it is given back, what others left meanwhile is committed.
struct Turn<'a> {
    // First, so that it is given back before that.
    chain: MutexGuard<'a, Chain>,
    _after: After<'a>,
}

impl Deref for Turn<'_> {
    type Target = Chain;

    fn deref(&self) -> &Chain {
        &self.chain
    }
}

impl DerefMut for Turn<'_> {
    fn deref_mut(&mut self) -> &mut Chain {
        &mut self.chain
    }
}

/// Commits what others left, when it is dropped.
struct After<'a>(&'a Arc<Inner>);

impl Drop for After<'_> {
    fn drop(&mut self) {
        let Self(inner) = self;
        for _ in 0..MOST_TURNS {
            if !inner.left.swap(false, Ordering::SeqCst) {
                return;
            }
            inner.soon.take().commit(&mut inner.lock(), Durability::Process);
        }
        // So many come that this thread would do nothing else.
        inner.commit_elsewhere(inner.soon.take());
    }
}

impl Journal {
    /// Opens the journal in the folder `data`, and makes both if they are missing. Refuses one that is damaged.
    /// Blocks.
    pub fn open(data: &Path, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        Self::open_checked(data, clock, health::check)
    }

    /// The same, also if it is damaged: to look at what can be read. Blocks.
    pub fn inspect(data: &Path, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        Self::open_checked(data, clock, |_, _| Ok(()))
    }

    fn open_checked(
        data: &Path,
        clock: Arc<dyn Clock>,
        check: impl FnOnce(&Connection, &Path) -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        let lock = FolderLock::take(data)?;
        let named = |error: StoreError| health::note(data, error);
        let conn = setup::writer(data).map_err(named)?;
        check(&conn, data)?;
        let reader = Mutex::new(setup::reader(data)?);
        let (after, at) = chain::last_place(&conn)?;
        clock.saw(from_micros(at));
        let id = CallIds::new(clock.clone()).next().to_string();
        let file = WriterFile::create(data, id.clone(), after, &lock)?;
        let chain = Mutex::new(Chain::new(conn, file, clock.clone()));
        let (data, queue, soon) = (data.to_owned(), Queue::default(), Queue::default());
        let left = AtomicBool::new(false);
        let inner = Inner { data, writer: id, clock, chain, reader, queue, soon, left };
        let inner = Arc::new(inner);
        inner.upkeep_if_long()?;
        Ok(Self { inner: Some(inner) })
    }

    /// A journal that keeps nothing. For benchmarks of the gate alone, and for nothing else.
    pub const fn null() -> Self {
        Self { inner: None }
    }

    /// Names this process among those that write; no other ever has the same name.
    pub fn writer_id(&self) -> &str {
        self.inner.as_ref().map_or("", |inner| &inner.writer)
    }

    /// Whether the process that was named so still runs. Blocks.
    pub fn is_alive(&self, writer: &str) -> Result<bool, StoreError> {
        self.inner.as_ref().map_or(Ok(false), |inner| writer::lives(&inner.data, writer))
    }

    /// Appends all of `records`, or none. Returns when they survive what `durability` says. Goes on
    /// to the end when its future is dropped half way.
    pub async fn append(
        &self,
        records: Vec<Record>,
        durability: Durability,
    ) -> Result<(), StoreError> {
        let Some(inner) = &self.inner else { return Ok(()) };
        if records.iter().any(Record::is_large) {
            // To encode and hash it takes a while, and other calls must not wait for that.
            let (journal, (reply, replied)) = (self.clone(), oneshot::channel());
            elsewhere(move || drop(reply.send(journal.append_blocking(records, durability))));
            return replied.await.map_err(|_| StoreError::Stopped)?;
        }
        let drafts = Draft::all(records)?;
        let appended = match durability {
            Durability::Process => inner.append_soon(drafts).await,
            Durability::Disk => inner.append_in_group(drafts).await,
        };
        appended.map_err(|error| health::note(&inner.data, error))
    }

    /// The same, on a thread that may block.
    pub fn append_blocking(
        &self,
        records: Vec<Record>,
        durability: Durability,
    ) -> Result<(), StoreError> {
        let Some(inner) = &self.inner else { return Ok(()) };
        let appended = inner.append_drafts(Draft::all(records)?, durability);
        appended.map_err(|error| health::note(&inner.data, error))
    }

    /// Appends what a new journal begins with after a repair.
    fn append_repair(
        &self,
        repair: &JournalRepair,
        durability: Durability,
    ) -> Result<(), StoreError> {
        let Some(inner) = &self.inner else { return Ok(()) };
        inner.append_drafts(vec![Draft::repair(repair, micros(inner.clock.now()))?], durability)
    }

    /// One call. Blocks.
    pub fn entry(&self, call: CallId) -> Result<Option<Entry>, StoreError> {
        self.inner.as_ref().map_or(Ok(None), |inner| inner.entry(call))
    }

    /// The calls that pass `filter`, newest first. Blocks.
    pub fn entries(&self, filter: &Filter) -> Result<Vec<Entry>, StoreError> {
        self.inner.as_ref().map_or(Ok(Vec::new()), |inner| inner.entries(filter))
    }

    /// How the calls stand that were recorded at `since` or later, of one user and of some agents, or of
    /// all. Blocks.
    pub fn counts(
        &self,
        since: SystemTime,
        whose: (Option<&str>, Option<&[String]>),
    ) -> Result<Vec<(Status, u64)>, StoreError> {
        self.inner.as_ref().map_or(Ok(Vec::new()), |inner| inner.counts(since, whose))
    }

    /// What a call changed: one list per change record, in order. Blocks.
    pub fn changes(&self, call: CallId) -> Result<Vec<Vec<Change>>, StoreError> {
        self.inner.as_ref().map_or(Ok(Vec::new()), |inner| inner.changes(call))
    }

    /// The writers that died and left calls open. They are ours to look after while the values
    /// live: finish or roll back what they changed, append an outcome, and call
    /// [`Abandoned::done`]. Blocks.
    pub fn abandoned(&self) -> Result<Vec<Abandoned>, StoreError> {
        self.inner.as_ref().map_or(Ok(Vec::new()), |inner| inner.abandoned())
    }

    /// Looks whether everything is as it was written, and as `checkpoint` says it was. Blocks.
    pub fn verify(&self, checkpoint: Option<&Checkpoint>) -> Result<Verification, StoreError> {
        let nothing = Verification { entries: 0, records: 0, ok: true, first_bad: None };
        let Some(inner) = &self.inner else { return Ok(nothing) };
        inner.verify(checkpoint).map_err(|error| health::note(&inner.data, error))
    }

    /// Where the journal stands now. Blocks.
    pub fn checkpoint(&self) -> Result<Checkpoint, StoreError> {
        self.inner.as_ref().ok_or(StoreError::Stopped)?.checkpoint()
    }

    /// Gives every record to `each`, in order, as JSON: all columns, all hashes, and the payload, or
    /// `null` if it was erased. `payload_sha256` is the hash of the payload as compact JSON with
    /// sorted keys. Returns how many there are. Blocks.
    pub fn export(
        &self,
        each: &mut dyn FnMut(Value) -> Result<(), StoreError>,
    ) -> Result<u64, StoreError> {
        self.inner.as_ref().map_or(Ok(0), |inner| inner.export(each))
    }

    /// Erases the payloads of calls that ended, as far as they were recorded before `older_than`,
    /// and records that it did. The journal still verifies. Returns how many it erased. Blocks.
    pub fn prune_payloads(&self, older_than: SystemTime) -> Result<u64, StoreError> {
        let Some(inner) = &self.inner else { return Ok(0) };
        let erased = inner.erase(micros(older_than));
        // What one piece has erased must not stay in the log because the next one failed.
        inner.upkeep_after_erasure();
        erased
    }
}

impl ChangeLog for Journal {
    fn record(&self, call: CallId, changes: &[Change]) -> Result<(), ToolError> {
        let record = Record::Change { call, changes: changes.to_vec() };
        Ok(self.append_blocking(vec![record], Durability::Disk)?)
    }
}

impl Inner {
    /// One commit does for all who write at the same time: a commit costs several times as much as a
    /// record.
    async fn append_soon(self: &Arc<Self>, drafts: Vec<Draft>) -> Result<(), StoreError> {
        let (reply, leader) = self.soon.join(drafts);
        if leader == Leader::You {
            let lead = Lead(self.clone());
            // Others that are about to write join meanwhile, for as long as more of them do. If several wrote at the
            // same time just before, one turn in which nobody comes is not yet the end.
            let (mut waiting, mut silent) = (0, 0);
            let most_silent = if self.soon.last() > 1 { 2 } else { 1 };
            for _ in 0..MOST_TURNS {
                yield_now().await;
                let now = self.soon.len();
                silent = if now == waiting { silent + 1 } else { 0 };
                if silent == most_silent {
                    break;
                }
                waiting = now;
            }
            drop(lead);
        }
        reply.await.map_err(|_| StoreError::Stopped)?
    }

    /// Without leaving the thread, because that is much faster. If somebody else is writing, they do it
    /// when they are done.
    fn commit_soon(self: &Arc<Self>) {
        for _ in 0..MOST_TURNS {
            let Some(mut chain) = self.try_chain() else { return };
            let group = self.soon.take();
            // Others may have taken it along already.
            let appended = if group.is_empty() {
                Ok(())
            } else {
                chain.append(group.drafts(), Durability::Process, Patience::None)
            };
            if appended.as_ref().is_err_and(StoreError::is_busy) {
                drop(chain);
                return self.commit_elsewhere(group);
            }
            let due = chain.checkpoint_is_due();
            drop(chain);
            group.answer(appended);
            if due {
                let inner = self.clone();
                elsewhere(move || inner.upkeep());
            }
            if !self.left.swap(false, Ordering::SeqCst) {
                return;
            }
        }
        // So many come that this thread would do nothing else.
        self.commit_elsewhere(self.soon.take());
    }

    /// On a thread that may wait for other processes.
    fn commit_elsewhere(self: &Arc<Self>, group: Group) {
        let inner = self.clone();
        elsewhere(move || inner.commit(inner.chain(), group, Durability::Process));
    }

    /// Piece by piece, because calls wait meanwhile.
    fn erase(self: &Arc<Self>, before: i64) -> Result<u64, StoreError> {
        let Range { mut start, end } = self.chain().extent()?;
        let (mut erased, mut recorded) = (0, false);
        while start < end {
            let next = end.min(start + ERASED_AT_ONCE);
            erased += self.chain().erase(before, start..next, &mut recorded)?;
            start = next;
        }
        Ok(erased)
    }

    fn append_drafts(
        self: &Arc<Self>,
        drafts: Vec<Draft>,
        durability: Durability,
    ) -> Result<(), StoreError> {
        match durability {
            Durability::Process => self.append_now(&drafts),
            Durability::Disk => {
                let (mut reply, _) = self.queue.join(drafts);
                self.commit_group();
                // Whoever took our group answered it before we got the chain.
                reply.try_recv().map_err(|_| StoreError::Stopped)?
            }
        }
    }

    fn append_now(self: &Arc<Self>, drafts: &[Draft]) -> Result<(), StoreError> {
        let mut chain = self.chain();
        chain.append(drafts.iter(), Durability::Process, Patience::Some)?;
        self.upkeep_if_due(chain);
        Ok(())
    }

    async fn append_in_group(self: &Arc<Self>, drafts: Vec<Draft>) -> Result<(), StoreError> {
        let (reply, leader) = self.queue.join(drafts);
        if leader == Leader::You {
            let inner = self.clone();
            elsewhere(move || inner.commit_group());
        }
        reply.await.map_err(|_| StoreError::Stopped)?
    }

    /// Commits what has queued up. Those who come while it waits for the disk are the next group.
    fn commit_group(self: &Arc<Self>) {
        let chain = self.chain();
        self.commit(chain, self.queue.take(), Durability::Disk);
    }

    fn commit(self: &Arc<Self>, mut chain: Turn<'_>, group: Group, durability: Durability) {
        group.commit(&mut chain, durability);
        self.upkeep_if_due(chain);
    }

    fn upkeep_if_due(self: &Arc<Self>, mut chain: Turn<'_>) {
        let due = chain.checkpoint_is_due();
        drop(chain);
        if due {
            self.upkeep();
        }
    }

    /// The chain, when nobody else has it. May block.
    fn chain(self: &Arc<Self>) -> Turn<'_> {
        Turn { chain: self.lock(), _after: After(self) }
    }

    fn lock(&self) -> MutexGuard<'_, Chain> {
        self.chain.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The chain, if nobody else has it; whoever has it commits what waits when they are done.
    fn try_chain(&self) -> Option<MutexGuard<'_, Chain>> {
        let chain = || match self.chain.try_lock() {
            Ok(chain) => Some(chain),
            Err(TryLockError::Poisoned(chain)) => Some(chain.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        chain().or_else(|| {
            self.left.store(true, Ordering::SeqCst);
            // They may have been done before they could see that.
            chain()
        })
    }

    fn reader(&self) -> MutexGuard<'_, Connection> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does what may block on a thread where it may, in any case. An append can be dropped on a thread without a
/// runtime; no other task waits for that one, so it is done right there.
fn elsewhere(work: impl FnOnce() + Send + 'static) {
    let certain = Certain(Some(work));
    if let Ok(runtime) = Handle::try_current() {
        drop(runtime.spawn_blocking(move || drop(certain)));
    }
}

/// Work that is done when this is dropped: a runtime that ends drops what it has not begun, and others wait
/// for it.
struct Certain<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for Certain<F> {
    fn drop(&mut self) {
        if let Some(work) = self.0.take() {
            work();
        }
    }
}

/// Whoever has this commits when it is dropped, also because nobody waits for it any more: others may.
struct Lead(Arc<Inner>);

impl Drop for Lead {
    fn drop(&mut self) {
        self.0.commit_soon();
    }
}
