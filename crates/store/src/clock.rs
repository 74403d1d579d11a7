//! A clock that does not go back.

use std::{
    fs::File,
    io,
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use tool::Clock;

use crate::{
    StoreError,
    folder::{private_file, private_folder},
    time::rfc3339,
};

/// The file is written when time has gone on by this much, and looked at as often while it is held.
const WRITE_INTERVAL: Duration = Duration::from_secs(1);
/// A clock that is further ahead of the latest time ever seen is taken for wrong: machines start with a dead
/// battery or a mistyped year. Data folders that are not used for longer are rare, and lose nothing.
const MAX_JUMP: Duration = Duration::from_hours(24 * 366);
/// A process that sees such a clock go on for this long believes it.
const BELIEVED_AFTER: Duration = Duration::from_hours(24);
/// Smaller steps back are not worth a warning: the system corrects its clock all the time.
const MIN_WARNED_STEP: Duration = Duration::from_secs(5);
/// Four numbers of twenty digits, each with a separator. The file always has this size, so that writing it
/// needs no space on the disk.
const SIZE: usize = 84;
/// Records can be this much later than the latest time in the file.
const RECORD_SLACK: Duration = Duration::from_mins(1);

/// The latest time that any process has seen on a data folder, and a clock that is never behind it.
///
/// Everything with a deadline uses this clock: tokens, sign-in links, grants, questions, overrides, retention.
/// A token that has expired stays expired when the machine's clock is set back, and call ids keep growing.
///
/// While the machine's clock is behind the latest time, this clock runs at half its speed, until the other one
/// has caught up. A clock that is more than a year ahead is used as it is, but not remembered, and
/// [`Clock::is_plausible`] says that nothing should be deleted by its word. [`SteadyClock::accept`] makes either
/// clock the right one.
#[derive(Debug)]
pub struct SteadyClock {
    inner: Arc<dyn Clock>,
    /// Missing where the data folder cannot be written: then only this process is steady.
    file: Option<File>,
    path: PathBuf,
    /// The latest time, in nanoseconds since 1970. Beside the lock, for the path that every call takes.
    latest: AtomicU64,
    /// The latest time in the file.
    written: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// What the machine's clock said when `latest` was last changed; 0 if that is not known.
    machine: u64,
    /// Which acceptance of the owner the times belong to.
    generation: u64,
    /// Up to this time the journal may have records of a clock that the owner called wrong.
    distrusted: u64,
    looked: Option<Instant>,
    /// Since when the machine's clock is too far ahead.
    implausible: Option<Instant>,
    has_warned: bool,
}

/// How the machine's clock stands to the latest time a data folder has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockState {
    /// It can be relied on.
    Right,
    /// It is behind `latest`, which holds instead.
    Behind {
        /// The machine's time.
        machine: SystemTime,
        /// The time that holds.
        latest: SystemTime,
    },
    /// It is too far ahead of `latest` to be believed.
    FarAhead {
        /// The machine's time.
        machine: SystemTime,
        /// The latest time that was believed.
        latest: SystemTime,
    },
}

/// What the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Mark {
    latest: u64,
    machine: u64,
    generation: u64,
    distrusted: u64,
}

impl SteadyClock {
    /// A clock for the data folder `data` that takes the machine's time from `inner`. Where the folder cannot be
    /// written, it is steady within this process only.
    pub fn open(data: &Path, inner: Arc<dyn Clock>) -> Self {
        let path = data.join("clock");
        let file = private_folder(data).and_then(|()| private_file(&path)).ok();
        let mark = file.as_ref().and_then(|file| read(file).ok().flatten());
        let Mark { latest, machine, generation, distrusted } = mark.unwrap_or_default();
        let state = State {
            machine,
            generation,
            distrusted,
            looked: None,
            implausible: None,
            has_warned: false,
        };
        Self {
            inner,
            file,
            path,
            latest: AtomicU64::new(latest),
            written: AtomicU64::new(latest),
            state: Mutex::new(state),
        }
    }

