//! Disks that take nothing more: full, without inodes, read-only.
//!
//! The tests run in a mount namespace of their own, on a small file system in memory.

use std::{
    env,
    fs::{self, File},
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command},
    thread,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{helper::Machine, http};

/// Set in the namespace.
const INSIDE: &str = "DISK_TEST_INSIDE";
/// A page of the file system: with each one less, another write of a call fails.
const PAGE: u64 = 4096;
/// No call of these needs more.
const MAX_PAGES: u64 = 200;

const CONFIG: &str =
    "[tools.by_channel.http]\nalso_allow = ['exec', 'write', 'edit', 'apply_patch']\n";

/// Runs the test `name` again in a namespace where it can mount; says whether this process is the one that is to
/// run it. Where the kernel allows no namespaces, nothing is tested.
fn is_inside(name: &str) -> bool {
    if env::var_os(INSIDE).is_some() {
        return true;
    }
    let unshare = |options: &[&str], args: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(options).args(args);
        command
    };
    // Root needs no user namespace, and has `exec` in the sandbox then, too.
    let options = [&["--mount"][..], &["--user", "--map-root-user", "--mount"]];
    let works = |options: &&&[&str]| {
        unshare(options, &["true"]).output().is_ok_and(|done| done.status.success())
    };
    let Some(options) = options.iter().find(works) else { return false };
    let test = env::current_exe().unwrap();
    let args = [test.to_str().unwrap(), "--exact", name, "--nocapture"];
    let done = unshare(options, &args).env(INSIDE, "1").output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(done.status.success(), "{}{}", text(&done.stdout), text(&done.stderr));
    false
}

/// A small disk.
struct Disk {
    folder: TempDir,
}

impl Disk {
    fn new(options: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let disk = Self { folder };
        disk.mount(&format!("size=24m,{options}"));
        disk
    }

    fn mount(&self, options: &str) {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "none"])
            .arg(self.path())
            .status();
        assert!(mounted.unwrap().success());
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn filler(&self) -> PathBuf {
        self.path().join("filler")
    }

    /// Leaves no more than so many pages.
    fn leave_pages(&self, pages: u64) {
        let mut file = File::create(self.filler()).unwrap();
        let block = vec![1; 1024 * 1024];
        while file.write_all(&block).is_ok() {}
        while file.write_all(&[1; 4096]).is_ok() {}
        let length = file.metadata().unwrap().len();
        file.set_len((length / PAGE).saturating_sub(pages) * PAGE).unwrap();
    }

    /// Leaves no more than so many files to be made.
    fn leave_inodes(&self, count: usize) {
        let folder = self.filler();
        fs::create_dir(&folder).unwrap();
        let made =
            (0..10_000).take_while(|n| File::create(folder.join(n.to_string())).is_ok()).count();
        for n in 0..count.min(made) {
            fs::remove_file(folder.join(n.to_string())).unwrap();
        }
    }

    fn free_all(&self) {
        let filler = self.filler();
        if filler.is_dir() { fs::remove_dir_all(filler) } else { fs::remove_file(filler) }.unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["--lazy"]).arg(self.path()).status();
    }
}

/// A server on a small disk.
struct Served {
    machine: Machine,
    server: Child,
    base: String,
    token: String,
}

impl Served {
    fn new(disk: &Disk) -> Self {
        let machine = Machine::on(disk.path());
        fs::write(machine.path("config/toolgate/toolgate.toml"), CONFIG).unwrap();
        assert_eq!(machine.run(&["permissions", "grant", "exec"]).code, 0);
        let mut server = machine.start(&["serve", "--listen", "127.0.0.1:0"]);
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut word = |part: &str, number: usize| {
            let line = lines.find(|line| line.contains(part)).unwrap();
            line.split_whitespace().nth(number).unwrap().to_owned()
        };
        let (base, token) = (word("listens on", 3), word("Token", 1));
        thread::spawn(move || lines.count());
        let errors = BufReader::new(server.stderr.take().unwrap());
        thread::spawn(move || errors.lines().map_while(Result::ok).count());
        Self { machine, server, base, token }
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let sent = http::send((&self.base, &self.token), ("POST", path), &[], &body);
        sent.unwrap().json()
    }

    fn call(&self, tool: &str, args: &Value) -> Value {
        self.post(&format!("/v1/tools/{tool}"), args)
    }

    /// That nothing was lost and everything works.
    fn check(&self) {
        let verified = self.machine.run(&["audit", "verify"]);
        assert_eq!(verified.code, 0, "{verified:?}");
        let status =
            self.call("write", &json!({"path": "check.txt", "content": "x"}))["status"].take();
        assert_eq!(status, "success");
    }

