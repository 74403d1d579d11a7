//! `connect`: the files of clients people use already.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::helper::{Machine, Ran};

/// A client, its file beneath `home` or `config`, what is in it before, and what must be in it then.
const CLIENTS: [(&str, &str, &str, &str); 8] = [
    (
        "claude-desktop",
        "config/Claude/claude_desktop_config.json",
        "{\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  },\n  \"theme\": \"dark\"\n}\n",
        "\"mcpServers\": {",
    ),
    (
        "claude-code",
        "home/.claude.json",
        "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"other\": {\"type\": \"stdio\", \"command\": \"x\"}\n  },\n  \"projects\": {\"/a\": {\"mcpServers\": {}}}\n}\n",
        "\"type\": \"stdio\"",
    ),
    (
        "codex",
        "home/.codex/config.toml",
        "# mine\nmodel = \"m\"  # the best\n\n[mcp_servers.other]\ncommand = \"x\"\n\n[tui]\ntheme = 'dark'\n",
        "[mcp_servers.toolgate]",
    ),
    (
        "cursor",
        "home/.cursor/mcp.json",
        "{\n\t\"mcpServers\": {\n\t\t\"a\": {\"url\": \"https://a\"}\n\t}\n}\n",
        "\t\t\"toolgate\": {",
    ),
    (
        "vscode",
        "config/Code/User/mcp.json",
        "// servers\n{\n    \"servers\": {\n        // the first\n        \"a\": {\"command\": \"a\"}, // here\n    },\n}\n",
        "\"type\": \"stdio\"",
    ),
    (
        "zed",
        "config/zed/settings.json",
        "// Zed settings\n{\n  \"theme\": \"One\", // dark\n  /* servers */\n  \"context_servers\": {\n    \"a\": {\"command\": \"a\", \"args\": []}\n  }\n}\n",
        "\"context_servers\": {",
    ),
    (
        "goose",
        "config/goose/config.yaml",
        "# goose\nGOOSE_MODEL: m\nextensions:\n  # built in\n  developer:\n    enabled: true\n    type: builtin\n    name: developer\n\n# last\nGOOSE_MODE: auto\n",
        "  toolgate:\n    args:\n      - \"mcp\"\n",
    ),
    (
        "openclaw",
        "home/.openclaw/openclaw.json",
        "{\n  // agents\n  agents: { defaults: { workspace: '~/w', }, },\n  mcp: {\n    servers: {\n      a: { command: 'a' },\n    },\n  },\n}\n",
        "\"toolgate\": {",
    ),
];

fn own() -> &'static str {
    env!("CARGO_BIN_EXE_toolgate")
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// The copies beside a file, oldest first.
fn copies(path: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> =
        fs::read_dir(path.parent().unwrap()).unwrap().map(|one| one.unwrap().path()).collect();
    all.retain(|one| one.to_string_lossy().contains("before-toolgate"));
    all.sort();
    all
}

