//! Files that calls change, and how that is taken back.

use std::{fs, os::unix::fs::PermissionsExt};

use insta::assert_snapshot;
use serde_json::{Value, json};
use toolgate::Outcome;

use crate::helper::{Setup, line};

async fn done(setup: &Setup, name: &str, args: Value) -> toolgate::CallId {
    let outcome = setup.outcome(name, args).await;
    assert_eq!(outcome.status(), "success", "{outcome:?}");
    outcome.meta().call_id
}

#[tokio::test]
async fn a_change_can_be_taken_back_and_that_too() {
    let setup = Setup::new();
    fs::set_permissions(setup.path("hello.txt"), fs::Permissions::from_mode(0o750)).unwrap();
    let patch = "*** Begin Patch\n*** Update File: hello.txt\n@@\n-hello\n+bye\n*** Add File: a/b.txt\n+new\n*** End Patch\n";
    let id = done(&setup, "apply_patch", json!({"input": patch})).await;
    assert_eq!(setup.text("hello.txt"), "bye\nworld\n");
    let undone = setup.gate.undo(&setup.caller, id).await;
    assert_eq!(undone.status(), "success", "{undone:?}");
    assert_eq!(setup.text("hello.txt"), "hello\nworld\n");
    assert!(!setup.path("a/b.txt").exists());
    let mode = fs::metadata(setup.path("hello.txt")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o750);
    let redone = setup.gate.undo(&setup.caller, undone.meta().call_id).await;
    assert_eq!(redone.status(), "success", "{redone:?}");
    assert_eq!(
        (setup.text("hello.txt"), setup.text("a/b.txt")),
        ("bye\nworld\n".into(), "new\n".into())
    );
    let tools: Vec<_> = setup.entries().into_iter().map(|entry| entry.tool_name).collect();
    assert_eq!(tools, ["apply_patch", "undo", "undo"]);
}

#[tokio::test]
async fn undo_restores_all_or_none_and_says_what_changed_since() {
    let setup = Setup::new();
    let patch =
        "*** Begin Patch\n*** Add File: one.txt\n+1\n*** Add File: two.txt\n+2\n*** End Patch\n";
    let id = done(&setup, "apply_patch", json!({"input": patch})).await;
    fs::write(setup.path("two.txt"), "edited by hand\n").unwrap();
    let refused = setup.gate.undo(&setup.caller, id).await;
    assert_eq!(refused.status(), "execution_error");
    let said = line(&refused);
    assert!(said.contains("two.txt` changed since, so nothing was changed"), "{said}");
    assert_eq!(setup.text("one.txt"), "1\n");
    assert_eq!(setup.text("two.txt"), "edited by hand\n");
}

/// After a crash a person cannot know how far the undo got.
#[tokio::test]
async fn an_undo_can_be_repeated() {
    let setup = Setup::new();
    let patch = "*** Begin Patch\n*** Update File: hello.txt\n@@\n-hello\n+bye\n*** Add File: new.txt\n+new\n*** End Patch\n";
    let id = done(&setup, "apply_patch", json!({"input": patch})).await;
    // One of the two was put back by hand.
    fs::write(setup.path("hello.txt"), "hello\nworld\n").unwrap();
    for restored in [json!(["new.txt"]), json!([])] {
        let undone = setup.gate.undo(&setup.caller, id).await;
        assert_eq!(line(&undone), json!({"undone": id, "restored": restored}).to_string());
        assert_eq!(setup.text("hello.txt"), "hello\nworld\n");
        assert!(!setup.path("new.txt").exists());
    }
}

#[tokio::test]
async fn undo_explains_what_it_cannot_do() {
    let setup = Setup::new();
    let read = done(&setup, "read", json!({"path": "hello.txt"})).await;
    assert_snapshot!(line(&setup.gate.undo(&setup.caller, read).await), @"validation_error: invalid arguments for `undo`: `call_id`: that call changed no files, notes or tasks: there is nothing to undo");
    let unknown = "0191d3a0-0000-7000-8000-000000000000".parse().unwrap();
    assert!(line(&setup.gate.undo(&setup.caller, unknown).await).contains("there is no call"));
}

