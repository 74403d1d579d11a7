//! `ls`, `glob`, `grep`.

use std::{
    fs::File,
    time::{Duration, SystemTime},
};

use serde_json::json;

use crate::helper::Setup;

fn project() -> Setup {
    let setup = Setup::with(&[
        (".gitignore", b"target\n"),
        ("README.md", b"# Hello\n"),
        ("src/lib.rs", b"fn one() {}\nfn two() {}\n"),
        ("src/deep/mod.rs", b"fn three() {}\n"),
        ("target/out.rs", b"fn ignored() {}\n"),
    ]);
    for (age, path) in [(3, "README.md"), (2, "src/lib.rs"), (1, "src/deep/mod.rs")] {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 - age);
        File::options().write(true).open(setup.path(path)).unwrap().set_modified(time).unwrap();
    }
    setup
}

#[tokio::test]
async fn ls_lists_a_folder() {
    let setup = project();
    for (args, expected) in [
        (json!({}), "README.md src"),
        (json!({"depth": 3}), "README.md src src/deep src/deep/mod.rs src/lib.rs"),
        (json!({"all": true}), ".gitignore README.md src target"),
        (json!({"path": "src"}), "src/deep src/lib.rs"),
        (json!({"path": "README.md"}), "README.md"),
    ] {
        let value = setup.value("ls", args.clone()).await;
        let paths = value["entries"].as_array().unwrap().iter().map(|entry| &entry["path"]);
        let paths = paths.map(|path| path.as_str().unwrap()).collect::<Vec<_>>().join(" ");
        assert_eq!(paths, expected, "{args}");
    }
    let text = setup.text("ls", json!({})).await;
    assert!(text.starts_with("file            8 2023-11-14T22:13:17Z README.md\nfolder"), "{text}");
    assert!(text.ends_with(" src/"), "{text}");
    assert!(setup.text("ls", json!({"path": "none"})).await.starts_with("file_not_found"));
}

#[tokio::test]
async fn ls_says_when_there_is_more() {
    let names: Vec<String> = (0..1_100).map(|number| format!("f{number:04}")).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    let setup = Setup::with(&files);
    let value = setup.value("ls", json!({})).await;
    assert_eq!(value["entries"].as_array().unwrap().len(), 1_000);
    assert_eq!(value["truncated"], true);
    assert!(setup.text("ls", json!({})).await.contains("f0999\n[only the first 1000 entries;"));
}

#[tokio::test]
async fn glob_finds_the_newest_first() {
    let setup = project();
    for (args, expected) in [
        (json!({"pattern": "**/*.rs"}), "src/deep/mod.rs\nsrc/lib.rs"),
        (json!({"pattern": "*.rs"}), "[no file fits the pattern]"),
        (json!({"pattern": "*.rs", "path": "src"}), "src/lib.rs"),
        (
            json!({"pattern": "**", "limit": 1}),
            "src/deep/mod.rs\n[1 of 3 shown; narrow the pattern or raise `limit`]",
        ),
    ] {
        assert_eq!(setup.text("glob", args.clone()).await, expected, "{args}");
    }
    let text = setup.text("glob", json!({"pattern": "a["})).await;
    assert!(text.starts_with("validation_error"), "{text}");
}

#[tokio::test]
async fn grep_searches_files_and_folders() {
    let setup = project();
    for (args, expected) in [
        (
            json!({"pattern": "fn \\w+"}),
            "src/deep/mod.rs\n1:fn three() {}\n\nsrc/lib.rs\n1:fn one() {}\n2:fn two() {}",
        ),
        (json!({"pattern": "two", "path": "src/lib.rs"}), "src/lib.rs\n2:fn two() {}"),
        (json!({"pattern": "HELLO", "case": "insensitive", "mode": "files"}), "README.md"),
        (json!({"pattern": "fn", "mode": "count"}), "src/deep/mod.rs:1\nsrc/lib.rs:2"),
        (json!({"pattern": ".", "glob": "*.md"}), "README.md\n1:# Hello"),
        (json!({"pattern": "nothing"}), "[no matches]"),
    ] {
        assert_eq!(setup.text("grep", args.clone()).await, expected, "{args}");
    }
    let value = setup.value("grep", json!({"pattern": "two", "context": 1})).await;
    assert_eq!(
        value,
        json!({"truncated": false, "matches": [
            {"path": "src/lib.rs", "line": 1, "text": "fn one() {}", "context": true},
            {"path": "src/lib.rs", "line": 2, "text": "fn two() {}"},
        ]})
    );
    let text = setup.text("grep", json!({"pattern": "a", "path": "none"})).await;
    assert!(text.starts_with("file_not_found"), "{text}");
}

#[tokio::test]
async fn grep_finds_the_same_every_time() {
    let names: Vec<String> = (0..500).map(|number| format!("d{}/f{number}", number % 7)).collect();
    let files: Vec<(&str, &[u8])> =
        names.iter().map(|name| (name.as_str(), &b"x\nx\n"[..])).collect();
    let setup = Setup::with(&files);
    let first = setup.text("grep", json!({"pattern": "x", "limit": 33})).await;
    assert_eq!(first.matches(":x").count(), 33);
    for _ in 0..10 {
        assert_eq!(setup.text("grep", json!({"pattern": "x", "limit": 33})).await, first);
    }
}