    /// How the machine's clock stands now.
    pub fn state(&self) -> ClockState {
        let machine = nanos(self.inner.now());
        let _ = self.now();
        let latest = self.latest.load(Ordering::Relaxed);
        let times = (from_nanos(machine), from_nanos(latest));
        if !self.is_plausible() {
            return ClockState::FarAhead { machine: times.0, latest: times.1 };
        }
        if latest.saturating_sub(machine) < whole(MIN_WARNED_STEP) {
            return ClockState::Right;
        }
        ClockState::Behind { machine: times.0, latest: times.1 }
    }

    /// Takes the machine's clock for right, in every process: the latest time is what it says now.
    pub fn accept(&self) -> Result<(), StoreError> {
        let mut state = self.lock();
        let found = self.file.as_ref().and_then(|file| read(file).ok().flatten());
        let machine = nanos(self.inner.now());
        let generation = found.map_or(state.generation, |found| found.generation) + 1;
        let latest = self.latest.load(Ordering::Relaxed).max(found.map_or(0, |found| found.latest));
        let distrusted = latest.saturating_add(whole(RECORD_SLACK));
        let mark = Mark { latest: machine, machine, generation, distrusted };
        let file = match &self.file {
            Some(file) => write(file, mark),
            None => private_file(&self.path).map(|file| write(&file, mark))?,
        };
        file.map_err(StoreError::io(&self.path))?;
        self.adopt(&mut state, mark);
        Ok(())
    }

    /// The path of a call that finds nothing unusual is in [`Clock::now`].
    fn slowly(&self, machine: u64) -> u64 {
        let mut state = self.lock();
        let is_due = state.looked.is_none_or(|looked| looked.elapsed() >= WRITE_INTERVAL);
        let ahead = machine.saturating_sub(self.written.load(Ordering::Relaxed));
        if is_due || ahead >= whole(WRITE_INTERVAL) {
            state.looked = Some(Instant::now());
            self.take_over(&mut state);
        }
        let latest = self.latest.load(Ordering::Relaxed);
        let now = self.advance(&mut state, (latest, machine));
        if now.saturating_sub(self.written.load(Ordering::Relaxed)) >= whole(WRITE_INTERVAL)
            && state.implausible.is_none()
        {
            self.write_down(&state, now);
        }
        now
    }

    /// The time that holds, given the latest one and the machine's.
    fn advance(&self, state: &mut State, (latest, machine): (u64, u64)) -> u64 {
        if machine >= latest {
            let is_far = latest > 0 && machine - latest > whole(MAX_JUMP);
            if is_far
                && state.implausible.get_or_insert_with(Instant::now).elapsed() < BELIEVED_AFTER
            {
                warn(state, (latest, machine));
                return machine;
            }
            (state.implausible, state.has_warned) = (None, false);
            state.machine = machine;
            self.latest.fetch_max(machine, Ordering::Relaxed);
            return machine;
        }
        state.implausible = None;
        if latest - machine >= whole(MIN_WARNED_STEP) {
            warn(state, (latest, machine));
        }
        // Half of what the machine's clock went on by since the last look; nothing if it went back again.
        let before = if state.machine == 0 { machine } else { state.machine };
        let now = latest + machine.saturating_sub(before) / 2;
        state.machine = machine;
        self.latest.store(now, Ordering::Relaxed);
        now
    }

    /// Takes over what other processes have seen, and what the owner accepted.
    fn take_over(&self, state: &mut State) {
        let found = self.file.as_ref().and_then(|file| read(file).ok().flatten());
        let Some(found) = found else { return };
        if found.generation > state.generation {
            return self.adopt(state, found);
        }
        self.written.store(found.latest, Ordering::Relaxed);
        self.raise(found.latest);
    }

    fn raise(&self, seen: u64) {
        let latest = self.latest.load(Ordering::Relaxed);
        if latest == 0 || seen.saturating_sub(latest) <= whole(MAX_JUMP) {
            self.latest.fetch_max(seen, Ordering::Relaxed);
        }
    }

    fn adopt(&self, state: &mut State, mark: Mark) {
        (state.generation, state.distrusted) = (mark.generation, mark.distrusted);
        state.machine = mark.machine;
        (state.implausible, state.has_warned) = (None, false);
        self.latest.store(mark.latest, Ordering::Relaxed);
        self.written.store(mark.latest, Ordering::Relaxed);
    }

