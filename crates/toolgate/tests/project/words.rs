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

/// What looks like it and is the same on every machine.
const EVERYWHERE: &[&str] = &[concat!("/proc/self/ro", "ot/"), concat!("/ro", "ot/.ssh")];

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
        let text = EVERYWHERE.iter().fold(text, |text, known| text.replace(known, ""));
        for (start, end) in FORBIDDEN {
            let word = format!("{start}{end}");
            assert!(!text.contains(&word), "`{word}` stands in {}", file.display());
        }
    }
}
