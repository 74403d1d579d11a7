//! `read`, `stat`, `get_current_time`.

use serde_json::json;

use crate::helper::Setup;

#[tokio::test]
async fn read_returns_text_as_it_is() {
    let setup = Setup::with(&[
        ("a.txt", b"one\r\ntwo\nthree"),
        ("latin", b"gr\xfcn\n"),
        ("bom", b"\xef\xbb\xbfx\n"),
        ("wide", b"\xff\xfeh\0i\0"),
        ("empty", b""),
        ("data.bin", b"\x7fELF\0\0"),
    ]);
    for (args, expected) in [
        (json!({"path": "a.txt"}), "one\r\ntwo\nthree"),
        (json!({"path": "./a.txt", "limit": 1}), "one\r\n[lines 1-1 of 3; continue with offset 2]"),
        (json!({"path": "a.txt", "offset": 3}), "three\n[lines 3-3 of 3, the end of the file]"),
        (json!({"path": "latin", "encoding": "latin1"}), "grün\n"),
        (json!({"path": "bom"}), "x\n"),
        (json!({"path": "wide"}), "hi"),
        (json!({"path": "empty"}), "[the file is empty]"),
    ] {
        assert_eq!(setup.text("read", args.clone()).await, expected, "{args}");
    }
    for (args, expected) in [
        (json!({"path": "none"}), "file_not_found: `none` does not exist"),
        (json!({"path": "latin"}), "execution_error: `latin` is not UTF-8 text (line 1)"),
        (json!({"path": "data.bin"}), "execution_error: `data.bin` is a binary file"),
        (
            json!({"path": "a.txt", "offset": 9}),
            "validation_error: invalid arguments for `read`: `offset`: the file has 3 lines",
        ),
        (
            json!({"path": "a.txt", "encoding": "utf9"}),
            "validation_error: invalid arguments for `read`: `encoding`: unknown encoding `utf9`; \
             did you mean `utf-8`?",
        ),
    ] {
        let text = setup.text("read", args.clone()).await;
        assert!(text.starts_with(expected), "{args}: {text}");
    }
}

#[tokio::test]
async fn read_cuts_a_long_file_at_whole_lines() {
    let line = format!("{}\n", "x".repeat(99));
    let setup = Setup::with(&[
        ("long", line.repeat(3_000).as_bytes()),
        ("wide", format!("{}\nshort\n", "y".repeat(200_000)).as_bytes()),
    ]);
    let text = setup.text("read", json!({"path": "long"})).await;
    assert!(text.len() < 50_000);
    assert!(text.ends_with("\n[lines 1-497 of 3000; continue with offset 498]"), "{}", text.len());
    let text = setup.text("read", json!({"path": "wide"})).await;
    assert!(text.len() < 50_000);
    let notice = "[bytes 0-49700 of the 200000 of line 1; continue with offset 1 and fromByte 49700; \
                  line 2 of 2 comes after that]";
    assert!(text.ends_with(notice), "{}", text.get(49_700..).unwrap_or_default());
}

#[tokio::test]
async fn read_pages_through_a_long_line_byte_by_byte() {
    let line: String =
        (0..30_000).flat_map(|number: u32| [number.to_string(), ",".to_owned()]).collect();
    let setup = Setup::with(&[("one.json", line.as_bytes())]);
    let (mut all, mut from, mut pages) = (String::new(), 0, 0);
    while from < line.len() {
        let text = setup.text("read", json!({"path": "one.json", "fromByte": from})).await;
        let page = text.split("\n[").next().unwrap();
        all.push_str(page);
        from += page.len();
        pages += 1;
        assert!(from == line.len() || text.ends_with(&format!("and fromByte {from}]")), "{from}");
    }
    assert_eq!((all, pages), (line, 4));
    let text = setup.text("read", json!({"path": "one.json", "fromByte": 999_999})).await;
    assert!(text.contains("`fromByte`: line 1 has 168890 bytes"), "{text}");
}

/// A cut chosen by the caller must not show a secret in two halves.
#[tokio::test]
async fn read_shows_no_half_of_a_secret() {
    let text = format!("{}hunter2hunter2{}", "a".repeat(100), "b".repeat(100));
    let setup = Setup::with(&[("f", text.as_bytes())]).with_secret("hunter2hunter2");
    for from in 95..115 {
        let text = setup.text("read", json!({"path": "f", "fromByte": from})).await;
        assert!(!text.contains("nter2"), "{from}: {text}");
    }
}

#[tokio::test]
async fn read_shows_images() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03\x08\x06\0\0\0";
    let setup = Setup::with(&[("a.png", png), ("b", b"RIFF\0\0\0\0WEBPVP8 "), ("c", b"GIF89a")]);
    let text = setup.text("read", json!({"path": "a.png"})).await;
    assert_eq!(text, "PNG image `a.png`, 2x3 pixels, 29 bytes");
    for (path, mime) in [("a.png", "image/png"), ("b", "image/webp"), ("c", "image/gif")] {
        assert_eq!(setup.image("read", json!({"path": path})).await.0, mime);
    }
}

#[tokio::test]
async fn stat_tells_what_is_known() {
    let setup = Setup::with(&[("a.txt", b"abc")]);
    std::os::unix::fs::symlink("a.txt", setup.path("link")).unwrap();
    let facts = setup.value("stat", json!({"path": "a.txt"})).await;
    assert_eq!(facts["kind"], "file");
    assert_eq!(facts["bytes"], 3);
    assert_eq!(facts["permissions"].as_str().unwrap().len(), 9);
    assert!(facts["mode"].as_str().unwrap().starts_with("06"));
    assert!(facts["owner"]["uid"].is_u64());
    assert!(facts["modified"].as_str().unwrap().ends_with('Z'));
    let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(facts["sha256"], hash);
    let facts = setup.value("stat", json!({"path": "link"})).await;
    assert_eq!((&facts["kind"], &facts["target"]), (&json!("link"), &json!("a.txt")));
    assert!(facts.get("sha256").is_none());
}

#[tokio::test]
async fn get_current_time_uses_the_clock_it_is_given() {
    let setup = Setup::with(&[]);
    for (args, expected) in [
        (json!({"timezone": "UTC"}), "2023-11-14T22:13:20+00:00"),
        (
            json!({"timezone": "America/New_York", "style": "human_readable"}),
            "Tuesday, 14 November 2023, 17:13:20 EST (UTC-05:00)",
        ),
    ] {
        assert_eq!(setup.text("get_current_time", args).await, expected);
    }
    let text = setup.text("get_current_time", json!({})).await;
    assert!(text.starts_with("2023-11-1"), "{text}");
    let text = setup.text("get_current_time", json!({"timezone": "Berlin"})).await;
    assert!(text.ends_with("did you mean `Europe/Berlin`?"), "{text}");
}
