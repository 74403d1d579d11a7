//! Going through folders.

use std::{
    fs,
    ops::ControlFlow,
    os::unix::fs::symlink,
    sync::atomic::{AtomicUsize, Ordering},
};

use tool::{FilePath, Ignored, Live, Walk};

use crate::helper::Setup;

const ORDERED: Walk = Walk { depth: usize::MAX, ignored: Ignored::Skipped, threads: 1 };

fn tree() -> Setup {
    let setup = Setup::new();
    for name in [
        "a.txt",
        "b/c.txt",
        "b/keep.log",
        "b/x.log",
        "b/deep/d.txt",
        "b.txt",
        ".hidden/e.txt",
        ".shown/f.txt",
        "target/g.txt",
        "excluded.txt",
        "nested/h.log",
        "nested/.git/config",
        ".git/HEAD",
    ] {
        setup.put(name, name);
    }
    setup.put(".gitignore", "*.log\n/target/\n!.shown/\n");
    setup.put("b/.gitignore", "!keep.log\n");
    setup.put("b/.ignore", "deep\n");
    setup.put(".git/info/exclude", "excluded.txt\n");
    symlink("/etc", setup.path("etc")).unwrap();
    setup
}

#[test]
fn leaves_out_what_ignore_files_name_and_keeps_name_order() {
    let setup = tree();
    // `nested` is a repository of its own, so what is said above it does not hold in it.
    let expected = [
        ".shown",
        ".shown/f.txt",
        "a.txt",
        "b",
        "b/c.txt",
        "b/keep.log",
        "b.txt",
        "etc",
        "nested",
        "nested/h.log",
    ];
    assert_eq!(setup.walk(".", ORDERED), expected);
    let mut parallel = setup.walk(".", Walk { threads: 4, ..ORDERED });
    parallel.sort();
    let mut sorted = expected;
    sorted.sort_unstable();
    assert_eq!(parallel, sorted);
}

#[test]
fn rules_from_above_hold_where_a_walk_begins() {
    let setup = tree();
    assert_eq!(setup.walk("b", ORDERED), ["b/c.txt", "b/keep.log"]);
    let absolute = setup.path("b").display().to_string();
    let names = ["c.txt", "keep.log"].map(|name| format!("{absolute}/{name}"));
    assert_eq!(setup.walk(&absolute, ORDERED), names);
}

#[test]
fn shows_everything_when_asked_and_no_deeper_than_asked() {
    let setup = tree();
    let all = setup.walk(".", Walk { ignored: Ignored::Shown, ..ORDERED });
    assert!(all.contains(&"target/g.txt".to_owned()) && all.contains(&".git/HEAD".to_owned()));
    assert!(all.iter().all(|path| !path.starts_with("etc/")));
    let top = setup.walk(".", Walk { depth: 1, ..ORDERED });
    assert_eq!(top, [".shown", "a.txt", "b", "b.txt", "etc", "nested"]);
    assert!(setup.walk(".", Walk { depth: 0, ..ORDERED }).is_empty());
}

#[test]
fn never_shows_the_data_folder() {
    let setup = Setup::with(|settings, dir| settings.data = dir.join("ws/state"));
    setup.put("a.txt", "a");
    for threads in [1, 3] {
        let how = Walk { ignored: Ignored::Shown, threads, depth: usize::MAX };
        assert_eq!(setup.walk(".", how), ["a.txt"]);
    }
    let how = Walk { ignored: Ignored::Shown, ..ORDERED };
    let walked = setup
        .disk()
        .walk(&FilePath::new("state"), how, &Live::default(), &|_| ControlFlow::Continue(()));
    assert_eq!(walked.unwrap_err().kind(), "file_not_found");
}

