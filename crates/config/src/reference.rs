//! The reference page.

use crate::{Key, Kind, keys};

const INTRODUCTION: &str = "\
# Configuration

<!-- Generated from `crates/config/src/keys.rs`; change it there. -->

Toolgate reads `toolgate.toml` from `$XDG_CONFIG_HOME/toolgate`, or `~/.config/toolgate`, or the file that
`--config` names. Without a file the defaults below apply. `calls_per_agent` and `callsPerAgent` are the
same key; write one of them. A key that is not listed here, or a value of another kind, is an error
that names the line. Secrets are never written in the file, only where they are.
";

/// A file that a test reads, so that it stays right.
const EXAMPLE: &str = r#"[tools]
deny = ["write"]
fs.roots = ["/srv/shared"]

[agents.reviewer]
workspace = "/srv/code"
tools.allow = ["group:fs"]

[limits]
approval_timeout = "10m"
rates.read = "60/min"

[secrets]
github = "env:GITHUB_TOKEN"
"#;

const HEADER: &str = "\
| key | value | default | what it is for |
| --- | --- | --- | --- |
";

const VALUES: &str = "
## How values are written

Everything but numbers and lists stands in quotes.

| value | how |
| --- | --- |
";

/// `docs/reference/configuration.md`, made from [`keys`].
pub fn reference() -> String {
    let mut page = format!("{INTRODUCTION}\n```toml\n{EXAMPLE}```\n");
    for section in keys().chunk_by(|one, other| one.section() == other.section()) {
        let name = section.first().map(Key::section).unwrap_or_default();
        page.extend(["\n## ", name, "\n\n", HEADER]);
        page.extend(section.iter().map(row));
    }
    page.push_str(VALUES);
    page.extend(Kind::EXPLAINED.iter().map(|kind| format!("| {kind} | {} |\n", kind.how())));
    page
}

fn row(key: &Key) -> String {
    let Key { path, default, help, slot: _ } = key;
    let default = if default.is_empty() { "unset".to_owned() } else { format!("`{default}`") };
    format!("| `{path}` | {} | {default} | {help} |\n", key.kind())
}
