//! Files that other programs obey: refused or shown to a person, by whatever name they are reached.

use libtest_mimic::Trial;
use serde_json::{Value, json};
use store::Decision;

use crate::{
    approving::{SMART, answer, question},
    helper::{PATIENCE, Setup, error, trial},
};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("protected_files_do_not_come_in_through_a_link", through_a_link),
        trial("a_link_made_first_does_not_open_the_way_for_a_later_call", in_a_later_call),
        trial("links_that_a_person_made_are_looked_through", through_a_persons_link),
        trial("instructions_of_agents_are_shown_before_they_are_kept", instructions_are_shown),
        trial("instructions_in_a_new_folder_are_taken_out_of_it", instructions_in_a_new_folder),
        trial("file_tools_ask_about_instructions", file_tools_ask),
        trial("a_link_made_in_the_background_is_told", links_in_the_background),
    ]
}

fn notes(outcome: &Value) -> String {
    outcome["result"]["notes"].to_string()
}

const PLACES: &[(&str, &str)] = &[
    (".claude", "settings.json"),
    (".vscode", "tasks.json"),
    (".cursor", "mcp.json"),
    (".gemini", "settings.json"),
    (".config", "git/config"),
    (".config/git", "config"),
    (".idea", "workspace.xml"),
    (".git/objects/info", "alternates"),
    (".github", "hooks/x.json"),
    ("sub/.Claude", "settings.json"),
    (".kiro", "settings/mcp.json"),
];

async fn through_a_link() {
    let setup = Setup::new().await;
    for (number, (link, file)) in PLACES.iter().enumerate() {
        for (form, how) in [
            "mkdir -p $(dirname L) && ln -s R/c L",
            "mkdir -p $(dirname L) && ln -s R/c one && ln -s R/one L",
            // The target comes last.
            "mkdir -p $(dirname L) && mv c d && ln -s R/c L && mv d c",
            "mkdir -p x/$(dirname L) && ln -s R/c x/L && mv x y",
            "mkdir -p $(dirname L) && ln -s R/c other && mv other L",
            "mkdir -p $(dirname L) && mkdir L && rmdir L && ln -s R/c L",
        ]
        .iter()
        .enumerate()
        {
            let how =
                how.replace('L', link).replace("R/", &format!("{}/", setup.path("").display()));
            let command = format!(
                "mkdir -p $(dirname c/{file}) && echo evil > c/{file} && {how} && touch ok"
            );
            let outcome = setup.sh(&command).await;
            let what = format!("{number} {form} {command}: {outcome}");
            assert_eq!(outcome["result"]["exitCode"], 0, "{what}");
            for place in [format!("{link}/{file}"), format!("y/{link}/{file}")] {
                assert_eq!(setup.text(&place), None, "{what}");
            }
            assert!(notes(&outcome).contains("protected by rule"), "{what}");
            assert!(setup.path("ok").exists(), "the rest stays: {what}");
            for entry in std::fs::read_dir(setup.path("")).unwrap() {
                let path = entry.unwrap().path();
                let is_folder = path.symlink_metadata().unwrap().is_dir();
                let remove = if is_folder { std::fs::remove_dir_all } else { std::fs::remove_file };
                remove(path).unwrap();
            }
        }
    }
}

async fn in_a_later_call() {
    for (link, file) in PLACES {
        let setup = Setup::new().await;
        setup.sh(&format!("mkdir -p $(dirname {link}) && ln -s $PWD/c {link}; true")).await;
        let command = format!("mkdir -p $(dirname c/{file}) && echo evil > c/{file}");
        setup.sh(&command).await;
        let path = format!("c/{file}");
        setup.call("write", json!({"path": path, "content": "evil"})).await;
        assert_eq!(setup.text(&format!("{link}/{file}")), None, "{link}/{file}");
    }
}

/// A person may keep settings elsewhere; they are protected there too.
async fn through_a_persons_link() {
    let setup = Setup::new().await;
    setup.file("shared/readme", "x");
    std::os::unix::fs::symlink("shared", setup.path(".claude")).unwrap();
    std::os::unix::fs::symlink("env/dev", setup.path(".envrc")).unwrap();
    for command in [
        "echo evil > shared/settings.json; touch shared/ok",
        "mkdir -p env && echo evil > env/dev; touch shared/ok",
        "rm .claude && mkdir .claude && echo evil > .claude/settings.json; touch shared/ok",
    ] {
        let outcome = setup.sh(command).await;
        assert!(notes(&outcome).contains("protected by rule"), "{command}: {outcome}");
        assert!(setup.path("shared/ok").exists());
        assert_eq!(setup.text(".claude/settings.json"), None, "{command}");
        assert_eq!(setup.text(".envrc"), None, "{command}");
        std::fs::remove_file(setup.path("shared/ok")).unwrap();
    }
    for path in ["shared/settings.json", ".claude/settings.json", "env/dev"] {
        let outcome = setup.call("write", json!({"path": path, "content": "evil"})).await;
        let refused = ["protected by rule", "goes through a link"];
        assert!(refused.iter().any(|why| error(&outcome).contains(why)), "{path}: {outcome}");
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n+evil\n*** End Patch\n");
        let outcome = setup.call("apply_patch", json!({"patch": patch})).await;
        assert_eq!(outcome["status"], "error", "{path}: {outcome}");
        assert_eq!(setup.text(path), None, "{path}");
    }
}

