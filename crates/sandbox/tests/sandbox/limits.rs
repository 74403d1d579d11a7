//! What a command may use up.

use std::{fs, time::Duration};

use libtest_mimic::Trial;
use sandbox::{Changes, EndedBy, Job, Limits, Scratch};

use crate::helper::{Folder, inside, is_counted, run, shell, start, trial};

const MIB: u64 = 1 << 20;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("processes_are_limited", processes_are_limited),
        trial("a_fork_bomb_is_held_and_ends", a_fork_bomb_is_held_and_ends),
        trial("memory_is_limited", memory_is_limited),
        trial("memory_in_files_is_limited", memory_in_files_is_limited),
        trial("memory_of_many_is_limited", memory_of_many_is_limited),
        trial("folders_in_memory_are_limited", folders_in_memory_are_limited),
        trial("writing_is_limited", writing_is_limited),
        trial(
            "writing_by_many_short_processes_is_limited",
            writing_by_many_short_processes_is_limited,
        ),
        trial("the_size_of_a_file_is_limited", the_size_of_a_file_is_limited),
        trial("open_files_are_limited", open_files_are_limited),
        trial("processor_time_is_limited", processor_time_is_limited),
        trial(
            "limits_of_one_call_are_not_those_of_the_next",
            limits_of_one_call_are_not_those_of_the_next,
        ),
    ]
}

fn limited(memory: u64, processes: u32, job: Job) -> Job {
    let limits = Limits { memory_bytes: memory * MIB, processes, ..Limits::default() };
    Job { limits, ..job }
}

async fn processes_are_limited() {
    for kind in ["processes", "threads"] {
        let ran = run(limited(1024, 20, inside(&["fill", kind]))).await;
        let count: u32 = ran.stdout.trim().parse().unwrap_or_else(|_| panic!("{ran:?}"));
        assert!((1..20).contains(&count), "{kind}: {count}");
    }
}

async fn a_fork_bomb_is_held_and_ends() {
    let job = limited(256, 24, shell("bomb() { bomb | bomb & }; bomb; sleep 60"));
    let mut process = start(job).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    process.kill().unwrap();
    let exit = process.wait().await.unwrap();
    // It may have given up before it was killed.
    assert!(
        matches!(exit.ended_by, EndedBy::Killed | EndedBy::Itself | EndedBy::Memory),
        "{exit:?}"
    );
}

async fn memory_is_limited() {
    let ran = run(limited(96, 8, inside(&["fill", "memory for a while", "1024"]))).await;
    assert_eq!((ran.exit.ended_by, ran.exit.signal), (EndedBy::Memory, Some(9)), "{ran:?}");
    assert!(!is_counted() || ran.exit.memory_kills >= 1);
}

async fn memory_in_files_is_limited() {
    for kind in ["memfd", "shared"] {
        let ran = run(limited(96, 8, inside(&["fill", kind, "512"]))).await;
        if is_counted() {
            let refused = ran.exit.ended_by == EndedBy::Memory || ran.exit.code == Some(3);
            assert!(refused && !ran.stdout.starts_with("got"), "{kind}: {ran:?}");
        } else {
            assert_eq!(ran.exit.code, Some(3), "{kind}: {ran:?}");
            assert!(ran.stdout.contains("Function not implemented"), "{kind}: {ran:?}");
        }
    }
}

/// No process takes much, but together they do.
async fn memory_of_many_is_limited() {
    let one = "/attacker fill 'memory for a while' 24";
    let script = format!("for i in 1 2 3 4 5 6 7 8; do {one} & done; wait; echo done");
    let mut job = limited(128, 64, inside(&[]));
    job.argv = ["/bin/sh", "-c", &script].map(Into::into).to_vec();
    let ran = run(job).await;
    let got = ran.stdout.lines().filter(|line| line.starts_with("got")).count();
    let survived = ran.exit.ended_by == EndedBy::Itself && ran.exit.memory_kills == 0;
    assert!(!survived || got < 6, "{ran:?}");
}

