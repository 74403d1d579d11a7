//! More than one process, and processes that die.

use std::{
    env,
    ffi::OsString,
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use store::{
    Durability::{Disk, Process},
    Filter, Journal, Status,
};
use tool::{CallId, CallIds, Caller, Clock, Effect, Effects, FilePath};

use crate::helper::{Setup, Time, change, created, failed, intent, journal, outcome};

const DATA: &str = "STORE_TEST_DATA";
const DURABILITY: &str = "STORE_TEST_DURABILITY";

/// Runs [`child`] in a process of its own.
#[expect(clippy::disallowed_methods, reason = "a process that a test kills")]
fn start(setup: &Setup, durability: &str) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "processes::child", "--nocapture"])
        .env(DATA, setup.data())
        .env(DURABILITY, durability)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Says the id of each call that it has recorded, and never ends.
#[test]
fn child() {
    let Some(data) = env::var_os(DATA).map(PathBuf::from) else { return };
    let durability =
        if env::var_os(DURABILITY) == Some(OsString::from("disk")) { Disk } else { Process };
    let clock: Arc<dyn Clock> = Arc::new(Time::default());
    let (ids, journal) = (CallIds::new(clock.clone()), journal(&data, clock));
    loop {
        let call = ids.next();
        journal.append_blocking(vec![intent(call), change(call)], durability).unwrap();
        writeln!(std::io::stdout(), "recorded {call}").unwrap();
    }
}

fn recorded(child: &mut Child, count: usize) -> Vec<CallId> {
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let ids = lines.filter_map(|line| line.unwrap().strip_prefix("recorded ")?.parse().ok());
    ids.take(count).collect()
}

/// audit-001, for the journal; `world` has it for files.
#[test]
fn a_killed_process_loses_nothing_it_has_recorded() {
    for (durability, count) in [("process", 200), ("disk", 20)] {
        let setup = Setup::new();
        let journal = setup.journal();
        let mut children = [start(&setup, durability), start(&setup, durability)];
        for child in &mut children {
            let calls = recorded(child, count);
            // Both processes write while we read.
            assert!(journal.abandoned().unwrap().is_empty());
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(calls.len(), count);
            for call in calls {
                assert_eq!(journal.entry(call).unwrap().unwrap().status, Status::Interrupted);
            }
            assert_eq!(journal.verify(None).unwrap().first_bad, None);
            journal.abandoned().unwrap().into_iter().for_each(store::Abandoned::done);
        }
    }
}

#[test]
fn only_calls_of_dead_writers_are_abandoned() {
    let setup = Setup::new();
    let (living, dead, clean) = (setup.journal(), setup.journal(), setup.journal());
    let calls = [setup.call(), setup.call(), setup.call(), setup.call()];
    living.append_blocking(vec![intent(calls[0])], Process).unwrap();
    dead.append_blocking(vec![intent(calls[1]), change(calls[1])], Process).unwrap();
    dead.append_blocking(vec![intent(calls[2]), outcome(calls[2])], Process).unwrap();
    clean.append_blocking(vec![intent(calls[3]), outcome(calls[3])], Process).unwrap();
    assert!(living.abandoned().unwrap().is_empty());
    drop((dead, clean));

    let found = living.abandoned().unwrap();
    let [writer] = &found[..] else { panic!("one dead writer, not {found:?}") };
    let [call] = &writer.calls[..] else { panic!("one open call, not {:?}", writer.calls) };
    assert_eq!((call.call, call.tool.as_str()), (calls[1], "write"));
    assert_eq!(call.caller, Caller::owner("main"));
    assert_eq!(call.effects, Effects::of(&[Effect::Read, Effect::Write]));
    assert_eq!(call.writes, [FilePath::new("a.txt")]);
    assert_eq!(call.changes, [[created("a.txt")]]);
}

#[test]
fn an_abandoned_writer_is_looked_after_once() {
    let setup = Setup::new();
    let (first, second, dead) = (setup.journal(), setup.journal(), setup.journal());
    let call = setup.call();
    dead.append_blocking(vec![intent(call)], Process).unwrap();
    drop(dead);

    let claimed = first.abandoned().unwrap();
    assert_eq!(claimed.len(), 1);
    assert!(second.abandoned().unwrap().is_empty(), "somebody looks after it");
    drop(claimed);
    let claimed = second.abandoned().unwrap();
    assert_eq!(claimed.len(), 1, "nobody did");
    second.append_blocking(vec![failed(call, "interrupted")], Disk).unwrap();
    claimed.into_iter().for_each(store::Abandoned::done);
    assert!(first.abandoned().unwrap().is_empty());
    assert_eq!(first.entry(call).unwrap().unwrap().status, Status::Interrupted);
}

#[test]
fn whoever_looks_at_calls_and_whoever_looks_for_dead_writers_do_not_wait_for_each_other() {
    let setup = Setup::new();
    let (journal, dead) = (setup.journal(), setup.journal());
    dead.append_blocking(vec![intent(setup.call())], Process).unwrap();
    drop(dead);
    let (done, heard) = mpsc::channel();
    let looks: [fn(&Journal); 2] = [
        |journal| assert_eq!(journal.entries(&Filter::default()).unwrap().len(), 1),
        |journal| assert_eq!(journal.abandoned().unwrap().len(), 1),
    ];
    for look in looks {
        let (journal, done) = (journal.clone(), done.clone());
        thread::spawn(move || {
            (0..500).for_each(|_| look(&journal));
            done.send(()).unwrap();
        });
    }
    for _ in looks {
        heard.recv_timeout(Duration::from_mins(1)).unwrap();
    }
}

/// A process that is being started has copies of all descriptors until it executes its program, and with
/// them the locks. A lock that was given up must be free all the same.
#[test]
#[expect(clippy::disallowed_methods, reason = "processes that hold copies of descriptors")]
fn locks_are_released_while_another_process_is_being_started() {
    let setup = Setup::new();
    let (journal, dead) = (setup.journal(), setup.journal());
    dead.append_blocking(vec![intent(setup.call())], Process).unwrap();
    drop(dead);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    Command::new("/bin/true").status().unwrap();
                }
            });
        }
        let found: Vec<_> = (0..1_000).map(|_| journal.abandoned().unwrap().len()).collect();
        stop.store(true, Ordering::Relaxed);
        assert_eq!(found, vec![1; 1_000]);
    });
}
