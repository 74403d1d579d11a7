//! Commands that fill disks, nest folders without end, and look for what is not theirs.

use std::{
    fs,
    os::unix::fs::{MetadataExt, symlink},
    path::Path,
    time::{Duration, Instant},
};

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::helper::{Setup, error, has, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("folders_nested_without_end_do_not_end_the_process", nested),
        trial("sparse_files_cost_no_more_than_their_data", sparse),
        trial("hashing_ends_when_the_call_does", hashing_ends),
        trial("what_children_write_is_counted_once", counted_once),
        trial("the_temp_folder_of_a_session_is_bounded_over_calls", temp_is_bounded),
        trial("blocks_are_not_allocated_without_being_written", fallocate),
        trial("a_background_command_sets_no_attributes_on_the_workspace", attributes),
        trial("harmless_lines_read_no_credentials", no_credentials),
        trial("git_sees_tracked_files_as_they_are", git_sees_tracked_files),
    ]
}

const SMALL: &str = "[tools]\nask = \"auto\"\nsandbox.written = \"200MB\"\n";

/// What a folder takes of the disk.
fn usage(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let size = |path: &Path| {
        let known = path.symlink_metadata().unwrap();
        known.blocks() * 512 + if known.is_dir() { usage(path) } else { 0 }
    };
    entries.map(|entry| size(&entry.unwrap().path())).sum()
}

fn overlays(setup: &Setup) -> usize {
    setup.gate.world().settle();
    fs::read_dir(setup.beside("data/overlays")).unwrap().count()
}

async fn nested() {
    if !has("python3") {
        return;
    }
    let setup = Setup::new().await;
    let make = "python3 -c \"\nimport os\nfor i in range(5000):\n os.mkdir('d'); os.chdir('d')\n\"";
    let outcome = setup.sh(make).await;
    assert!(error(&outcome).contains("nested more than 200 deep"), "{outcome}");
    assert_eq!(setup.printed("echo still here").await, "still here\n");
    assert_eq!(overlays(&setup), 0);
}

async fn sparse() {
    let setup = Setup::new().await;
    let began = Instant::now();
    let outcome = setup.sh("for i in $(seq 100); do truncate -s 9G f$i; done; echo x >> f1").await;
    assert_eq!(outcome["status"], "success", "{outcome}");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert_eq!(setup.path("f7").metadata().unwrap().len(), 9 << 30);
}

/// Data, not holes, and more of it than can be hashed in time.
async fn hashing_ends() {
    let setup = Setup::with("[tools]\nask = \"auto\"\nexec.timeout = \"3s\"\n").await;
    let began = Instant::now();
    let command = "head -c 300000000 /dev/urandom > a; for i in $(seq 20); do ln a $i; done";
    let outcome = setup.sh(command).await;
    assert!(began.elapsed() < Duration::from_secs(30), "{:?} {outcome}", began.elapsed());
}

async fn counted_once() {
    let setup = Setup::with(SMALL).await;
    let outcome = setup.sh("head -c 150000000 /dev/zero > q; sleep 0.6; sync q; sleep 0.6").await;
    assert_eq!(outcome["result"]["exitCode"], 0, "{outcome}");
    assert_eq!(setup.path("q").metadata().unwrap().len(), 150_000_000);
    // Children of children, and those that nobody waits for.
    let command =
        "for i in 1 2 3; do (head -c 40000000 /dev/zero > r$i; sleep 0.3); done; sleep 0.5";
    let outcome = setup.sh(command).await;
    assert_eq!(outcome["result"]["exitCode"], 0, "{outcome}");
}

async fn temp_is_bounded() {
    let setup = Setup::with(SMALL).await;
    let mut notes = String::new();
    for number in 0..6 {
        let command = format!("head -c 90000000 /dev/zero > /tmp/z{number}");
        notes += &setup.sh(&command).await["result"]["notes"].to_string();
        let temp = setup.temp(&setup.caller, "");
        assert!(usage(&temp) <= 200_000_000, "{number}: {}", usage(&temp));
    }
    assert!(notes.contains("was emptied"), "{notes}");
    // The command that is ended for it leaves nothing either.
    for number in 0..3 {
        setup.sh(&format!("head -c 2000000000 /dev/zero > /tmp/y{number}; sleep 1")).await;
        let temp = setup.temp(&setup.caller, "");
        assert!(usage(&temp) <= 200_000_000, "{number}: {}", usage(&temp));
    }
}