#[test]
#[expect(clippy::cognitive_complexity, reason = "one story, told of each client")]
fn a_client_is_connected_once_and_let_go_again() {
    for (client, file, before, expected) in CLIENTS {
        let machine = Machine::new();
        let file = machine.path(file);
        put(&file, before);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let ran = machine.run(&["connect", client, "--yes"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{client}: {ran:?}");
        assert!(ran.stdout.contains(&file.display().to_string()), "{client}: {ran:?}");
        assert!(ran.stdout.contains("\n+"), "{client} shows what changes: {ran:?}");
        let after = text(&file);
        assert!(after.contains(expected), "{client}: {after}");
        assert!(after.contains(&format!("\"{}\"", own())), "{client}: {after}");
        for line in before.lines() {
            assert!(after.contains(line.trim_end_matches(',')), "{client} keeps `{line}`: {after}");
        }
        assert_eq!(mode(&file), 0o644, "{client}");
        let kept = copies(&file);
        assert_eq!(kept.iter().map(|one| text(one)).collect::<Vec<_>>(), [before], "{client}");
        let again = machine.run(&["connect", client, "--yes"]);
        assert!(again.stdout.contains("is connected already"), "{client}: {again:?}");
        assert_eq!((text(&file), copies(&file).len()), (after, 1), "{client}");
        let ran = machine.run(&["connect", client, "--remove", "--yes"]);
        assert_eq!((ran.code, text(&file).as_str()), (0, before), "{client}: {ran:?}");
        let ran = machine.run(&["connect", client, "--remove", "--yes"]);
        assert!(ran.stdout.contains("is not connected"), "{client}: {ran:?}");
        assert_eq!(machine.run(&["tokens", "list", "--json"]).json(), json!([]), "{client}");
    }
}

/// goose adds what is missing, and writes all of it in its own form.
#[test]
fn goose_is_connected_also_after_it_wrote_its_file_anew() {
    let machine = Machine::new();
    let file = machine.path("config/goose/config.yaml");
    assert_eq!(machine.run(&["connect", "goose", "--yes"]).code, 0);
    let rewritten = format!(
        "extensions:\n  toolgate:\n    enabled: true\n    type: stdio\n    name: toolgate\n    \
         description: Tools behind the Toolgate gate\n    cmd: {}\n    args:\n    - mcp\n    envs: {{}}\n    \
         env_keys: []\n    timeout: 300\n    bundled: null\n    available_tools: []\n",
        own()
    );
    put(&file, &rewritten);
    let again = machine.run(&["connect", "goose", "--yes"]);
    assert!(again.stdout.contains("is connected already"), "{again:?}");
    assert_eq!(text(&file), rewritten);
    let other = machine.run(&["connect", "goose", "--yes", "--workspace", "."]);
    assert_eq!(other.code, 0, "{other:?}");
    assert!(text(&file).contains("available_tools: []"), "{}", text(&file));
    assert_eq!(machine.run(&["connect", "goose", "--remove", "--yes"]).code, 0);
    assert_eq!(text(&file), "extensions: {}\n");
}

/// Codex refuses its whole file for a key that does not belong to the kind of server.
#[test]
fn no_key_is_left_that_is_for_the_other_way_to_reach_a_server() {
    let (machine, file) = serving("home/.codex/config.toml", "");
    let own = "[mcp_servers.toolgate]\nenabled = true\nstartup_timeout_sec = 9\n";
    for (before, more, gone) in [
        (
            "command = \"x\"\nargs = []\ncwd = \"/\"\nenv_vars = [\"A\"]\n[mcp_servers.toolgate.env]\nB = \"1\"\n",
            &["--http"][..],
            "command args cwd env_vars env",
        ),
        (
            "url = \"https://x\"\nauth = \"oauth\"\nbearer_token = \"t\"\nbearer_token_env_var = \"T\"\n\
             oauth_resource = \"r\"\nhttp_headers_helper = \"h\"\nhttp_headers = { A = \"a\" }\n\
             env_http_headers = { B = \"B\" }\n[mcp_servers.toolgate.oauth]\nclient_id = \"c\"\n",
            &[],
            "url auth bearer_token bearer_token_env_var oauth oauth_resource http_headers_helper http_headers env_http_headers",
        ),
    ] {
        put(&file, &format!("{own}{before}"));
        let ran = machine.run(&[&["connect", "codex", "--yes"], more].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        let now: toml::Table = text(&file).parse().unwrap();
        let entry = now["mcp_servers"]["toolgate"].as_table().unwrap();
        for key in gone.split(' ') {
            assert!(!entry.contains_key(key), "{key}: {}", text(&file));
        }
        assert_eq!(entry["startup_timeout_sec"].as_integer(), Some(9), "what was added stays");
    }
}

/// Claude Code's first versions had another file, which it reads still if it is there.
#[test]
fn an_old_file_of_claude_code_is_changed_if_that_is_what_it_reads() {
    let machine = Machine::new();
    let (old, usual) =
        (machine.path("home/.claude/.config.json"), machine.path("home/.claude.json"));
    let connect = || assert_eq!(machine.run(&["connect", "claude-code", "--yes"]).code, 0);
    let is_in = |path: &Path| path.exists() && text(path).contains("\"toolgate\"");
    put(&usual, "{}\n");
    put(&old, "");
    connect();
    assert_eq!((is_in(&old), is_in(&usual)), (false, true), "an empty one does not count");
    put(&usual, "{}\n");
    put(&old, "{\"numStartups\": 1}\n");
    connect();
    assert_eq!((is_in(&old), is_in(&usual)), (true, false));
}

#[test]
fn what_is_printed_is_what_a_new_file_holds() {
    for (client, file, _, _) in CLIENTS {
        let machine = Machine::new();
        let printed = machine.run(&["connect", client, "--print"]);
        assert_eq!((printed.code, printed.stderr.as_str()), (0, ""), "{client}: {printed:?}");
        assert!(!machine.path(file).exists(), "{client}");
        assert_eq!(machine.run(&["connect", client, "--yes"]).code, 0, "{client}");
        assert_eq!(text(&machine.path(file)), printed.stdout, "{client}");
        assert_eq!(mode(&machine.path(file)), 0o600, "{client}");
        assert!(copies(&machine.path(file)).is_empty(), "{client}");
    }
}

#[test]
fn what_is_given_to_connect_holds_for_the_server() {
    let machine = Machine::configured("[agents.scribe]\n");
    let data = machine.path("elsewhere").display().to_string();
    let args =
        ["--data", &data, "connect", "cursor", "--print", "--agent", "scribe", "--workspace", "."];
    let printed = machine.run(&args).json();
    let workspace = fs::canonicalize(machine.path("workspace")).unwrap();
    let expected = json!(["--data", data, "mcp", "--agent=scribe", "--workspace", workspace]);
    let entry = &printed["mcpServers"]["toolgate"];
    assert_eq!((&entry["command"], &entry["args"]), (&json!(own()), &expected));
}

#[test]
fn nothing_is_changed_without_a_yes() {
    for (client, file, before, _) in CLIENTS {
        let machine = Machine::new();
        put(&machine.path(file), before);
        let ran = machine.run(&["connect", client]);
        assert_eq!(ran.code, 2, "{client}: {ran:?}");
        assert!(ran.stderr.contains("no terminal") && ran.stderr.contains("--yes"), "{ran:?}");
        assert!(ran.stdout.contains("\n+"), "{client}: {ran:?}");
        assert_eq!(text(&machine.path(file)), before, "{client}");
        assert!(copies(&machine.path(file)).is_empty(), "{client}");
    }
}

#[test]
fn a_broken_file_is_named_with_its_line_and_left_alone() {
    for (client, file, broken, at) in [
        (
            "claude-desktop",
            "config/Claude/claude_desktop_config.json",
            "{\n  \"a\": 1,\n}\n",
            ":3:1: ",
        ),
        ("claude-code", "home/.claude.json", "{\n  // a comment\n}\n", ":2:3: "),
        ("codex", "home/.codex/config.toml", "a = 1\nb = \n", ":2:5: "),
        ("cursor", "home/.cursor/mcp.json", "{\n  \"mcpServers\": []\n}\n", ":2:17: "),
        ("vscode", "config/Code/User/mcp.json", "{\n  'servers': {}\n}\n", ":2:3: "),
        ("zed", "config/zed/settings.json", "{\"a\": 1} x\n", ":1:10: "),
        ("goose", "config/goose/config.yaml", "a: 1\nextensions: {b: {}}\n", ":2:1: "),
        ("goose", "config/goose/config.yaml", "extensions:\n\tb:\n", ":2:1: "),
        (
            "goose",
            "config/goose/config.yaml",
            "extensions:\n  a:\n    b: 1\nextensions:\n",
            ":4:1: ",
        ),
        ("goose", "config/goose/config.yaml", "a: \"b\nextensions: c\"\n", ":1:1: "),
        ("openclaw", "home/.openclaw/openclaw.json", "{\n  a: 1\n  b: 2\n}\n", ":3:3: "),
    ] {
        let machine = Machine::new();
        let file = machine.path(file);
        put(&file, broken);
        let ran = machine.run(&["connect", client, "--yes"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{client}: {ran:?}");
        assert!(ran.stderr.contains(&format!("{}{at}", file.display())), "{client}: {ran:?}");
        // What to do: the snippet itself.
        assert!(
            ran.stderr.contains("by hand") && ran.stderr.contains("toolgate"),
            "{client}: {ran:?}"
        );
        assert!(ran.stderr.contains("nothing was changed"), "{client}: {ran:?}");
        assert_eq!(text(&file), broken, "{client}");
        assert!(copies(&file).is_empty(), "{client}");
    }
}

#[test]
fn a_link_stays_and_what_it_leads_to_is_changed() {
    let machine = Machine::new();
    let (real, link) =
        (machine.path("dotfiles/codex.toml"), machine.path("home/.codex/config.toml"));
    put(&real, "model = \"m\"\n");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(&real, &link).unwrap();
    assert_eq!(machine.run(&["connect", "codex", "--yes"]).code, 0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(text(&real).contains("[mcp_servers.toolgate]"));
    assert_eq!(copies(&real).len(), 1);
}

#[test]
fn many_at_once_lose_nothing() {
    let machine =
        Machine::configured("[agents]\na0 = {}\na1 = {}\na2 = {}\na3 = {}\na4 = {}\na5 = {}\n");
    let file = machine.path("home/.claude.json");
    put(&file, "{\"mine\": 1}\n");
    let all: Vec<_> = (0..6)
        .map(|number| {
            machine.start(&["connect", "claude-code", "--yes", "--agent", &format!("a{number}")])
        })
        .collect();
    let ran: Vec<Ran> = all.into_iter().map(crate::helper::finish).collect();
    let held: Value = serde_json::from_str(&text(&file)).unwrap();
    assert_eq!(held["mine"], 1);
    let args = &held["mcpServers"]["toolgate"]["args"][1];
    // Each either did it, or says that somebody else was there meanwhile.
    assert!(args.as_str().is_some_and(|arg| arg.starts_with("--agent=a")), "{held}");
    assert!(ran.iter().any(|ran| ran.code == 0), "{ran:?}");
    for ran in ran.iter().filter(|ran| ran.code != 0) {
        assert!(ran.stderr.contains("changed meanwhile"), "{ran:?}");
    }
}

const URL: &str = "http://127.0.0.1:7717/mcp";

/// A machine on which a server runs at [`URL`], and the file of a client on it.
fn serving(file: &str, before: &str) -> (Machine, PathBuf) {
    let machine = Machine::configured("[agents.scribe]\n");
    put(&machine.path("data/toolgate/listening"), "127.0.0.1:7717");
    let file = machine.path(file);
    put(&file, before);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    (machine, file)
}

/// The names of the tokens that work.
fn working(machine: &Machine) -> Vec<String> {
    let all = machine.run(&["tokens", "list", "--json"]).json();
    let all = all.as_array().unwrap().iter().filter(|one| one["revoked_at"].is_null());
    all.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

/// The clients that reach servers.
fn reaching() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let all = CLIENTS.into_iter().filter(|(client, ..)| *client != "claude-desktop");
    all.map(|(client, file, before, _)| (client, file, before))
}

#[test]
fn a_token_is_made_after_yes_and_stands_in_no_file_others_can_read() {
    for (client, file, before) in reaching() {
        let (machine, file) = serving(file, before);
        let ran = machine.run(&["connect", client, "--url", URL]);
        assert_eq!((ran.code, working(&machine).len()), (2, 0), "{client}: {ran:?}");
        let ran = machine.run(&["connect", client, "--url", URL, "--yes"]);
        assert_eq!(ran.code, 0, "{client}: {ran:?}");
        assert_eq!(working(&machine), [format!("{client} as main (toolgate connect)")]);
        let token = &machine.run(&["tokens", "list", "--json"]).json()[0];
        assert_eq!(
            (&token["agents"], &token["scopes"]),
            (&json!(["main"]), &json!(["call"])),
            "{token}"
        );
        let held = text(&file);
        assert!(held.contains(URL), "{client}: {held}");
        let shown = ran.stdout.lines().any(|line| line.starts_with("tg_"));
        let is_in_file = client == "zed";
        assert_eq!((shown, held.contains("tg_")), (!is_in_file, is_in_file), "{held}\n{ran:?}");
        assert_eq!(mode(&file), if is_in_file { 0o600 } else { 0o644 }, "{client}");
    }
}

#[test]
fn who_lost_the_token_gets_a_new_one_by_removing_and_connecting_again() {
    for (client, file, before) in reaching() {
        let (machine, file) = serving(file, before);
        let connect = |more: &[&str]| {
            machine.run(&[&["connect", client, "--url", URL, "--yes"], more].concat())
        };
        connect(&[]);
        let again = connect(&[]);
        assert!(again.stdout.contains("is connected already"), "{client}: {again:?}");
        assert!(again.stderr.contains("`--remove`"), "{client}: {again:?}");
        assert_eq!(working(&machine).len(), 1, "{client}");
        let ran = connect(&["--remove"]);
        assert_eq!((ran.code, working(&machine).len()), (0, 0), "{client}: {ran:?}");
        assert!(client == "vscode" || text(&file) == before, "{client}: {}", text(&file));
        assert_eq!((connect(&[]).code, working(&machine).len()), (0, 1), "{client}");
    }
}

#[test]
fn a_client_that_reaches_no_server_gets_no_token() {
    let (client, file, before, _) = CLIENTS[0];
    let (machine, file) = serving(file, before);
    let ran = machine.run(&["connect", client, "--url", URL, "--yes"]);
    assert!(ran.code == 2 && ran.stderr.contains("reaches no server by itself"), "{ran:?}");
    assert_eq!((text(&file).as_str(), working(&machine).len()), (before, 0));
}

#[test]
fn only_the_token_of_this_client_and_agent_ends() {
    let (machine, file) = serving("home/.codex/config.toml", "");
    let ours = "codex as main (toolgate connect)";
    let mine: [&[&str]; 4] = [
        &["--name", "codex on this machine", "--agent", "main", "--scope", "call"],
        &["--name", ours],
        &["--name", ours, "--agent", "main", "--scope", "call", "--expires", "1d"],
        &["--name", ours, "--agent", "scribe", "--scope", "call"],
    ];
    for more in mine {
        let ran = machine.run(&[&["tokens", "add"], more].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let connect =
        |more: &[&str]| machine.run(&[&["connect", "codex", "--http", "--yes"], more].concat());
    let count = || working(&machine).len();
    assert_eq!((connect(&[]).code, count()), (0, 5));
    assert_eq!((connect(&["--remove"]).code, count()), (0, 4));
    assert_eq!((connect(&["--agent", "scribe"]).code, count()), (0, 5));
    let ran = connect(&["--remove"]);
    assert_eq!((ran.code, count()), (0, 5), "it is for another agent");
    let said = "A token of Codex for agent `scribe` still works; `toolgate tokens revoke ";
    let (_, rest) = ran.stderr.split_once(said).unwrap_or_else(|| panic!("{ran:?}"));
    let (id, rest) = rest.split_once('`').unwrap();
    assert!(!rest.contains("still works"), "{ran:?}");
    assert_eq!((machine.run(&["tokens", "revoke", id]).code, count()), (0, 4));
    let ran = connect(&["--remove"]);
    assert!(ran.code == 0 && !ran.stderr.contains("still works"), "{ran:?}");
    assert_eq!((connect(&["--agent", "scribe"]).code, count()), (0, 5));
    put(&file, "");
    assert_eq!((connect(&["--agent", "scribe"]).code, count()), (0, 5), "the new one replaces it");
    assert_eq!((connect(&["--agent", "scribe", "--remove"]).code, count()), (0, 4));
}

#[test]
fn another_agent_gets_a_token_of_its_own_and_the_older_one_ends() {
    for (client, file, before) in reaching() {
        let (machine, file) = serving(file, before);
        let connect = |more: &[&str]| machine.run(&[&["connect", client, "--http"], more].concat());
        let name = |agent: &str| format!("{client} as {agent} (toolgate connect)");
        assert_eq!(connect(&["--yes"]).code, 0, "{client}");
        let first = text(&file);
        let ran = connect(&["--agent", "scribe"]);
        assert!(ran.code == 2 && ran.stderr.contains("no terminal"), "{client}: {ran:?}");
        assert_eq!((working(&machine), text(&file)), (vec![name("main")], first.clone()));
        let ran = connect(&["--agent", "scribe", "--yes"]);
        assert_eq!(ran.code, 0, "{client}: {ran:?}");
        assert_eq!(working(&machine), [name("scribe")], "{client}: {ran:?}");
        let shown = ran.stdout.lines().any(|line| line.starts_with("tg_"));
        // Where the token, or what it is remembered by, is in the file, that is another one.
        assert_eq!(shown, client != "zed", "{client}: {ran:?}");
        assert_eq!(text(&file) != first, ["vscode", "zed"].contains(&client), "{client}");
        let ran = connect(&["--agent", "scribe", "--yes"]);
        assert!(ran.stdout.contains("is connected already"), "{client}: {ran:?}");
        assert_eq!(working(&machine), [name("scribe")], "{client}: {ran:?}");
    }
}

#[test]
fn a_token_ends_with_the_entry_that_needed_it() {
    for (client, file, before) in reaching() {
        let (machine, file) = serving(file, before);
        let connect = |more: &[&str]| machine.run(&[&["connect", client, "--yes"], more].concat());
        let count = || working(&machine).len();
        assert_eq!((connect(&["--http"]).code, count()), (0, 1), "{client}");
        assert_eq!((connect(&[]).code, count()), (0, 0), "{client}: it starts a program now");
        assert_eq!((connect(&["--http", "--agent", "scribe"]).code, count()), (0, 1), "{client}");
        assert_eq!((connect(&[]).code, count()), (0, 0), "{client}: whoever it was for");
        assert_eq!((connect(&["--http"]).code, count()), (0, 1), "{client}");
        put(&file, before);
        let ran = connect(&["--http", "--remove"]);
        assert!(ran.stdout.contains("is not connected"), "{client}: {ran:?}");
        assert_eq!(count(), 0, "{client}: somebody had taken the entry out by hand");
        assert_eq!(text(&file), before, "{client}");
    }
}

/// It remembers what it was told by the name it asked with.
#[test]
fn vscode_asks_again_for_another_token() {
    let theirs = json!({"type": "promptString", "id": "github_token"});
    let header = json!({"Authorization": "Bearer ${input:github_token}"});
    let server = json!({"type": "http", "url": "https://github/mcp", "headers": header});
    let before = json!({"inputs": [theirs], "servers": {"github": server}});
    let (machine, file) = serving("config/Code/User/mcp.json", &before.to_string());
    let held = || -> Value { serde_json::from_str(&text(&file)).unwrap() };
    let mut seen = Vec::new();
    for (address, token) in [("--http", &[][..]), ("--http", &[]), ("--url", &["https://host/mcp"])]
    {
        let args = [&["connect", "vscode", "--yes", address], token].concat();
        assert_eq!(machine.run(&args).code, 0);
        let now = held();
        let inputs = now["inputs"].as_array().unwrap();
        assert_eq!((inputs.len(), &inputs[0]), (2, &theirs), "{now}");
        let id = inputs[1]["id"].as_str().unwrap().to_owned();
        let header = &now["servers"]["toolgate"]["headers"]["Authorization"];
        assert_eq!(*header, format!("Bearer ${{input:{id}}}"));
        assert!(!seen.contains(&id), "{id} is known already");
        let again = machine.run(&args);
        assert!(again.stdout.contains("is connected already"), "{again:?}");
        seen.push(id);
        if address == "--http" && seen.len() == 1 {
            assert_eq!(machine.run(&["connect", "vscode", "--remove", "--yes"]).code, 0);
            assert_eq!(held()["inputs"], json!([theirs]));
        }
    }
}

#[test]
fn a_new_token_is_shown_even_if_the_older_one_cannot_be_ended() {
    let (machine, file) = serving("home/.codex/config.toml", "");
    let folder = fs::File::open(file.parent().unwrap()).unwrap();
    // Until this is let go it waits, with its token made.
    folder.lock().unwrap();
    let child = machine.start(&["connect", "codex", "--http", "--yes"]);
    machine.until("a token is made", || !working(&machine).is_empty());
    let data = machine.path("data/toolgate");
    for one in fs::read_dir(&data).unwrap().map(|one| one.unwrap().path()) {
        if one.to_string_lossy().contains("toolgate.db") {
            fs::remove_file(one).unwrap();
        }
    }
    fs::create_dir(data.join("toolgate.db")).unwrap();
    folder.unlock().unwrap();
    let ran = crate::helper::finish(child);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(text(&file).contains(URL), "{ran:?}");
    assert!(ran.stdout.lines().any(|line| line.starts_with("tg_")), "{ran:?}");
}

#[test]
fn an_agent_that_nobody_knows_is_refused() {
    let (machine, file) = serving("home/.codex/config.toml", "");
    assert_eq!(machine.run(&["agents", "add", "tester"]).code, 0);
    for how in [&["--yes"][..], &["--print"], &["--http", "--yes"]] {
        let connect =
            |agent: &str| machine.run(&[&["connect", "codex", "--agent", agent], how].concat());
        let ran = connect("scrib");
        assert!(
            ran.stderr.contains("there is no agent `scrib`; did you mean `scribe`?"),
            "{ran:?}"
        );
        assert_eq!(
            (ran.code, text(&file).as_str(), working(&machine).len()),
            (2, "", 0),
            "{how:?}"
        );
        for known in ["main", "scribe", "tester"] {
            assert_eq!(connect(known).code, 0, "{known} {how:?}");
        }
        // Who was removed meanwhile can be taken out, and a server elsewhere has its own.
        let ran = machine.run(&["connect", "codex", "--remove", "--yes", "--agent", "gone"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(
            machine.run(&["connect", "codex", "--remove", "--yes", "--agent", "tester"]).code,
            0
        );
        put(&file, "");
    }
    let elsewhere =
        ["connect", "codex", "--url", "https://host/mcp", "--agent", "theirs", "--print"];
    assert_eq!(machine.run(&elsewhere).code, 0);
}

/// A token made here would let whoever is there call tools here.
#[test]
fn a_server_elsewhere_gets_no_token_of_ours() {
    for (client, file, before) in reaching() {
        for url in ["https://host/mcp", "http://127.0.0.1:7718/mcp", "http://localhost:7717/mcp"] {
            let (machine, file) = serving(file, before);
            let mut command = machine
                .command(&[], &["connect", client, "--url", url, "--yes", "--token-env", "OTHER"]);
            let ran = command
                .env("OTHER", "tg_theirs")
                .env("TOOLGATE_TOKEN", "tg_ours")
                .output()
                .unwrap();
            let said = String::from_utf8([ran.stdout, ran.stderr].concat()).unwrap();
            assert!(ran.status.success(), "{client}: {said}");
            let held = text(&file);
            assert_eq!(working(&machine), Vec::<String>::new(), "{client} {url}");
            // Nor does it name the variable that holds the token for here.
            assert!(
                !held.contains("TOOLGATE_TOKEN") && !held.contains("tg_ours"),
                "{client}: {held}"
            );
            assert!(!said.contains("tg_"), "{client}: {said}");
            let (holds, says) = match client {
                "zed" => ("Bearer tg_theirs", "only you can read"),
                "vscode" => ("${input:toolgate-token-", "toolgate tokens add"),
                _ => ("OTHER", "toolgate tokens add"),
            };
            assert!(held.contains(holds) && said.contains(says), "{client}: {held}\n{said}");
        }
    }
}

#[test]
fn a_token_from_elsewhere_is_asked_for_kindly() {
    let elsewhere = "https://host/mcp";
    for (client, args, problem) in [
        ("zed", &["--url", elsewhere][..], "TOOLGATE_REMOTE_TOKEN holds none"),
        ("zed", &["--url", elsewhere, "--token-env", "HOME"], "HOME holds none"),
        ("codex", &["--url", elsewhere, "--token-env", "A}$(x)"], "no name of a variable"),
        ("codex", &["--url", URL, "--token-env", "OTHER"], "leave `--token-env` out"),
    ] {
        let (machine, file) = serving("config/zed/settings.json", "{}\n");
        let ran = machine.run(&[&["connect", client, "--yes"], args].concat());
        assert!(ran.code == 2 && ran.stderr.contains(problem), "{args:?}: {ran:?}");
        assert_eq!((text(&file).as_str(), working(&machine).len()), ("{}\n", 0), "{args:?}");
    }
}

#[test]
fn the_server_that_runs_is_found() {
    let machine = Machine::new();
    let ran = machine.run(&["connect", "codex", "--http", "--print"]);
    assert!(ran.stderr.contains("no server runs here"), "{ran:?}");
    fs::create_dir_all(machine.path("data/toolgate")).unwrap();
    fs::write(machine.path("data/toolgate/listening"), "0.0.0.0:4321").unwrap();
    let ran = machine.run(&["connect", "codex", "--http", "--print"]);
    assert!(ran.stdout.contains("url = \"http://127.0.0.1:4321/mcp\""), "{ran:?}");
}

/// Advisories exec-037 and approval-022: an address is an address of a server, and neither a command, nor an
/// option, nor a setting.
#[test]
fn an_address_is_an_address_and_nothing_else() {
    let machine = Machine::new();
    for url in [
        "a:$(touch PWNED)",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "claude-cli://open?prompt=x&--settings={\"hooks\":{}}",
        "https://user:secret@host/mcp",
        "http://",
        "",
        "x y",
    ] {
        let ran = machine.run(&["connect", "codex", "--yes", "--url", url]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{url}: {ran:?}");
        assert!(!machine.path("home/.codex").exists(), "{url}");
    }
    let option = "--url=https://host/mcp?--settings={\"hooks\":{}}&x=$(touch PWNED)`touch PWNED`";
    let ran = machine.run(&["connect", "claude-code", "--print", option]);
    let entry = ran.json()["mcpServers"]["toolgate"].clone();
    assert_eq!(entry["type"], "http", "{entry}");
    assert!(entry["url"].as_str().unwrap().starts_with("https://host/mcp?--settings="), "{entry}");
    assert!(entry.get("command").is_none() && entry.get("args").is_none(), "{entry}");
    assert_eq!(fs::read_dir(machine.path("workspace")).unwrap().count(), 0);
}

/// Advisory exec-038: what is given to a program stays one argument of its own, whatever is in it.
#[test]
fn what_is_written_is_a_program_and_its_arguments_one_by_one() {
    let agent = "x; touch PWNED --config /tmp/evil";
    let machine = Machine::configured(&format!("[agents.\"{agent}\"]\n"));
    let folder = "a b; touch PWNED";
    fs::create_dir(machine.path("workspace").join(folder)).unwrap();
    let print = |client: &str, more: &[&str]| {
        let args = ["connect", client, "--print", "--agent", agent, "--workspace", folder];
        machine.run(&[&args, more].concat()).stdout
    };
    let workspace = fs::canonicalize(machine.path("workspace").join(folder)).unwrap();
    let (agent, workspace) = (format!("--agent={agent}"), workspace.display().to_string());
    let wanted = json!(["mcp", agent, "--workspace", workspace]);
    let cursor: Value = serde_json::from_str(&print("cursor", &[])).unwrap();
    let codex: toml::Table = print("codex", &[]).parse().unwrap();
    let codex = serde_json::to_value(codex).unwrap();
    assert_eq!(cursor["mcpServers"]["toolgate"]["args"], wanted);
    assert_eq!(codex["mcp_servers"]["toolgate"]["args"], wanted);
    let hook: Value = serde_json::from_str(&print("claude-code", &["--hook"])).unwrap();
    let hook = &hook["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(hook["command"], own());
    assert_eq!(hook["args"], json!(["hook", "claude-code", agent, "--workspace", workspace]));
}

/// Advisories env-032 and mcp-018: a workspace neither says where configuration is, nor sets a variable.
#[test]
fn a_workspace_does_not_say_where_a_client_keeps_its_files() {
    let machine = Machine::new();
    let variables = "CODEX_HOME=./.codex\nCLAUDE_CONFIG_DIR=./.claude\nHOME=.\nXDG_CONFIG_HOME=.\n\
        OPENCLAW_CONFIG_PATH=./o.json\nGOOSE_PATH_ROOT=.\nTOOLGATE_DATA=./data\nTOOLGATE_CONFIG=./toolgate.toml\n";
    for name in [".env", ".env.local", ".envrc"] {
        machine.file(name, variables);
    }
    for name in ["toolgate.toml", "toolgate.json5"] {
        machine.file(name, "this is no configuration");
    }
    put(
        &machine.path("workspace/.codex/config.toml"),
        "[mcp_servers.evil]\ncommand = \"touch PWNED\"\n",
    );
    let names = || {
        let all = fs::read_dir(machine.path("workspace")).unwrap();
        let mut all: Vec<_> =
            all.map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
        all.sort();
        all
    };
    let before = names();
    for (client, file, _, _) in CLIENTS {
        let ran = machine.run(&["connect", client, "--yes"]);
        assert_eq!(ran.code, 0, "{client}: {ran:?}");
        assert!(machine.path(file).exists(), "{client}");
    }
    assert!(text(&machine.path("workspace/.codex/config.toml")).contains("evil"));
    assert_eq!(names(), before);
    // Not even if somebody loads such a file into the environment.
    let mut command = machine.command(&[], &["connect", "codex", "--yes"]);
    let output = command.env("CODEX_HOME", "./.codex").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("`CODEX_HOME` must be an absolute path"), "{said}");
    let folder = machine.path("mine");
    let mut command = machine.command(&[], &["connect", "codex", "--yes"]);
    assert!(command.env("CODEX_HOME", &folder).output().unwrap().status.success());
    assert!(folder.join("config.toml").exists(), "the person's own environment counts");
}

/// Advisory env-033: a project's settings do not send a key anywhere.
#[test]
fn a_project_does_not_say_where_the_model_is() {
    use std::net::TcpListener;
    let (theirs, ours) =
        (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let (evil, good) = (theirs.local_addr().unwrap(), ours.local_addr().unwrap());
    let machine = Machine::configured(&format!(
        "[providers.script]\nformat = \"anthropic\"\nbase_url = \"http://{good}\"\nmodel = \"m\"\nretries = 0\n\
         [agents.main]\nmodel = \"script\"\n"
    ));
    let variables = format!("ANTHROPIC_BASE_URL=http://{evil}\nOPENAI_BASE_URL=http://{evil}\n");
    machine.file(".env", &variables);
    let settings = json!({"env": {"ANTHROPIC_BASE_URL": format!("http://{evil}")}}).to_string();
    put(&machine.path("workspace/.claude/settings.json"), &settings);
    machine.file("toolgate.toml", &format!("[providers.script]\nbase_url = \"http://{evil}\"\n"));
    let asked = std::thread::spawn(move || drop(ours.accept().unwrap()));
    let mut command = machine.command(&[], &["chat", "--message", "hello"]);
    let ran = command.env("ANTHROPIC_API_KEY", "sk-secret").output().unwrap();
    asked.join().unwrap();
    assert!(!ran.status.success(), "nobody answered: {ran:?}");
    theirs.set_nonblocking(true).unwrap();
    assert!(theirs.accept().is_err(), "somebody asked at the project's address");
}

/// What the guide shows for each client is what is printed.
#[test]
fn the_guide_shows_what_is_written() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = text(&top.join("docs/guide/connect.md"));
    let machine = Machine::new();
    let mut examples = 0;
    for part in guide.split("```sh\ntoolgate connect ").skip(1) {
        let (args, rest) = part.split_once("\n```\n").unwrap();
        let (form, shown) =
            rest.trim_start().strip_prefix("```").unwrap().split_once('\n').unwrap();
        let shown = shown.split_once("\n```").unwrap().0;
        let args: Vec<_> = args.split(' ').collect();
        let ran = machine.run(&[&["connect"], args.as_slice(), &["--print"]].concat());
        let printed = ran.stdout.replace(own(), "/usr/local/bin/toolgate");
        match form {
            "json" => {
                let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
                assert_eq!(value(&printed), value(shown), "{args:?}");
            }
            "json5" => assert_eq!(json5(&printed), json5(shown), "{args:?}"),
            _ => assert_eq!(printed.trim_end(), shown, "{args:?}"),
        }
        examples += 1;
    }
    assert_eq!(examples, CLIENTS.len() + 1);
}

/// Keys without quotes are all that the guide makes use of.
fn json5(text: &str) -> Value {
    let mut quoted = String::new();
    let (mut word, mut in_text) = (String::new(), false);
    for letter in text.chars() {
        in_text ^= letter == '"';
        if !in_text && (letter.is_ascii_alphanumeric() || letter == '_') {
            word.push(letter);
            continue;
        }
        let quote = if letter == ':' && !word.is_empty() { "\"" } else { "" };
        quoted.extend([quote, &word, quote]);
        word.clear();
        quoted.push(letter);
    }
    serde_json::from_str(&quoted).unwrap()
}