#[tokio::test]
async fn a_patch_with_a_failing_second_file_changes_nothing() {
    let setup = Setup::new();
    for second in [
        "*** Update File: missing.txt\n@@\n-a\n+b\n",
        "*** Add File: hello.txt/below.txt\n+x\n",
        "*** Add File: .git/hooks/pre-commit\n+x\n",
        "*** Delete File: nothing.txt\n",
        "*** Update File: ../out.txt\n@@\n-a\n+b\n",
    ] {
        let patch =
            format!("*** Begin Patch\n*** Add File: first.txt\n+1\n{second}*** End Patch\n");
        let outcome = setup.outcome("apply_patch", json!({"input": patch})).await;
        assert!(matches!(outcome, Outcome::Error { .. }), "{second}");
        assert_eq!(setup.names(), ["hello.txt"], "{second}");
        assert_eq!(setup.text("hello.txt"), "hello\nworld\n");
    }
}

#[tokio::test]
async fn line_endings_final_newlines_and_unicode_survive() {
    let setup = Setup::new();
    let patch = |old: &str, new: &str| {
        format!("*** Begin Patch\n*** Update File: f\n@@\n-{old}\n+{new}\n*** End Patch\n")
    };
    for (before, old, new, after) in [
        ("one\r\ntwo\r\n", "two", "zwei", "one\r\nzwei\r\n"),
        ("one\ntwo", "two", "zwei", "one\nzwei"),
        ("\u{feff}eins\nzwei\n", "zwei", "zwéi 漢字 🎉", "\u{feff}eins\nzwéi 漢字 🎉\n"),
        ("a\nü\r\nb\n", "ü", "ö", "a\nö\r\nb\n"),
    ] {
        fs::write(setup.path("f"), before).unwrap();
        done(&setup, "edit", json!({"path": "f", "oldText": old, "newText": new})).await;
        assert_eq!(setup.text("f"), after, "edit {before:?}");
        fs::write(setup.path("f"), before).unwrap();
        done(&setup, "apply_patch", json!({"input": patch(old, new)})).await;
        assert_eq!(setup.text("f"), after, "apply_patch {before:?}");
    }
}

#[tokio::test]
async fn an_empty_file_can_be_written_and_text_deleted() {
    let setup = Setup::new();
    done(&setup, "write", json!({"path": "empty", "content": ""})).await;
    assert_eq!(setup.text("empty"), "");
    done(&setup, "edit", json!({"path": "hello.txt", "oldText": "hello\n", "newText": ""})).await;
    assert_eq!(setup.text("hello.txt"), "world\n");
    done(&setup, "write", json!({"path": "hello.txt", "content": ""})).await;
    assert_eq!(setup.text("hello.txt"), "");
}

#[tokio::test]
async fn the_data_folder_inside_a_workspace_is_invisible() {
    let setup = Setup::new();
    let inside = setup.path("").join("..").canonicalize().unwrap();
    let gate = toolgate::Gate::builder()
        .data(inside.join("data"))
        .workspace(&inside)
        .tools(toolgate::builtin())
        .build()
        .unwrap();
    for (tool, args) in [
        ("read", json!({"path": "data/journal.db"})),
        ("write", json!({"path": "data/x", "content": ""})),
        ("stat", json!({"path": "data"})),
        ("ls", json!({"path": "data"})),
    ] {
        let outcome = gate.call(&setup.caller, tool, args).await;
        assert!(matches!(outcome, Outcome::Error { .. }), "{tool}: {outcome:?}");
    }
    let listed = line(&gate.call(&setup.caller, "ls", json!({"all": true, "depth": 3})).await);
    assert!(listed.contains("hello.txt") && !listed.contains("journal"), "{listed}");
}