async fn folders_in_memory_are_limited() {
    for folder in ["/tmp", "/dev/shm"] {
        let temp = Scratch::Memory { max_bytes: 8 * MIB };
        let script =
            format!("dd if=/dev/zero of={folder}/big bs=1M count=600 2>&1 | grep -c 'No space'");
        let ran = run(Job { temp, ..limited(256, 16, shell(&script)) }).await;
        // The second one is as large as half of what may be used, and may hit that limit first.
        let held = ran.stdout == "1\n" || ran.exit.memory_kills > 0;
        assert!(held, "{folder}: {ran:?}");
    }
    let temp = Scratch::Memory { max_bytes: MIB };
    let script =
        "i=0; while : > /tmp/$i; do i=$((i+1)); [ $i -lt 100000 ] || exit 9; done 2>/dev/null";
    let ran = run(Job { temp, ..limited(256, 16, shell(script)) }).await;
    assert_ne!(ran.exit.code, Some(9), "{ran:?}");
}

async fn writing_is_limited() {
    for overlay in [false, true] {
        let folder = Folder::new();
        let mode = if overlay { folder.overlay("layers").1 } else { Changes::Direct };
        let target = folder.workspace.display().to_string();
        let mut job = inside(&["fill", "disk", &target]);
        job.workspace = Some(folder.workspace(mode));
        job.limits = Limits { written_bytes: 48 * MIB, ..Limits::default() };
        let ran = run(job).await;
        assert_eq!(ran.exit.ended_by, EndedBy::Written, "{ran:?}");
    }
}

async fn writing_by_many_short_processes_is_limited() {
    let folder = Folder::new();
    let script = "i=0; while [ $i -lt 400 ]; do head -c 2000000 /dev/zero > $i; i=$((i+1)); done";
    let mut job = shell(script);
    job.workspace = Some(folder.workspace(folder.overlay("layers").1));
    job.cwd.clone_from(&folder.workspace);
    job.limits = Limits { written_bytes: 32 * MIB, memory_bytes: 1024 * MIB, ..Limits::default() };
    let ran = run(job).await;
    assert_eq!(ran.exit.ended_by, EndedBy::Written, "{ran:?}");
}

async fn the_size_of_a_file_is_limited() {
    let folder = Folder::new();
    let mut job = shell("head -c 5000000 /dev/zero > big; echo $?");
    job.workspace = Some(folder.workspace(Changes::Direct));
    job.cwd.clone_from(&folder.workspace);
    job.limits = Limits { file_bytes: MIB, memory_bytes: 1024 * MIB, ..Limits::default() };
    let ran = run(job).await;
    assert_ne!(ran.stdout, "0\n", "{ran:?}");
    assert!(fs::metadata(folder.workspace.join("big")).unwrap().len() <= MIB);
}

async fn open_files_are_limited() {
    let mut job = inside(&["fill", "descriptors"]);
    job.limits.open_files = 50;
    let ran = run(job).await;
    assert_eq!(ran.stdout, "47\n", "{ran:?}");
}

async fn processor_time_is_limited() {
    let mut job = inside(&["fill", "time", "1000"]);
    job.limits.cpu_percent = Some(20);
    match start(job).await {
        Ok(mut process) => {
            let exit = process.wait().await.unwrap();
            assert!(exit.cpu < Duration::from_millis(600), "{exit:?}");
        }
        // What cannot be limited is refused.
        Err(error) => assert!(!is_counted(), "{error:?}"),
    }
}

async fn limits_of_one_call_are_not_those_of_the_next() {
    for _ in 0..4 {
        let small = run(limited(48, 8, inside(&["fill", "memory for a while", "400"]))).await;
        assert_ne!(small.exit.code, Some(0), "{small:?}");
        let large = run(limited(4096, 8, inside(&["fill", "memory", "100"]))).await;
        assert_eq!(large.exit.code, Some(0), "{large:?}");
        assert_eq!(large.exit.memory_kills, 0);
    }
}
