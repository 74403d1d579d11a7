//! What keeps Toolgate running: configuration, `doctor`, `completions`, `man`, `tour`.

use std::fs;

use serde_json::{Value, json};

use crate::helper::Machine;

#[test]
fn errors_in_the_configuration_name_file_and_line() {
    let machine = Machine::configured("[tools]\nask = \"never\"\nalow = []\n");
    let file = machine.path("config/toolgate/toolgate.toml").display().to_string();
    let ran = machine.run(&["call", "get_current_time"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains(&format!("{file}:2:")), "{ran:?}");
    assert!(ran.stderr.contains(&format!("{file}:3:")), "{ran:?}");
    assert!(ran.stderr.contains("`tools.allow`"), "{ran:?}");
    let other = machine.path("other.toml");
    let ran = machine.run(&["tools", "--config", other.to_str().unwrap()]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("other.toml: cannot be read"), "{ran:?}");
}

#[test]
fn an_agent_changes_the_file_that_is_looked_at() {
    let machine = Machine::new();
    let file = machine.path("config/toolgate/toolgate.toml");
    let got = machine.call("gateway", &json!({"action": "config.get"}));
    let config = &got["result"]["config"];
    assert_eq!((&config["file"], &config["exists"]), (&json!(file), &json!(false)), "{got}");
    let args = json!({"action": "config.patch", "path": "agents.main.model", "value": "demo"});
    assert_eq!(machine.call("gateway", &args)["error_type"], "permission_denied");
    assert!(!file.exists());
    let ran = machine.run(&["call", "gateway", &args.to_string(), "--yes"]);
    assert_eq!(ran.json()["result"]["changed"]["now"], "demo", "{ran:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "[agents.main]\nmodel = \"demo\"\n");
    let restart = json!({"action": "restart"}).to_string();
    let ran = machine.run(&["call", "gateway", &restart, "--yes"]);
    let message = ran.json()["message"].to_string();
    assert!(message.contains("there is nothing to restart here"), "{message}");
}

#[test]
fn data_goes_where_it_is_told() {
    let machine = Machine::new();
    let data = machine.path("elsewhere");
    let ran = machine.run(&["--data", data.to_str().unwrap(), "call", "get_current_time"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(data.join("journal.db").exists());
    assert!(!machine.path("data").exists());
}

fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap()
}

#[test]
fn the_doctor_finds_nothing_wrong_with_a_new_machine_and_leaves_it_so() {
    let machine = Machine::new();
    let ran = machine.run(&["doctor", "--json"]);
    let report = ran.json();
    assert_eq!((ran.code, &report["ok"]), (0, &json!(true)), "{report}");
    assert_eq!(check(&report, "terminal")["status"], "warning");
    assert!(!machine.path("data").exists());
    machine.call("get_current_time", &json!({}));
    let report = machine.run(&["doctor", "--json"]).json();
    assert_eq!(check(&report, "journal")["status"], "ok");
    assert_eq!(check(&report, "dead processes")["status"], "ok");
}

#[test]
fn the_doctor_looks_at_the_folder_of_an_agent_that_was_made() {
    let machine = Machine::new();
    let folder = machine.path("workspace/own");
    fs::create_dir(&folder).unwrap();
    assert_eq!(machine.run(&["agents", "add", "scribe", "--workspace", "own"]).code, 0);
    for (agent, expected) in [("scribe", folder), ("main", machine.path("workspace"))] {
        let report = machine.run(&["doctor", "--json", "--agent", agent]).json();
        let shown = expected.canonicalize().unwrap().display().to_string();
        assert_eq!(check(&report, "workspace")["message"], shown, "{agent}");
    }
}

#[test]
fn the_doctor_finds_what_is_broken() {
    let machine = Machine::configured("[tools]\nask = \"never\"\n");
    let ran = machine.run(&["doctor", "--json"]);
    assert_eq!((ran.code, &ran.json()["ok"]), (1, &json!(false)));
    let message = check(&ran.json(), "configuration")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("toolgate.toml:2:"), "{message}");
    let shown = machine.run(&["doctor", "--workspace", "/nowhere"]).stdout;
    assert!(shown.contains("problem  workspace"), "{shown}");

    let machine = Machine::new();
    fs::create_dir_all(machine.path("data/toolgate")).unwrap();
    fs::write(machine.path("data/toolgate/journal.db"), "not a database").unwrap();
    let ran = machine.run(&["doctor", "--json"]);
    assert_eq!(ran.code, 1);
    assert_eq!(check(&ran.json(), "journal")["status"], "problem");
}

#[test]
fn completions_and_man_pages_name_every_command() {
    let machine = Machine::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = machine.run(&["completions", shell]).stdout;
        assert!(script.contains("approvals"), "{shell}");
    }
    let page = machine.run(&["man"]).stdout;
    let folder = machine.path("man");
    assert_eq!(machine.run(&["man", "--output", folder.to_str().unwrap()]).code, 0);
    for command in ["call", "tools", "check", "approvals", "history", "undo", "audit", "doctor"] {
        assert!(page.contains(&format!("toolgate\\-{command}")), "{command}");
        assert!(folder.join(format!("toolgate-{command}.1")).exists(), "{command}");
    }
}

