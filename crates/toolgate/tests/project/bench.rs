//! What is measured side by side is comparable.

use std::fs;

/// `rmcp-alike` has Toolgate's profile and allocator; `rmcp` has what cargo gives to whoever says nothing.
#[test]
fn what_toolgate_is_compared_with_is_built_as_it_says() {
    let top = crate::top();
    let [ours, theirs] = ["Cargo.toml", "bench/mcp/Cargo.toml"]
        .map(|file| fs::read_to_string(top.join(file)).unwrap());
    let profile = |text: &str, name: &str| {
        let profile = text.split_once(name).unwrap().1;
        profile.split("\n\n").next().unwrap().trim().to_owned()
    };
    let alike = profile(&theirs, "[profile.alike]\ninherits = \"release\"\n");
    assert_eq!(alike, profile(&ours, "[profile.release]\n"));
    assert!(!theirs.contains("[profile.release]"), "{theirs}");
    let allocator = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("mimalloc = ")).unwrap();
        line.replace(", optional = true", "")
    };
    assert_eq!(allocator(&theirs), allocator(&ours));
    let [ours, theirs] = ["crates/toolgate/src/main.rs", "bench/mcp/src/main.rs"]
        .map(|file| fs::read_to_string(top.join(file)).unwrap());
    let allocator = ours.lines().find(|line| line.starts_with("static ALLOCATOR")).unwrap();
    assert!(
        theirs
            .contains(&format!("#[cfg(feature = \"alike\")]\n#[global_allocator]\n{allocator}\n"))
    );
}
