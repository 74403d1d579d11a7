//! What is measured side by side is comparable.

use std::fs;

#[test]
fn what_toolgate_is_compared_with_is_built_alike() {
    let top = crate::top();
    let [ours, theirs] = ["Cargo.toml", "bench/mcp/Cargo.toml"]
        .map(|file| fs::read_to_string(top.join(file)).unwrap());
    let profile = |text: &str| {
        let profile = text.split_once("[profile.release]\n").unwrap().1;
        profile.split("\n\n").next().unwrap().trim().to_owned()
    };
    assert_eq!(profile(&theirs), profile(&ours));
    let allocator = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("mimalloc = "));
        line.unwrap().to_owned()
    };
    assert_eq!(allocator(&theirs), allocator(&ours));
    let [ours, theirs] = ["crates/toolgate/src/main.rs", "bench/mcp/src/main.rs"].map(|file| {
        let text = fs::read_to_string(top.join(file)).unwrap();
        text.lines().find(|line| line.starts_with("static ALLOCATOR")).map(str::to_owned)
    });
    assert!(theirs.is_some() && theirs == ours, "{theirs:?} {ours:?}");
}