#[test]
fn the_tour_plays_to_its_end_and_leaves_nothing() {
    let machine = Machine::configured("[tools]\nallow = []\n");
    let ran = machine.run(&["tour"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    for part in ["$ toolgate call write", "path_not_allowed", "+Grace", "$ toolgate undo", "ok: "] {
        assert!(ran.stdout.contains(part), "{part}");
    }
    assert!(ran.stdout.contains("What next"));
    assert_eq!(fs::read_dir(machine.path("temp")).unwrap().count(), 0);
    assert!(!machine.path("data").exists());
}

#[test]
fn a_clock_that_went_back_does_not_bring_back_what_has_expired() {
    let machine = Machine::new();
    let run = |args: &[&str]| {
        let ran = machine.run(args);
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        ran
    };
    let call = || machine.call("get_current_time", &json!({}))["meta"]["call_id"].to_string();
    let clock = || {
        let found = machine.run(&["doctor", "--json"]).json();
        let checks = found["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["name"] == "clock").unwrap()
    };
    let first = call();
    assert_eq!(clock()["status"], "ok");
    // As if a process had run a day from now: the clock was set back since.
    let file = machine.path("data/toolgate/clock");
    let mark = fs::read_to_string(&file).unwrap();
    let latest: u64 = mark.split(' ').next().unwrap().parse().unwrap();
    let later = latest + 24 * 60 * 60 * 1_000_000_000;
    fs::write(&file, format!("{later:020} {later:020} {0:020} {0:020}\n", 0)).unwrap();
    let second = call();
    assert!(second > first, "{first} {second}");
    let found = clock();
    assert_eq!(found["status"], "warning");
    assert!(found["fix"].to_string().contains("doctor --accept-clock"), "{found}");
    let made = run(&["tokens", "add", "--name", "ci", "--expires", "1h", "--json"]).json();
    let expires = made["expires_at"].as_str().unwrap().to_owned();
    run(&["doctor", "--accept-clock"]);
    assert_eq!(clock()["status"], "ok");
    let made = run(&["tokens", "add", "--name", "ci2", "--expires", "1h", "--json"]).json();
    assert!(made["expires_at"].as_str().unwrap() < expires.as_str(), "{made} {expires}");
}

#[test]
fn nothing_runs_on_a_damaged_journal_until_it_is_repaired() {
    let machine = Machine::new();
    let write = json!({"path": "a.txt", "content": "x"}).to_string();
    let call = || machine.run(&["call", "write", &write]);
    assert_eq!(call().code, 0);
    let journal = machine.path("data/toolgate/journal.db");
    for suffix in ["-wal", "-shm"] {
        drop(fs::remove_file(machine.path(&format!("data/toolgate/journal.db{suffix}"))));
    }
    fs::write(&journal, "no database at all".repeat(500)).unwrap();
    fs::remove_file(machine.path("workspace/a.txt")).unwrap();
    for args in [&["call", "write", &write][..], &["serve"], &["audit", "verify"]] {
        let ran = machine.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.stderr.contains("journal.db"), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains("toolgate audit repair"), "{args:?}: {ran:?}");
    }
    assert_eq!(machine.content("a.txt"), None);
    let doctor = machine.run(&["doctor"]);
    assert!(doctor.code == 1 && doctor.stdout.contains("toolgate audit repair"), "{doctor:?}");
    assert_eq!(machine.run(&["emergency", "stop"]).code, 0);
    assert_eq!(machine.run(&["emergency", "resume"]).code, 0);
    let repaired = machine.run(&["audit", "repair", "--json"]);
    assert_eq!(repaired.code, 0, "{repaired:?}");
    let set_aside = repaired.json()["set_aside"].as_str().unwrap().to_owned();
    assert!(fs::exists(set_aside).unwrap());
    assert_eq!(call().code, 0);
    assert_eq!(machine.run(&["audit", "verify"]).code, 0);
}
