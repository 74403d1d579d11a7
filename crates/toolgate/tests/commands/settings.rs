//! Settings about commands, and what happens where they cannot be met.

use std::process::Command;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use toolgate::Caller;

use crate::{
    alone::ALONE,
    helper::{AUTO, STARTED, Setup, error, trial},
};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_setting_that_forbids_a_command_refuses_it", a_setting_that_forbids),
        trial("limits_hold_a_command", limits_hold_a_command),
        trial("a_file_that_was_cut_off_is_not_kept", a_file_that_was_cut_off),
        trial("a_command_needs_the_permission", a_command_needs_the_permission),
        trial("a_command_that_waited_needs_the_permission_of_now", a_command_that_waited),
        Trial::test("without_cgroups_commands_are_watched", || {
            without_cgroups();
            Ok(())
        }),
    ]
}

async fn a_setting_that_forbids() {
    for (more, args, expected) in [
        ("host = \"container\"", json!({}), "exec.host"),
        ("host = \"node\"", json!({}), "exec.host"),
        ("security = \"paranoid\"", json!({}), "exec.paranoid"),
        ("security = \"safe-bin\"", json!({}), "exec.safe_bin"),
        ("ask = \"always\"", json!({}), "approval.nobody"),
        ("ask = \"smart\"", json!({"background": true}), "approval.nobody"),
        ("", json!({"host": "host"}), "exec.host"),
        ("", json!({"elevated": true}), "elevated"),
    ] {
        let setup = Setup::with(&format!("{AUTO}[tools.exec]\n{more}\n")).await;
        let mut call = json!({"command": "echo x > x"});
        call.as_object_mut().unwrap().extend(args.as_object().unwrap().clone());
        let outcome = setup.call("exec", call).await;
        assert_eq!(outcome["error_type"], "permission_denied", "{more} {args}: {outcome}");
        assert_eq!(outcome["details"]["rule"], expected, "{more} {args}: {outcome}");
        assert_eq!(setup.text("x"), None, "{more} {args}");
    }
}

async fn limits_hold_a_command() {
    for (setting, command) in [
        ("memory = \"64MB\"", "head -c 500000000 /dev/zero | tail"),
        ("processes = 8", "for i in $(seq 50); do sleep 5 & done; wait"),
        ("open_files = 32", "for i in $(seq 3 60); do eval \"exec $i< /dev/null\" || exit 1; done"),
        ("written = \"1MB\"", "head -c 5000000 /dev/zero > big"),
    ] {
        let setup = Setup::with(&format!("{AUTO}[tools.sandbox]\n{setting}\n")).await;
        let outcome = setup.call("exec", json!({"command": command, "timeout": 30})).await;
        assert!(is_held(&outcome), "{setting}: {outcome}");
        assert_eq!(setup.printed("echo fine").await, "fine\n", "{setting}");
    }
    let setup = Setup::with(&format!("{AUTO}[tools.exec]\ntimeout = \"1s\"\n")).await;
    for more in [json!({"timeout": 50}), json!({"yieldMs": 50_000})] {
        let mut args = json!({"command": "sleep 30"});
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let outcome = setup.call("exec", args).await;
        assert_eq!(outcome["error_type"], "timeout", "{outcome}");
        assert_eq!(outcome["details"]["timedOut"], true, "{outcome}");
    }
}

/// It did not do all it wanted to do.
fn is_held(outcome: &Value) -> bool {
    if outcome["error_type"] == "execution_error" {
        return outcome["details"]["killedFor"].is_string();
    }
    let result = &outcome["result"];
    let said = result["stderr"].as_str().unwrap_or_default();
    outcome["status"] == "success"
        && result["timedOut"] == false
        && (result["exitCode"] != 0 || said.contains("fork"))
}