async fn fallocate() {
    let setup = Setup::with(SMALL).await;
    for form in ["-n -l 2G", "-l 150M", "-z -l 150M", "-n -z -l 2G"] {
        let command = format!("touch /tmp/z; fallocate {form} /tmp/z; echo $?");
        let printed = setup.sh(&command).await;
        assert_ne!(printed["result"]["stdout"], "0\n", "{form}: {printed}");
    }
    assert!(usage(&setup.temp(&setup.caller, "")) < 1_000_000);
    // A hole can be made.
    let holes = "head -c 1000000 /dev/zero > /tmp/h && fallocate -p -l 500000 /tmp/h && echo done";
    assert_eq!(setup.printed(holes).await, "done\n");
}

async fn attributes() {
    if !has("python3") {
        return;
    }
    let setup = Setup::new().await;
    setup.file("a.txt", "content");
    let command = "python3 -c \"\nimport os\nfor n in ('user.overlay.metacopy', 'user.x'):\n try:\n  \
                   os.setxattr('a.txt', n, b'y'); print('set', n)\n except OSError as e:\n  print(e.errno)\n\"";
    let outcome = setup.call("exec", json!({"command": command, "background": true})).await;
    let id = outcome["result"]["processId"].clone();
    let mut last = Value::Null;
    for _ in 0..500 {
        last = setup.call("process", json!({"action": "log", "processId": id})).await;
        if last.to_string().contains("95") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(last.to_string().contains("95") && !last.to_string().contains("set user"), "{last}");
    assert_eq!(setup.printed("cat a.txt").await, "content");
}

const SECRETS: &[&str] = &[
    ".env",
    "sub/deep/er/.env.production",
    "sub/.ENV",
    "keys/server.pem",
    ".aws/config",
    "web/.npmrc",
    "a b/id_rsa",
];

async fn no_credentials() {
    let root = tempfile::tempdir_in("/var/tmp").unwrap();
    let setup = Setup::with(&format!(
        "[tools]\nask = \"auto\"\nexec.security = \"paranoid\"\nfs.roots = [\"{}\"]\n",
        root.path().display()
    ))
    .await;
    for path in SECRETS {
        setup.file(path, "SECRET=hunter2\n");
    }
    setup.file("plain.txt", "plain\n");
    setup.file("kept/prod.txt", "SECRET=hunter2\n");
    setup.file("links/x", "x\n");
    symlink("../kept/prod.txt", setup.path("links/.env")).unwrap();
    symlink("../.env", setup.path("links/innocent")).unwrap();
    fs::hard_link(setup.path(".env"), setup.path("links/hard")).unwrap();
    fs::create_dir_all(root.path().join("in")).unwrap();
    fs::write(root.path().join("in/.env"), "SECRET=hunter2\n").unwrap();
    let root = root.path().display().to_string();
    for command in [
        "grep -r . --include=.env .",
        "grep -r . .",
        "grep -rh SECRET .",
        "cat links/innocent",
        "cat links/hard",
        "head -n 5 links/hard plain.txt",
        "cat kept/prod.txt",
        &format!("grep -r SECRET {root}"),
        "tail -n +1 plain.txt links/innocent",
    ] {
        let outcome = setup.sh(command).await;
        assert!(!outcome.to_string().contains("hunter2"), "{command}: {outcome}");
    }
    assert_eq!(setup.printed("cat plain.txt").await, "plain\n");
    // What is made later is hidden too.
    tokio::time::sleep(Duration::from_secs(3)).await;
    setup.printed("cat plain.txt").await;
    setup.file("sub/deep/.env", "SECRET=hunter2\n");
    let outcome = setup.sh("grep -r SECRET .").await;
    assert!(!outcome.to_string().contains("hunter2"), "{outcome}");
}

async fn git_sees_tracked_files() {
    if !has("git") {
        return;
    }
    let setup = Setup::new().await;
    setup.file("test/server.pem", "not secret\n");
    setup.file("a.txt", "a\n");
    setup
        .printed("git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm x")
        .await;
    setup.file(".env", "SECRET=hunter2\n");
    let status = setup.printed("git status --porcelain").await;
    assert!(!status.contains("server.pem"), "{status}");
}
