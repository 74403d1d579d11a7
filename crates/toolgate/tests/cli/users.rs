//! `users` and `tokens`: who may come to a server, and with what.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::Child,
    thread,
};

use serde_json::json;

use crate::{helper::Machine, http};

/// The commands of a guide that a person types, without what it shows.
fn commands(guide: &str) -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/");
    let text = fs::read_to_string(format!("{path}{guide}")).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix("$ toolgate "));
    // What stands behind `#` is for people.
    lines.map(|line| line.split(" #").next().unwrap().trim().to_owned()).collect()
}

/// A server, and where it is.
fn serve(machine: &Machine) -> (Child, String) {
    let mut child = machine.start(&["serve", "--listen", "127.0.0.1:0"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.find(|line| line.contains("listens on")).unwrap();
    // Whoever writes into a pipe that nobody reads fails.
    thread::spawn(move || lines.count());
    (child, line.split_whitespace().nth(3).unwrap().to_owned())
}

#[test]
fn the_guide_for_a_team_works_as_it_is_written() {
    let machine = Machine::configured("tools.approvers = ['grace']\n");
    let commands = commands("team.md");
    assert!(commands.len() > 8, "{commands:?}");
    for command in commands {
        let args: Vec<_> = command.split_whitespace().collect();
        let id = machine.run(&["tokens", "list", "--json"]).json()[0]["id"].clone();
        let short: String = id.as_str().unwrap_or_default().chars().take(8).collect();
        let args: Vec<_> =
            args.iter().map(|arg| if *arg == "4rbx02kd" { short.as_str() } else { arg }).collect();
        let ran = machine.run(&args);
        assert_eq!(ran.code, 0, "{command}: {ran:?}");
    }
}

#[test]
fn users_are_added_shown_renamed_removed_and_restored() {
    let machine = Machine::configured("tools.approvers = ['grace']\n");
    let added = machine.run(&["users", "add", "ada", "--name", "Ada", "--json"]).json();
    assert_eq!((&added["role"], &added["approver"]), (&json!("member"), &json!(false)));
    assert_eq!(machine.run(&["users", "add", "grace"]).code, 0);
    let list = machine.run(&["users", "list", "--json"]).json();
    let ids: Vec<_> = list.as_array().unwrap().iter().map(|user| &user["id"]).collect();
    assert_eq!(ids, ["owner", "ada", "grace"]);
    assert_eq!(list[2]["approver"], true);
    let table = machine.run(&["users", "list"]).stdout;
    assert!(table.contains("grace  grace  member  yes"), "{table}");
    assert!(machine.run(&["users", "show", "ada"]).stdout.contains("name      Ada\n"));
    let renamed = machine.run(&["users", "rename", "ada", "Ada L.", "--json"]).json();
    assert_eq!(renamed["name"], "Ada L.");
}

#[test]
fn what_is_wrong_with_a_user_or_a_token_is_said() {
    let machine = Machine::new();
    assert_eq!(machine.run(&["users", "add", "ada"]).code, 0);
    for (args, expected) in [
        (&["users", "show", "adda"][..], "there is no user `adda`; did you mean `ada`?"),
        (&["users", "remove", "zoe"], "there is no user `zoe`; `toolgate users add` adds one"),
        (&["users", "remove", "owner"], "the owner cannot be removed"),
        (&["users", "add", "ADA"], "there is a user `ada` already; choose another id"),
        (&["users", "add", "a b"], "`a b` is no name of a user"),
        (
            &["tokens", "add", "--name", "x", "--user", "adda"],
            "there is no user `adda`; did you mean `ada`?",
        ),
        (
            &["tokens", "add", "--name", "x", "--agent", "main", "--scope", "answer"],
            "a token that is for certain agents cannot have the scope `answer`",
        ),
        (&["tokens", "add", "--name", "x", "--scope", "cal"], "did you mean `call`?"),
    ] {
        let ran = machine.run(args);
        assert_ne!(ran.code, 0, "{args:?}");
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn one_acts_for_a_user_there_is() {
    let machine = Machine::new();
    for user in ["ada", "bob"] {
        assert_eq!(machine.run(&["users", "add", user]).code, 0);
    }
    assert_eq!(machine.run(&["users", "remove", "bob"]).code, 0);
    let call = ["call", "get_current_time", "{}"];
    let undo = ["undo", "019a2b6e-0000-7000-8000-000000000000"];
    for (command, rest) in [
        (&call[..1], &call[1..]),
        (&["run"], &["--", "true"]),
        (&["chat"], &["--message", "hello"]),
        (&undo[..1], &undo[1..]),
        (&["mcp"], &[]),
        (&["check", "call"], &["{}"]),
        (&["check", "path"], &["a.txt"]),
        (&["policy", "show"], &[]),
        (&["policy", "explain"], &["read"]),
    ] {
        for (user, expected) in [
            ("adda", "there is no user `adda`; did you mean `ada`?"),
            ("Ada", "there is no user `Ada`; did you mean `ada`?"),
            ("zoe", "there is no user `zoe`; `toolgate users add` adds one"),
            ("bob", "user `bob` was removed"),
        ] {
            let ran = machine.run(&[command, &["--user", user], rest].concat());
            assert_eq!(ran.code, 2, "{command:?} {user}: {ran:?}");
            assert!(ran.stderr.contains(expected), "{command:?} {user}: {ran:?}");
        }
    }
    for (user, role) in [("ada", "member"), ("owner", "owner")] {
        assert_eq!(machine.run(&[&call[..], &["--user", user]].concat()).code, 0);
        let last = &machine.run(&["history", "--json"]).json()[0];
        assert_eq!((&last["user_id"], &last["role"]), (&json!(user), &json!(role)));
    }
    assert_eq!(machine.run(&["history", "--json"]).json().as_array().unwrap().len(), 2);
}

#[test]
fn tokens_have_scopes_and_end_with_their_user_who_may_come_back() {
    let machine = Machine::new();
    assert_eq!(machine.run(&["users", "add", "ada", "--name", "Ada L."]).code, 0);
    let token = ["tokens", "add", "--name", "x", "--scope", "call", "--scope", "elicit", "--json"];
    let own = machine.run(&token).json();
    assert_eq!(own["scopes"], json!(["call", "elicit"]));
    let hers = machine.run(&[&token[..], &["--user", "ada"]].concat());
    assert!(hers.stderr.contains("only for the owner"), "{}", hers.stderr);
    let hers = ["tokens", "add", "--name", "x", "--user", "ada", "--scope", "call"];
    assert_eq!(machine.run(&hers).code, 0);
    let reads = machine.run(&["tokens", "add", "--name", "reads", "--read-only", "--json"]).json();
    assert_eq!(reads["scopes"], json!([]));
    let table = machine.run(&["tokens", "list"]).stdout;
    assert!(table.contains("call, elicit") && table.contains("only reads"), "{table}");
    let removed = machine.run(&["users", "remove", "ada", "--json"]).json();
    assert_eq!(removed, json!({"id": "ada", "tokens": 1, "questions": 0}));
    let ran = machine.run(&["users", "add", "ada"]);
    assert!(ran.stderr.contains("let them come back with `toolgate users restore`"), "{ran:?}");
    let back = machine.run(&["users", "restore", "ada", "--json"]).json();
    assert_eq!((&back["name"], &back["removed_at"]), (&json!("Ada L."), &json!(null)));
}

#[test]
fn who_is_revoked_on_the_command_line_is_out_of_a_running_server() {
    let machine = Machine::new();
    let (mut child, base) = serve(&machine);
    assert_eq!(machine.run(&["users", "add", "ada"]).code, 0);
    let add = ["tokens", "add", "--name", "x", "--user", "ada", "--json"];
    for by in ["token", "user"] {
        let token = machine.run(&add).json();
        let (id, secret) = (token["id"].as_str().unwrap(), token["token"].as_str().unwrap());
        let ask = || http::send((&base, secret), ("GET", "/v1/tools"), &[], "").unwrap().status;
        assert_eq!(ask(), 200);
        let ran = match by {
            "token" => machine.run(&["tokens", "revoke", id]),
            _ => machine.run(&["users", "remove", "ada"]),
        };
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(ask(), 401, "{by}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
