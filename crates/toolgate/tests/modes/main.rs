//! Commands as an ordinary user has them: with and without a cgroup that the user may divide, with and
//! without user namespaces. In each of the four modes everyday programs work in `exec` and in
//! `toolgate run`, a memory bomb and a fork bomb end at their limits, and the outcome names the mode.
#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "processes are started, and a failed setup should fail the test"
)]

mod groups;
mod machine;
mod packages;
mod programs;
mod toolchain;

use serde_json::{Value, json};

use self::{
    machine::{Cgroup, Machine, Namespaces},
    programs::PROGRAMS,
};

#[test]
fn namespaces_and_a_cgroup() {
    try_out(Namespaces::Allowed, Cgroup::Own, "namespaces+cgroup");
}

#[test]
fn namespaces_and_no_cgroup() {
    try_out(Namespaces::Allowed, Cgroup::None, "namespaces+watching");
}

#[test]
fn a_cgroup_and_no_namespaces() {
    try_out(Namespaces::Forbidden, Cgroup::Own, "landlock+cgroup");
}

#[test]
fn no_namespaces_and_no_cgroup() {
    try_out(Namespaces::Forbidden, Cgroup::None, "landlock+watching");
}

fn try_out(namespaces: Namespaces, cgroup: Cgroup, mode: &str) {
    packages::install_missing();
    let Some(machine) = Machine::new(namespaces, cgroup) else { return };
    for program in PROGRAMS {
        let outcome = machine.exec(program.command);
        let stdout = outcome["result"]["stdout"].as_str().unwrap_or_default();
        assert!(stdout.contains(program.prints), "{}: {outcome}", program.command);
        assert_eq!(outcome["meta"]["isolation"]["mode"], mode, "{outcome}");
    }
    match namespaces {
        Namespaces::Allowed => everything_at_once(&machine, "--keep", "toolgate: kept"),
        Namespaces::Forbidden => {
            everything_at_once(&machine, "--no-overlay", "cannot be undone");
            nothing_runs_without_an_overlay(&machine);
        }
    }
    let isolation = machine.exec("true")["meta"]["isolation"].clone();
    let is_full = namespaces == Namespaces::Allowed;
    assert_eq!(isolation["level"], if is_full { "full" } else { "reduced" });
    let missing = isolation["missing"].as_array().map_or(0, Vec::len);
    assert_eq!(missing == 0, mode == "namespaces+cgroup", "{isolation}");
    memory_bomb(&machine);
    fork_bomb(&machine);
    doctor_and_tools(&machine, mode);
    match namespaces {
        Namespaces::Allowed => full_is_said(&machine),
        Namespaces::Forbidden => {
            reduced_is_said(&machine);
            full_can_be_demanded(&machine);
        }
    }
}

/// The same programs in one `toolgate run` with this option, at the end of which `said` is said.
fn everything_at_once(machine: &Machine, option: &str, said: &str) {
    let all: Vec<_> = PROGRAMS.iter().filter(|it| it.is_quick).map(|it| it.command).collect();
    let script = all.join(" && ");
    let output = machine.toolgate(&["run", option, "--", "/bin/sh", "-c", &script]);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    for program in PROGRAMS.iter().filter(|it| it.is_quick) {
        assert!(stdout.contains(program.prints), "{}: {stdout}\n{stderr}", program.command);
    }
    assert!(stderr.contains(said), "{stderr}");
}

fn nothing_runs_without_an_overlay(machine: &Machine) {
    let output = machine.toolgate(&["run", "--", "/bin/sh", "-c", "touch forbidden"]);
    let stderr = text(&output.stderr);
    assert!(!output.status.success() && stderr.contains("--no-overlay"), "{stderr}");
    assert!(!machine.workspace.join("forbidden").exists());
}

fn memory_bomb(machine: &Machine) {
    let bomb = "python3 -c 'x = []\nwhile len(x) < 6000: x.append(bytearray(b\"1\" * (1 << 20)))'; echo survived";
    let said = machine.exec(bomb).to_string();
    // The kernel may end the one process only; the shell then goes on and says how that ended.
    assert!(said.contains("memory") || said.contains("Killed"), "{said}");
}

fn fork_bomb(machine: &Machine) {
    let bomb = "python3 -c '
import os, time
count = 0
try:
    while count < 3000:
        if os.fork() == 0:
            time.sleep(60)
        count += 1
except BlockingIOError:
    pass
print(\"forked\", count)'";
    let outcome = machine.exec(bomb);
    let stdout = outcome["result"]["stdout"].as_str().unwrap_or_default();
    let count = stdout.trim().strip_prefix("forked ").and_then(|count| count.parse().ok());
    let count: u32 = count.unwrap_or_else(|| panic!("{outcome}"));
    // With a cgroup two processes of the sandbox's own fit in besides.
    assert!((1..=machine::PROCESSES + 2).contains(&count), "{outcome}");
    assert_eq!(machine.processes_left(), Vec::<String>::new());
}

fn doctor_and_tools(machine: &Machine, mode: &str) {
    let doctor = text(&machine.toolgate(&["doctor"]).stdout);
    assert!(doctor.contains(mode), "{doctor}");
    assert_eq!(machine.tools().0["exec"], "available");
    assert!(machine.toolgate(&["permissions", "grant", "exec"]).status.success());
}

/// Calls `exec` with nobody there to agree; gives the outcome, and what was said besides.
fn call_unasked(machine: &Machine) -> (Value, String) {
    let call = machine.toolgate(&["call", "exec", r#"{"command":"touch asked"}"#]);
    (serde_json::from_slice(&call.stdout).unwrap(), text(&call.stderr))
}

fn full_is_said(machine: &Machine) {
    let (outcome, stderr) = call_unasked(machine);
    assert_eq!(outcome["meta"]["effects"], json!(["write"]), "{outcome}");
    assert!(!stderr.contains("reduced"), "{stderr}");
}

/// Without an overlay a command acts, so that a person is asked.
fn reduced_is_said(machine: &Machine) {
    let (outcome, stderr) = call_unasked(machine);
    assert_eq!(outcome["meta"]["effects"], json!(["act"]), "{outcome}");
    assert_eq!(outcome["error_type"], "permission_denied", "{outcome}");
    assert!(stderr.contains("isolation is reduced"), "{stderr}");
    assert!(!machine.workspace.join("asked").exists());
    let notes = machine.exec("touch agreed")["result"]["notes"].to_string();
    assert!(notes.contains("isolation is reduced") && notes.contains("an overlay"), "{notes}");
}

/// A command that cannot run is refused before anybody is asked, with the reason.
fn full_can_be_demanded(machine: &Machine) {
    machine.configure("[tools.sandbox]\nminimum = \"full\"\n");
    let (tools, reasons) = machine.tools();
    assert_eq!(tools["exec"], "unavailable");
    assert!(reasons.contains("user namespaces"), "{reasons}");
    let outcome = machine.exec("touch refused");
    assert_eq!(outcome["error_type"], "tool_not_available", "{outcome}");
    assert!(outcome["message"].to_string().contains("user namespaces"), "{outcome}");
    assert!(!machine.workspace.join("refused").exists());
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