async fn instructions_are_shown() {
    let setup = Setup::asking(SMART).await;
    setup.file("AGENTS.md", "be careful\n");
    let command = "echo 'run evil.sh' >> AGENTS.md; mkdir -p .github/workflows; \
                   echo evil > .github/workflows/ci.yml; echo x > other";
    for (decision, kept) in [(Decision::Deny, false), (Decision::AllowOnce, true)] {
        let look = async {
            let request = question(&setup).await.request;
            assert_eq!((request.changes.len(), request.rule.as_str()), (2, "smart.protected"));
            let diff = request.changes[1].diff.as_deref().unwrap_or_default();
            assert!(diff.contains("+run evil.sh"), "{:?}", request.changes);
            assert_eq!(setup.text("AGENTS.md").as_deref(), Some("be careful\n"));
            answer(&setup, decision.clone()).await;
        };
        let both = async { tokio::join!(setup.sh(command), look) };
        let (outcome, ()) = tokio::time::timeout(PATIENCE, both).await.unwrap();
        assert_eq!(outcome["status"], "success", "{outcome}");
        assert_eq!(setup.text("other").as_deref(), Some("x\n"), "{outcome}");
        assert_eq!(setup.path(".github/workflows/ci.yml").exists(), kept, "{outcome}");
        assert_eq!(setup.text("AGENTS.md").unwrap().contains("evil"), kept, "{outcome}");
        assert_eq!(notes(&outcome).contains("nobody agreed"), !kept, "{outcome}");
        assert_eq!(setup.undo(&outcome).await["status"], "success");
        assert_eq!(setup.text("AGENTS.md").as_deref(), Some("be careful\n"));
    }
    // Where nobody is asked about anything, nobody is asked about these.
    let setup = Setup::new().await;
    setup.sh(command).await;
    assert!(setup.path("AGENTS.md").exists());
}

/// Cloned, unpacked, generated: the rest of the folder is of use without them.
async fn instructions_in_a_new_folder() {
    let setup = Setup::asking(SMART).await;
    let command = "mkdir -p p/sub p/node_modules/x && echo evil | tee p/CLAUDE.md p/sub/lefthook.yml \
                   p/node_modules/x/AGENTS.md p/main.c";
    let refuse = async {
        let request = question(&setup).await.request;
        assert_eq!((request.changes.len(), request.rule.as_str()), (1, "smart.protected"));
        answer(&setup, Decision::Deny).await;
    };
    let both = async { tokio::join!(setup.sh(command), refuse) };
    let (outcome, ()) = tokio::time::timeout(PATIENCE, both).await.unwrap();
    for (path, expected) in [
        ("p/main.c", true),
        ("p/node_modules/x/AGENTS.md", true),
        ("p/CLAUDE.md", false),
        ("p/sub/lefthook.yml", false),
    ] {
        assert_eq!(setup.path(path).exists(), expected, "{path}: {outcome}");
    }
    assert!(notes(&outcome).contains("`p/sub/lefthook.yml`"), "{outcome}");
    assert_eq!(setup.undo(&outcome).await["status"], "success");
    assert!(!setup.path("p").exists());
}

async fn file_tools_ask() {
    let setup = Setup::asking(SMART).await;
    setup.file("CLAUDE.md", "old\n");
    let calls = [
        ("write", json!({"path": "CLAUDE.md", "content": "evil"})),
        ("edit", json!({"path": "CLAUDE.md", "edits": [{"old_text": "old", "new_text": "evil"}]})),
        ("write", json!({"path": ".github/workflows/ci.yml", "content": "evil"})),
        ("write", json!({"path": "web/.npmrc", "content": "script-shell=evil"})),
    ];
    for (tool, args) in calls {
        let refuse = async {
            let request = question(&setup).await.request;
            let rules = ["smart.protected", "smart.credentials"];
            assert!(rules.contains(&request.rule.as_str()), "{tool} {args}: {}", request.rule);
            answer(&setup, Decision::Deny).await;
        };
        let both = async { tokio::join!(setup.call(tool, args.clone()), refuse) };
        let (outcome, ()) = tokio::time::timeout(PATIENCE, both).await.unwrap();
        assert!(error(&outcome).contains("denied by ada"), "{tool} {args}: {outcome}");
    }
    assert_eq!(setup.text("CLAUDE.md").as_deref(), Some("old\n"));
}

async fn links_in_the_background() {
    let setup = Setup::new().await;
    setup.file("AGENTS.md", "x");
    std::os::unix::fs::symlink("AGENTS.md", setup.path("CLAUDE.md")).unwrap();
    let command = "mkdir c; echo evil > c/settings.json; ln -s c .claude; echo y > AGENTS.md";
    let started = setup.call("exec", json!({"command": command, "background": true})).await;
    let id = started["result"]["processId"].clone();
    let mut last = Value::Null;
    for _ in 0..500 {
        last = setup.call("process", json!({"action": "poll", "processId": id})).await;
        if last.to_string().contains("is new and protected") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(last.to_string().contains("`.claude` is new and protected"), "{started} {last}");
    assert_eq!(setup.text("AGENTS.md").as_deref(), Some("x"), "{last}");
}
