//! `write`, `edit`, `apply_patch`.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::json;

use crate::helper::Setup;

#[tokio::test]
async fn write_creates_replaces_and_appends() {
    let setup = Setup::with(&[("old", b"old")]);
    for (args, path, content) in [
        (json!({"path": "deep/new", "content": "x\n"}), "deep/new", "x\n"),
        (json!({"path": "old", "content": ""}), "old", ""),
        (json!({"path": "old", "content": "a", "mode": "append"}), "old", "a"),
        (json!({"path": "old", "content": "ä", "mode": "append"}), "old", "aä"),
        (json!({"path": "other", "content": "b", "mode": "append"}), "other", "b"),
    ] {
        setup.call("write", args).await.unwrap();
        assert_eq!(setup.content(path).unwrap(), content);
    }
    let output = setup.call("write", json!({"path": "x", "content": "grün"})).await.unwrap();
    assert_eq!(output.joined_text(), "wrote 5 bytes to `x`");
    assert_eq!(output.value.unwrap(), json!({"path": "x", "bytes": 5}));
}

#[tokio::test]
async fn edit_changes_only_what_was_named() {
    let setup = Setup::with(&[("a", b"\xef\xbb\xbfone\r\ntwo\r\nthree")]);
    let args = json!({"path": "a", "edits": [
        {"oldText": "one\ntwo", "newText": "1\n2"},
        {"oldText": "three", "newText": "3"},
    ]});
    let value = setup.value("edit", args).await;
    assert_eq!(setup.content("a").unwrap(), "\u{feff}1\r\n2\r\n3");
    assert_eq!(value["replacements"], 2);
    let diff = value["diff"].as_str().unwrap();
    assert!(diff.starts_with("--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n-one"), "{diff}");
    let args = json!({"path": "a", "oldText": "\r\n", "newText": " ", "replaceAll": true});
    assert_eq!(setup.value("edit", args).await["replacements"], 2);
    assert_eq!(setup.content("a").unwrap(), "\u{feff}1 2 3");
}

#[tokio::test]
async fn edit_changes_nothing_if_something_is_wrong() {
    let content = "alpha\nbeta\nalpha\n";
    let setup = Setup::with(&[("a", content.as_bytes()), ("b", b"\xff\xfe")]);
    for (args, expected) in [
        (json!({"path": "a", "oldText": "alpha", "newText": "x"}), "at lines 1, 3;"),
        (json!({"path": "a", "oldText": "betta", "newText": "x"}), "    2| beta\n"),
        (json!({"path": "a", "oldText": "a", "newText": "a"}), "nothing would change"),
        (json!({"path": "a", "oldText": "", "newText": "a"}), "`oldText`: is empty"),
        (json!({"path": "b", "oldText": "a", "newText": "b"}), "is not UTF-8 text"),
        (json!({"path": "c", "oldText": "a", "newText": "b"}), "file_not_found"),
    ] {
        let text = setup.text("edit", args.clone()).await;
        assert!(text.contains(expected), "{args}: {text}");
        assert_eq!(setup.content("a").unwrap(), content);
    }
}

fn patch(lines: &[&str]) -> serde_json::Value {
    json!({"input": format!("*** Begin Patch\n{}\n*** End Patch\n", lines.join("\n"))})
}

#[tokio::test]
async fn apply_patch_changes_many_files() {
    let setup = Setup::with(&[
        ("edit", b"a\r\nb\r\nc"),
        ("gone", b"x"),
        ("from", b"#!/bin/sh\necho old\n"),
    ]);
    fs::set_permissions(setup.path("from"), fs::Permissions::from_mode(0o755)).unwrap();
    let output = setup.call(
        "apply_patch",
        patch(&[
            "*** Add File: deep/new",
            "+hello",
            "*** Update File: edit",
            "@@",
            " a",
            "-b",
            "+B",
            "+BB",
            " c",
            "*** Delete File: gone",
            "*** Update File: from",
            "*** Move to: to",
            "@@",
            "-echo old",
            "+echo new",
        ]),
    );
    let output = output.await.unwrap();
    let text = "added `deep/new`\nadded `to`\nmodified `edit`\ndeleted `gone`\ndeleted `from`";
    assert_eq!(output.joined_text(), text);
    let value = json!({
        "added": ["deep/new", "to"], "modified": ["edit"], "deleted": ["gone", "from"],
    });
    assert_eq!(output.value.unwrap(), value);
    for (path, content) in [
        ("deep/new", Some("hello\n")),
        ("edit", Some("a\r\nB\r\nBB\r\nc")),
        ("gone", None),
        ("from", None),
        ("to", Some("#!/bin/sh\necho new\n")),
    ] {
        assert_eq!(setup.content(path).as_deref(), content, "{path}");
    }
    let mode = fs::metadata(setup.path("to")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[tokio::test]
async fn apply_patch_says_when_only_plain_characters_matched() {
    let setup = Setup::with(&[("a", "“quoted” – text\nend\n".as_bytes())]);
    let update = ["*** Update File: a", "*** Move to: ./a", "@@", " \"quoted\" - text", "-end"];
    let output = setup.call("apply_patch", patch(&update)).await.unwrap();
    assert_eq!(setup.content("a").unwrap(), "“quoted” – text\n");
    let text = output.joined_text();
    assert!(
        text.starts_with("modified `a`\n[`a`: hunk at patch line 4: found by taking"),
        "{text}"
    );
    assert_eq!(output.value.unwrap()["notes"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn apply_patch_is_all_or_nothing() {
    let setup = Setup::with(&[("a", b"a\n"), ("b", b"b\n")]);
    let good = ["*** Update File: a", "@@", "-a", "+A"];
    for (bad, expected) in [
        (vec!["*** Update File: b", "@@", "-x"], "execution_error: cannot patch `b`: hunk at"),
        (vec!["*** Add File: b", "+x"], "execution_error: `b` already exists"),
        (vec!["*** Delete File: none"], "file_not_found: `none`"),
        (vec!["*** Update File: none", "@@", "-x"], "file_not_found: `none`"),
        (vec!["*** Update File: b", "*** Move to: a"], "validation_error"),
        (vec!["*** Delete File: ./a"], "validation_error"),
        (vec!["*** Update File: b", "@@", " b"], "execution_error: cannot patch `b`: its hunks"),
        (vec!["nonsense"], "validation_error: invalid arguments for `apply_patch`: `input`: "),
    ] {
        let text = setup.text("apply_patch", patch(&[&good[..], &bad].concat())).await;
        assert!(text.starts_with(expected), "{bad:?}: {text}");
        assert_eq!(setup.content("a").unwrap(), "a\n");
        assert_eq!(setup.content("b").unwrap(), "b\n");
    }
}