/// Whatever the command makes of it: a shell goes on, and some programs ignore the error.
async fn a_file_that_was_cut_off() {
    let setup = Setup::with(&format!("{AUTO}[tools.sandbox]\nwritten = \"1MB\"\n")).await;
    for command in [
        "echo so far; head -c 5000000 /dev/zero > big; true",
        "echo so far; mkdir -p new/deep; (cd new/deep && head -c 5000000 /dev/zero > big); exit 0",
    ] {
        let outcome = setup.call("exec", json!({"command": command})).await;
        assert_eq!(outcome["error_type"], "execution_error", "{outcome}");
        let details = &outcome["details"];
        assert_eq!(details["killedFor"], "written", "{outcome}");
        assert!(details["stdout"].as_str().unwrap().starts_with("so far"), "{outcome}");
        assert!(details["notes"].to_string().contains("dropped"), "{outcome}");
        assert!(setup.text("big").is_none() && !setup.path("new").exists());
    }
    let outcome = setup.call("exec", json!({"command": "head -c 900000 /dev/zero > big"})).await;
    assert_eq!(outcome["status"], "success", "{outcome}");
}

async fn a_command_needs_the_permission() {
    let stranger = Caller::owner("stranger");
    let setup = Setup::with("").await;
    let outcome = setup.call_as(&stranger, "exec", json!({"command": "echo x > x"})).await;
    assert!(error(&outcome).contains("permission `exec`"), "{outcome}");
    assert_eq!(setup.text("x"), None);
    // Where nobody is ever asked, what policy gives runs.
    let setup = Setup::new().await;
    let outcome = setup.call_as(&stranger, "exec", json!({"command": "echo x > y"})).await;
    assert_eq!(outcome["status"], "success", "{outcome}");
    let member = Caller::member("bo", "main");
    let outcome = setup.call_as(&member, "exec", json!({"command": "echo x > x"})).await;
    assert_eq!(outcome["status"], "error", "{outcome}");
    assert_eq!(setup.text("x"), None);
}

/// It was let in where nobody is asked; by the time it is its turn, somebody is.
async fn a_command_that_waited() {
    let setup = Setup::with(&format!("{AUTO}[limits]\ncalls_per_agent = 1\n")).await;
    let stranger = Caller::owner("stranger");
    let command = format!("{STARTED}; sleep 1000");
    let first = setup.begin(&stranger, json!({"command": command})).await;
    let waiting = setup.call_as(&stranger, "exec", json!({"command": "echo x > x"}));
    let change = async {
        // Time to get in line; whether it does or comes later, it must not run.
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        setup.gate.reload(config::parse("", "toolgate.toml").unwrap()).unwrap();
        first.drop_it();
    };
    let (outcome, ()) = tokio::join!(waiting, change);
    assert_eq!(outcome["error_type"], "permission_denied", "{outcome}");
    assert_eq!(setup.text("x"), None);
}

/// Where no cgroup can be seen, commands are watched.
fn without_cgroups() {
    let own = std::env::current_exe().unwrap();
    let script =
        format!("mount -t tmpfs none /sys/fs/cgroup && exec '{}' {ALONE} reduced", own.display());
    let output = Command::new("unshare").args(["--mount", "sh", "-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("unshare failed") || said.contains("mount:") {
        println!("skipped: nobody may hide the cgroups here: {said}");
        return;
    }
    assert!(output.status.success(), "{said}");
}

/// The process that sees no cgroup.
pub(crate) async fn reduced() {
    for setting in ["", "minimum = \"full\"", "minimum = \"reduced\""] {
        let setup = Setup::with(&format!("{AUTO}[tools.sandbox]\n{setting}\n")).await;
        for more in [json!({}), json!({"background": true})] {
            let mut args = json!({"command": "echo x > x"});
            args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let outcome = setup.call("exec", args).await;
            assert_eq!(outcome["status"], "success", "{setting}: {outcome}");
            let isolation = &outcome["meta"]["isolation"];
            assert_eq!(isolation["mode"], "namespaces+watching", "{outcome}");
            assert_eq!(isolation["level"], "full", "{outcome}");
        }
    }
    // A limit that nobody could hold is refused, with the reason.
    let setup = Setup::with(&format!("{AUTO}[tools.sandbox]\ncpu_percent = 50\n")).await;
    let outcome = setup.call("exec", json!({"command": "echo y > y"})).await;
    let said = error(&outcome);
    assert!(said.starts_with("tool_not_available: "), "{said}");
    assert!(said.contains("cpu_percent") && said.contains("toolgate doctor"), "{said}");
    assert_eq!(setup.text("y"), None);
}
