//! What must not stand in the repository.

use std::fs;

/// Text that belongs to one machine or one registry, in pieces so that it is not found here.
const FORBIDDEN: &[(&str, &str)] = &[
    ("/wo", "rk/"),
    ("/ro", "ot/"),
    ("index.crates", ".io"),
    ("registry.npmjs", ".org"),
    ("todo", "!("),
    ("unimplemented", "!("),
];

#[test]
fn nothing_of_a_machine_and_nothing_unfinished_stands_here() {
    let top = crate::top();
    let mut files = Vec::new();
    for folder in ["crates", "docs", ".ci"] {
        for ending in [".rs", ".md", ".toml", ".sql", ".snap", "run"] {
            files.extend(crate::files(&top.join(folder), ending));
        }
    }
    for name in ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "Makefile"] {
        files.push(top.join(name));
    }
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for (start, end) in FORBIDDEN {
            let word = format!("{start}{end}");
            assert!(!text.contains(&word), "`{word}` stands in {}", file.display());
        }
    }
}
