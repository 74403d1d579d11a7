//! Every published failure of systems like this one that concerns what is built is a test.

use std::fs;

use serde_json::Value;

/// The steps that are built; later ones are not looked for yet.
const BUILT: u64 = 6;

#[test]
fn every_advisory_of_what_is_built_is_named_by_a_test() {
    let top = crate::top();
    let cases =
        fs::read_to_string(top.join("crates/toolgate/tests/cases/advisories.json")).unwrap();
    let cases: Value = serde_json::from_str(&cases).unwrap();
    let own = file!().rsplit('/').next().unwrap();
    let sources: Vec<String> = crate::files(&top.join("crates"), ".rs")
        .iter()
        .filter(|path| !(path.ends_with(own) && path.to_string_lossy().contains("project")))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    for case in cases["cases"].as_array().unwrap() {
        if case["step"].as_u64().unwrap() <= BUILT {
            let id = case["id"].as_str().unwrap();
            let (id, as_name) = (id, id.replace('-', "_"));
            let named = sources.iter().any(|text| text.contains(id) || text.contains(&as_name));
            assert!(named, "no test names `{id}`: {case}");
        }
    }
}
