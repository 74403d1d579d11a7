//! A walk on several threads, in no order.

use std::{
    ffi::CString,
    ops::Range,
    os::fd::{AsFd, BorrowedFd},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

use tool::FileKind;

use super::{
    Going, Stop,
    folder::{Entered, Folder, Handle},
    listing::Listing,
};

/// A folder with more entries than this is shared among the threads.
const SHARED: usize = 256;
/// In pieces of this many.
const PIECE: usize = 64;

/// Something one thread can do.
enum Job {
    Enter(Arc<Folder>, CString),
    Visit(Arc<Folder>, Arc<Listing>, Range<usize>),
}

/// What is still to be done. The newest first: so few folders are open at a time.
#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    more: Condvar,
}

#[derive(Default)]
struct State {
    jobs: Vec<Job>,
    busy: usize,
    waiting: usize,
    stop: Option<Stop>,
}

/// A job being done. Also when the visitor panics it ends, or the other threads would wait for ever.
struct Busy<'a>(&'a Queue);

/// Visits everything; the calling thread works too.
pub(super) fn run(going: &Going<'_>, first: Entered) -> Result<(), Stop> {
    let queue = Queue::default();
    // Nobody has taken a job yet, so the first folder counts as one.
    queue.lock().busy = 1;
    thread::scope(|scope| {
        for _ in 1..going.how.threads {
            scope.spawn(|| work(going, &queue));
        }
        let busy = Busy(&queue);
        busy.end(read(going, &queue, first));
        work(going, &queue);
    });
    let stop = queue.lock().stop.take();
    stop.map_or(Ok(()), Err)
}

fn work(going: &Going<'_>, queue: &Queue) {
    while let Some(job) = queue.take() {
        let busy = Busy(queue);
        let result = match job {
            Job::Enter(parent, name) => match going.enter(&parent, &name) {
                Ok(Some(entered)) => {
                    // Its last child lets go of the parent before it opens children itself.
                    drop(parent);
                    read(going, queue, entered)
                }
                Ok(None) => Ok(()),
                Err(stop) => Err(stop),
            },
            Job::Visit(folder, listing, range) => match folder.handle(going) {
                Ok(handle) => visit(going, queue, &folder, handle.as_fd(), (&listing, range)),
                Err(_) => Ok(()),
            },
        };
        busy.end(result);
    }
}

fn read(going: &Going<'_>, queue: &Queue, entered: Entered) -> Result<(), Stop> {
    let (folder, listing, own) = entered.split();
    let all = 0..listing.len();
    if listing.len() > SHARED {
        let listing = Arc::new(listing);
        let pieces = all.step_by(PIECE).map(|start| {
            let range = start..listing.len().min(start + PIECE);
            Job::Visit(folder.clone(), listing.clone(), range)
        });
        queue.add(pieces.collect());
        return Ok(());
    }
    let handle = match own {
        Some(fd) => Ok(Handle::Again(fd)),
        None => folder.handle(going),
    };
    match handle {
        Ok(handle) => visit(going, queue, &folder, handle.as_fd(), (&listing, all)),
        Err(_) => Ok(()),
    }
}

/// Folders first, so that the other threads have something to do meanwhile.
fn visit(
    going: &Going<'_>,
    queue: &Queue,
    folder: &Arc<Folder>,
    fd: BorrowedFd<'_>,
    (listing, range): (&Listing, Range<usize>),
) -> Result<(), Stop> {
    let mut jobs = Vec::new();
    let mut rest = Vec::new();
    for index in range {
        if !going.shows(folder, fd, listing, index) {
            continue;
        }
        let (name, kind) = listing.entry(index);
        if kind != FileKind::Folder {
            rest.push(index);
            continue;
        }
        going.visit(folder, fd, listing, index)?;
        if folder.depth + 1 < going.how.depth {
            jobs.push(Job::Enter(folder.clone(), name.to_owned()));
        }
    }
    queue.add(jobs);
    rest.into_iter().try_for_each(|index| going.visit(folder, fd, listing, index))
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change to it is a push or a count, so a panic elsewhere cannot leave it half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, mut jobs: Vec<Job>) {
        if jobs.is_empty() {
            return;
        }
        let mut state = self.lock();
        state.jobs.append(&mut jobs);
        if state.waiting > 0 {
            self.more.notify_all();
        }
    }

    /// The next job; `None` once there can be no more.
    fn take(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if state.stop.is_some() {
                return None;
            }
            if let Some(job) = state.jobs.pop() {
                state.busy += 1;
                return Some(job);
            }
            if state.busy == 0 {
                return None;
            }
            state.waiting += 1;
            state = self.more.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
    }
}

impl Busy<'_> {
    /// Ends the job; the first thread that was stopped stops the others.
    fn end(self, result: Result<(), Stop>) {
        if let Err(stop) = result {
            self.0.lock().stop.get_or_insert(stop);
        }
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.busy -= 1;
        if thread::panicking() {
            state.stop.get_or_insert(Stop::Enough);
        }
        if state.stop.is_some() || state.busy == 0 {
            self.0.more.notify_all();
        }
    }
}