#[test]
fn sees_each_file_once_in_large_and_deep_folders() {
    let setup = Setup::new();
    for number in 0..1_000 {
        setup.put(&format!("large/{number}"), "x");
    }
    // Deeper than descriptors are kept, and longer than a path may be.
    let mut folder = setup.path("deep");
    fs::create_dir(&folder).unwrap();
    let name = "n".repeat(30);
    let mut open = rustix::fs::open(&folder, rustix::fs::OFlags::PATH, 0.into()).unwrap();
    for level in 0..700 {
        use rustix::fs::{Mode, OFlags, mkdirat, openat};
        let file = openat(&open, "z", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR);
        drop(file.unwrap());
        mkdirat(&open, &name, Mode::RWXU).unwrap();
        open = openat(&open, &name, OFlags::PATH, 0.into()).unwrap();
        folder.push(level.to_string());
    }
    for threads in [1, 2, 8] {
        let found = AtomicUsize::new(0);
        let how = Walk { threads, ..ORDERED };
        let walked = setup.disk().walk(&FilePath::root(), how, &Live::default(), &|entry| {
            found.fetch_add(usize::from(entry.open().is_ok()), Ordering::Relaxed);
            ControlFlow::Continue(())
        });
        walked.unwrap();
        assert_eq!(found.into_inner(), 1_700, "{threads} threads");
    }
}

#[test]
fn ends_when_the_visitor_or_the_caller_says_so() {
    let setup = tree();
    for threads in [1, 4] {
        let how = Walk { threads, ..ORDERED };
        let seen = AtomicUsize::new(0);
        let live = Live::default();
        let walk = |visit: &(dyn Fn() -> ControlFlow<()> + Sync)| {
            setup.disk().walk(&FilePath::root(), how, &live, &|_| visit())
        };
        walk(&|| {
            seen.fetch_add(1, Ordering::Relaxed);
            ControlFlow::Break(())
        })
        .unwrap();
        assert!(seen.into_inner() <= threads);
        live.cancellation().cancel();
        assert_eq!(walk(&|| ControlFlow::Continue(())).unwrap_err().kind(), "cancelled");
    }
}

#[test]
fn a_visitor_that_panics_does_not_hang_the_others() {
    let setup = tree();
    let walk = || setup.walk(".", Walk { threads: 4, ..ORDERED });
    let disk = setup.disk();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let how = Walk { threads: 4, ..ORDERED };
        let _ = disk.walk(&FilePath::root(), how, &Live::default(), &|_| panic!("on purpose"));
    }));
    assert!(panicked.is_err());
    assert_eq!(walk().len(), 10);
}

#[test]
fn ignore_files_made_to_recurse_do_not_end_the_process() {
    let setup = Setup::new();
    let nested = format!("{}a{}\nleft-out\n", "{".repeat(100_000), "}".repeat(100_000));
    setup.put(".gitignore", &nested);
    setup.put("left-out", "x");
    setup.put("shown", "x");
    // Each folder has rules that hold on to those of the folder above.
    let mut open = rustix::fs::open(setup.path("."), rustix::fs::OFlags::PATH, 0.into()).unwrap();
    for _ in 0..2_000 {
        use rustix::fs::{Mode, OFlags, mkdirat, openat};
        mkdirat(&open, "d", Mode::RWXU).unwrap();
        open = openat(&open, "d", OFlags::PATH, 0.into()).unwrap();
        let file = openat(&open, ".gitignore", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR);
        rustix::io::write(file.unwrap(), b"x\n").unwrap();
    }
    for threads in [1, 4] {
        let names = std::sync::Mutex::new(Vec::new());
        let how = Walk { threads, ..ORDERED };
        // On a small stack, so that little depth shows what much depth would do.
        let walked = std::thread::scope(|scope| {
            let walk = || {
                setup.disk().walk(&FilePath::root(), how, &Live::default(), &|entry| {
                    names.lock().unwrap().push(entry.path().to_string());
                    ControlFlow::Continue(())
                })
            };
            let builder = std::thread::Builder::new().stack_size(256 * 1024);
            builder.spawn_scoped(scope, walk).unwrap().join().unwrap()
        });
        walked.unwrap();
        let names = names.into_inner().unwrap();
        assert!(names.contains(&"shown".to_owned()) && !names.contains(&"left-out".to_owned()));
        assert_eq!(names.len(), 2_001);
    }
}