    fn write_down(&self, state: &State, latest: u64) {
        let Some(file) = &self.file else { return };
        let State { machine, generation, distrusted, .. } = *state;
        let mark = Mark { latest, machine, generation, distrusted };
        match write(file, mark) {
            Ok(()) => self.written.store(latest, Ordering::Relaxed),
            Err(error) => tracing::debug!(%error, "cannot note the time"),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for SteadyClock {
    fn now(&self) -> SystemTime {
        let time = self.inner.now();
        let machine = nanos(time);
        let (latest, written) =
            (self.latest.load(Ordering::Relaxed), self.written.load(Ordering::Relaxed));
        if machine >= latest
            && written > 0
            && machine.saturating_sub(written) < whole(WRITE_INTERVAL)
        {
            self.latest.fetch_max(machine, Ordering::Relaxed);
            return time;
        }
        match self.slowly(machine) {
            now if now == machine => time,
            now => from_nanos(now),
        }
    }

    fn saw(&self, time: SystemTime) {
        let machine = nanos(self.inner.now());
        let seen = nanos(time);
        let latest = self.latest.load(Ordering::Relaxed);
        // A folder without a mark has only this time to go by.
        let is_near = latest > 0 || seen.saturating_sub(machine) <= whole(MAX_JUMP);
        let state = self.lock();
        if is_near && seen > state.distrusted {
            self.raise(seen);
        }
    }

    fn is_plausible(&self) -> bool {
        let _ = self.now();
        self.lock().implausible.is_none()
    }
}

/// Says once that the clocks do not fit.
fn warn(state: &mut State, (latest, machine): (u64, u64)) {
    if std::mem::replace(&mut state.has_warned, true) {
        return;
    }
    let (latest, machine) = (rfc3339(from_nanos(latest)), rfc3339(from_nanos(machine)));
    tracing::warn!(
        machine,
        latest,
        "the machine's clock does not fit the latest time this data folder has seen; `toolgate doctor` \
         says what to do"
    );
}

fn nanos(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, whole)
}

fn whole(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

fn from_nanos(nanos: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_nanos(nanos)
}

/// What the file says; nothing if it is empty or cut off.
fn read(file: &File) -> io::Result<Option<Mark>> {
    let mut text = [0; SIZE];
    let read = file.read_at(&mut text, 0)?;
    let text = text.get(..read).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
    let numbers: Option<Vec<u64>> =
        text.split_ascii_whitespace().map(|number| number.parse().ok()).collect();
    Ok(match numbers.as_deref() {
        Some(&[latest, machine, generation, distrusted]) if read == SIZE => {
            Some(Mark { latest, machine, generation, distrusted })
        }
        _ => None,
    })
}

fn write(file: &File, mark: Mark) -> io::Result<()> {
    let Mark { latest, machine, generation, distrusted } = mark;
    let text = format!("{latest:020} {machine:020} {generation:020} {distrusted:020}\n");
    file.write_all_at(text.as_bytes(), 0)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use tempfile::TempDir;
    use tool::CallIds;

    use super::*;

    const DAY: u64 = 24 * 60 * 60;

    /// The machine's clock, which a test sets; in seconds since 1970.
    #[derive(Debug)]
    struct Machine(AtomicU64);

    impl Clock for Machine {
        fn now(&self) -> SystemTime {
            SystemTime::UNIX_EPOCH + Duration::from_secs(self.0.load(Ordering::Relaxed))
        }
    }

    struct Setup {
        dir: TempDir,
        machine: Arc<Machine>,
    }

    impl Setup {
        fn at(seconds: u64) -> Self {
            let machine = Arc::new(Machine(AtomicU64::new(seconds)));
            Self { dir: TempDir::new().unwrap(), machine }
        }

        fn set(&self, seconds: u64) {
            self.machine.0.store(seconds, Ordering::Relaxed);
        }

        /// As another process would open it.
        fn clock(&self) -> SteadyClock {
            SteadyClock::open(self.dir.path(), self.machine.clone())
        }
    }

    fn seconds(clock: &SteadyClock) -> u64 {
        clock.now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
    }

    #[test]
    fn does_not_go_back_within_a_process_nor_from_one_to_the_next() {
        let setup = Setup::at(100 * DAY);
        let clock = setup.clock();
        assert_eq!(seconds(&clock), 100 * DAY);
        setup.set(99 * DAY);
        for clock in [&clock, &setup.clock()] {
            assert_eq!(seconds(clock), 100 * DAY);
            assert!(matches!(clock.state(), ClockState::Behind { .. }));
            assert!(clock.is_plausible());
        }
        // It goes on at half speed, until the machine's clock has caught up.
        setup.set(99 * DAY + 1_000);
        assert_eq!(seconds(&clock), 100 * DAY + 500);
        setup.set(99 * DAY + 500);
        assert_eq!(seconds(&clock), 100 * DAY + 500);
        setup.set(101 * DAY);
        assert_eq!(seconds(&clock), 101 * DAY);
        assert_eq!(clock.state(), ClockState::Right);
    }

    #[test]
    fn a_clock_that_is_years_ahead_is_not_remembered() {
        let setup = Setup::at(1_000 * DAY);
        assert_eq!(seconds(&setup.clock()), 1_000 * DAY);
        setup.set(9_000 * DAY);
        let clock = setup.clock();
        assert_eq!(seconds(&clock), 9_000 * DAY);
        assert!(!clock.is_plausible());
        assert!(matches!(clock.state(), ClockState::FarAhead { .. }));
        setup.set(1_001 * DAY);
        for clock in [clock, setup.clock()] {
            assert_eq!(seconds(&clock), 1_001 * DAY);
            assert!(clock.is_plausible());
        }
    }

    #[test]
    fn the_owner_can_say_that_the_clock_is_right() {
        let setup = Setup::at(1_000 * DAY);
        let clock = setup.clock();
        assert_eq!(seconds(&clock), 1_000 * DAY);
        for right in [900 * DAY, 5_000 * DAY] {
            setup.set(right);
            assert_ne!(clock.state(), ClockState::Right);
            setup.clock().accept().unwrap();
            // Other processes look at the file now and then.
            clock.lock().looked = None;
            assert_eq!(seconds(&clock), right);
            // As the journal has it, of the clock that was wrong.
            clock.saw(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000 * DAY));
            assert_eq!(seconds(&clock), right);
            assert_eq!((clock.state(), clock.is_plausible()), (ClockState::Right, true));
        }
    }

    #[test]
    fn starts_from_what_was_recorded() {
        let setup = Setup::at(1_000 * DAY);
        let at = |day: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(day * DAY);
        let clock = setup.clock();
        clock.saw(at(1_010));
        assert_eq!(seconds(&clock), 1_010 * DAY);
        clock.saw(at(9_000));
        assert_eq!(seconds(&clock), 1_010 * DAY, "too far ahead to be true");
    }

    #[test]
    fn call_ids_grow_from_process_to_process() {
        let setup = Setup::at(1_000 * DAY);
        let mut ids = Vec::new();
        for day in [1_000, 1_001, 999, 500, 1_000] {
            setup.set(day * DAY);
            let made = CallIds::new(Arc::new(setup.clock()));
            // The journal has the time of the last one.
            ids.extend((0..10).map(|_| made.next()));
            std::thread::sleep(Duration::from_millis(1));
        }
        let times: Vec<_> =
            ids.iter().map(|id| id.to_string().chars().take(13).collect::<String>()).collect();
        assert!(times.is_sorted(), "{times:?}");
    }

    #[test]
    fn works_without_a_file() {
        let machine = Arc::new(Machine(AtomicU64::new(10 * DAY)));
        let clock = SteadyClock::open(Path::new("/proc/nowhere"), machine.clone());
        assert_eq!(seconds(&clock), 10 * DAY);
        machine.0.store(9 * DAY, Ordering::Relaxed);
        assert_eq!(seconds(&clock), 10 * DAY);
    }
}
