//! path-017: folders and links that are swapped while they are used.

use std::{
    fs,
    io::Read,
    ops::ControlFlow,
    os::unix::fs::symlink,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use tool::{FileKind, FilePath, Ignored, Live, Walk};

use crate::helper::{SECRET, Setup};

const ROUNDS: usize = 1_000;

#[test]
fn path_017_no_swap_leads_outside() {
    let setup = Setup::new();
    setup.put("d/secret", "inside");
    setup.put("d/sub/secret", "inside");
    fs::create_dir(setup.beside("outside/sub")).unwrap();
    fs::write(setup.beside("outside/sub/secret"), SECRET).unwrap();
    symlink(setup.beside("outside"), setup.path("l")).unwrap();
    let (done, escapes) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let (d, l) = (setup.path("d"), setup.path("l"));
                renameat_with(CWD, d, CWD, l, RenameFlags::EXCHANGE).unwrap();
            }
        });
        scope.spawn(|| walks(&setup, &done, &escapes));
        for round in 0..ROUNDS {
            let path = if round % 2 == 0 { "d/secret" } else { "d/sub/secret" };
            escapes.fetch_add(usize::from(setup.read(path) == SECRET), Ordering::Relaxed);
            if round % 10 == 0 {
                setup.write("d/sub/written", &round.to_string());
                setup.write("d/made/written", &round.to_string());
                setup.delete("d/made/written");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(escapes.into_inner(), 0);
    let mut outside: Vec<_> = fs::read_dir(setup.beside("outside"))
        .unwrap()
        .chain(fs::read_dir(setup.beside("outside/sub")).unwrap())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    outside.sort();
    assert_eq!(outside, ["secret", "secret", "sub"]);
    assert_eq!(fs::read_to_string(setup.beside("outside/sub/secret")).unwrap(), SECRET);
    let left = setup.everything();
    assert!(!left.iter().any(|name| name.contains("toolgate")), "{left:?}");
}

/// Goes through everything, again and again, and counts what it should not have seen.
fn walks(setup: &Setup, done: &AtomicBool, escapes: &AtomicUsize) {
    while !done.load(Ordering::Relaxed) {
        let how = Walk { depth: usize::MAX, ignored: Ignored::Shown, threads: 2 };
        let walked = setup.disk().walk(&FilePath::root(), how, &Live::default(), &|entry| {
            let mut text = String::new();
            if entry.kind() == FileKind::File
                && let Ok(mut file) = entry.open()
                && file.read_to_string(&mut text).is_ok()
            {
                escapes.fetch_add(usize::from(text == SECRET), Ordering::Relaxed);
            }
            ControlFlow::Continue(())
        });
        walked.unwrap();
    }
}