    /// That everything can be stopped and goes on.
    fn check_emergency(&self) {
        let stopped = self.machine.run(&["emergency", "stop"]);
        assert_eq!(stopped.code, 0, "{stopped:?}");
        let refused = self.call("write", &json!({"path": "stopped.txt", "content": "x"}));
        let message = refused["message"].to_string();
        assert!(message.contains("stopped everything") || names_the_disk(&refused), "{refused}");
        assert_eq!(self.machine.content("stopped.txt"), None);
        let resumed = self.machine.run(&["emergency", "resume"]);
        assert_eq!(resumed.code, 0, "{resumed:?}");
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn names_the_disk(outcome: &Value) -> bool {
    let message = outcome["message"].to_string();
    outcome["error_type"] != "internal_error"
        && (message.contains("disk") || message.contains("No space left"))
}

/// A kind of call: what is there before, what is asked for, and what is there after.
struct Kind {
    tool: &'static str,
    args: Value,
    before: Option<&'static str>,
    after: Option<&'static str>,
}

fn kinds() -> Vec<Kind> {
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+new\n*** End Patch";
    let kind = |tool, args, before, after| Kind { tool, args, before, after };
    let mut kinds = vec![
        kind("write", json!({"path": "a.txt", "content": "new\n"}), Some("old\n"), Some("new\n")),
        kind(
            "edit",
            json!({"path": "a.txt", "oldText": "old", "newText": "new"}),
            Some("old\n"),
            Some("new\n"),
        ),
        kind("apply_patch", json!({"input": patch}), Some("old\n"), Some("new\n")),
        kind("save_note", json!({"title": "a", "content": "b"}), None, None),
        kind("add_task", json!({"title": "a"}), None, None),
    ];
    // In a user namespace there may be no sandbox, and then a person is asked.
    if fs::read_to_string("/proc/self/uid_map").unwrap().contains("4294967295") {
        let args = json!({"command": "echo new > a.txt"});
        kinds.push(kind("exec", args, Some("old\n"), Some("new\n")));
    }
    kinds
}

/// One call under one condition: it succeeds, or says what is wrong with the disk, and leaves all or nothing.
fn try_once(served: &Served, kind: &Kind, what: &str) -> bool {
    let outcome = served.call(kind.tool, &kind.args);
    let content = served.machine.content("a.txt");
    let (before, after) = (kind.before.map(str::to_owned), kind.after.map(str::to_owned));
    let exit_code = outcome["result"]["exitCode"].as_i64().unwrap_or(0);
    if exit_code != 0 {
        // The command ran, was refused by its own file system, and said so.
        assert_eq!(content, before, "{what}: {outcome}");
        return false;
    }
    if outcome["status"] == "success" {
        assert_eq!(content, after, "{what}: {outcome}");
        return true;
    }
    assert!(names_the_disk(&outcome), "{what}: {outcome}");
    assert!(content == before || content == after, "{what}: {content:?} {outcome}");
    false
}

fn sweep(options: &str, limit: u64, step: u64, leave: impl Fn(&Disk, u64)) {
    let disk = Disk::new(options);
    let served = Served::new(&disk);
    let reset = |kind: &Kind| match kind.before {
        Some(text) => served.machine.file("a.txt", text),
        None => drop(fs::remove_file(served.machine.path("workspace/a.txt"))),
    };
    for kind in kinds() {
        reset(&kind);
        // Once with room, so that every file is there that stays.
        assert!(try_once(&served, &kind, "with room"), "{}", kind.tool);
        let mut left = 0;
        loop {
            reset(&kind);
            leave(&disk, left);
            if left == 0 {
                served.check_emergency();
                // A stop may have used the reserve.
                disk.free_all();
                leave(&disk, left);
            }
            let what = format!("{} with {left} left", kind.tool);
            let done = try_once(&served, &kind, &what);
            disk.free_all();
            if done {
                break;
            }
            left += step;
            assert!(left < limit, "{what}: never enough");
        }
        served.check();
    }
    undo(&disk, &served, (limit, step), &leave);
}

fn undo(disk: &Disk, served: &Served, (limit, step): (u64, u64), leave: &impl Fn(&Disk, u64)) {
    served.machine.file("a.txt", "old\n");
    let written = served.call("write", &json!({"path": "a.txt", "content": "new\n"}));
    let path = format!("/v1/calls/{}/undo", written["meta"]["call_id"].as_str().unwrap());
    let mut left = 0;
    loop {
        leave(disk, left);
        let outcome = served.post(&path, &Value::Null);
        disk.free_all();
        let content = served.machine.content("a.txt").unwrap();
        if outcome["status"] == "success" {
            assert_eq!(content, "old\n", "{outcome}");
            break;
        }
        assert!(names_the_disk(&outcome), "undo with {left} left: {outcome}");
        // The change may be made and only its outcome not be recorded; the answer says so then.
        let is_told = outcome["meta"]["changed"].as_array().is_some_and(|paths| !paths.is_empty());
        assert!(
            content == "new\n" || (content == "old\n" && is_told),
            "undo with {left} left: {content:?} {outcome}"
        );
        left += step;
        assert!(left < limit, "undo: never enough");
    }
    served.check();
}

#[test]
fn calls_on_a_full_disk_say_so_and_lose_nothing() {
    if is_inside("disk::calls_on_a_full_disk_say_so_and_lose_nothing") {
        sweep("nr_inodes=4k", MAX_PAGES, 2, Disk::leave_pages);
    }
}

#[test]
fn calls_without_inodes_say_so_and_lose_nothing() {
    if is_inside("disk::calls_without_inodes_say_so_and_lose_nothing") {
        sweep("nr_inodes=400", 60, 1, |disk, count| {
            disk.leave_inodes(usize::try_from(count).unwrap());
        });
    }
}

/// What new processes do on a disk with so many pages left.
fn try_new_processes(machine: &Machine, write: &Value, pages: u64) {
    for args in [
        &["call", "write", &write.to_string()][..],
        &["call", "exec", "{\"command\":\"true\"}"],
        &["serve", "--listen", "127.0.0.1:0"],
        &["history"],
    ] {
        let ran = machine.run(args);
        assert_eq!(ran.code, 2, "{args:?} with {pages} pages: {ran:?}");
        assert!(ran.stderr.contains("is full"), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains("data/toolgate"), "names the disk: {ran:?}");
    }
    let doctor = machine.run(&["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:?}");
    assert!(doctor.stdout.contains("is full"), "{doctor:?}");
    for (args, state) in [(["emergency", "stop"], "stopped"), (["emergency", "resume"], "normal")] {
        let ran = machine.run(&args);
        assert_eq!(ran.code, 0, "{args:?} with {pages} pages: {ran:?}");
        let status = machine.run(&["emergency", "status", "--json"]).json();
        assert_eq!(status["state"], state);
    }
}

#[test]
fn new_processes_on_a_full_disk_say_so_and_can_stop_everything() {
    if !is_inside("disk::new_processes_on_a_full_disk_say_so_and_can_stop_everything") {
        return;
    }
    let disk = Disk::new("nr_inodes=4k");
    let machine = Machine::on(disk.path());
    let write = json!({"path": "a.txt", "content": "x"});
    assert_eq!(machine.call("write", &write)["status"], "success");
    assert_eq!(machine.run(&["tokens", "add", "--name", "ci", "--json"]).code, 0);
    let token =
        machine.run(&["tokens", "list", "--json"]).json()[0]["id"].as_str().unwrap().to_owned();
    for pages in [0, 1, 8, 40] {
        disk.leave_pages(pages);
        try_new_processes(&machine, &write, pages);
        if pages == 40 {
            let revoked = machine.run(&["tokens", "revoke", &token]);
            assert_eq!(revoked.code, 0, "{revoked:?}");
        }
        disk.free_all();
        assert_eq!(machine.call("write", &write)["status"], "success");
    }
    let tools: Vec<_> = machine.run(&["history", "--json"]).json().as_array().unwrap().clone();
    let emergencies = tools.iter().filter(|entry| entry["tool_name"] == "emergency").count();
    assert_eq!(emergencies, 8, "the reserve lets each of them be recorded");
    assert_eq!(machine.run(&["audit", "verify"]).code, 0);
}

#[test]
fn a_read_only_disk_is_named() {
    if !is_inside("disk::a_read_only_disk_is_named") {
        return;
    }
    let disk = Disk::new("nr_inodes=4k");
    let machine = Machine::on(disk.path());
    let write = json!({"path": "a.txt", "content": "x"}).to_string();
    assert_eq!(machine.run(&["call", "write", &write]).code, 0);
    disk.mount("remount,ro");
    for args in [&["call", "write", &write][..], &["emergency", "stop"], &["serve"], &["history"]] {
        let ran = machine.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.stderr.to_lowercase().contains("read-only"), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains("data/toolgate"), "{args:?}: {ran:?}");
    }
    disk.mount("remount,rw");
    assert_eq!(machine.run(&["call", "write", &write]).code, 0);
    // Only the workspace is read-only.
    let other = Disk::new("nr_inodes=4k");
    let args = ["call", "write", &write, "--workspace", other.path().to_str().unwrap()];
    other.mount("remount,ro");
    let ran = machine.run(&args);
    assert!(ran.json()["message"].to_string().contains("read-only"), "{ran:?}");
    assert_eq!(machine.run(&["emergency", "stop"]).code, 0);
    assert_eq!(machine.run(&["emergency", "resume"]).code, 0);
    assert_eq!(machine.run(&["audit", "verify"]).code, 0);
}
