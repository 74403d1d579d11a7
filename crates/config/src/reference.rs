//! The reference page.

use crate::{Key, Kind, keys};

const INTRODUCTION: &str = "\
# Configuration

<!-- Generated from `crates/config/src/keys.rs`; change it there. -->

Toolgate reads `toolgate.toml` from `$XDG_CONFIG_HOME/toolgate`, or `~/.config/toolgate`, or the file that
`--config` names; one that ends in `.json5` or `.json` is read as JSON5, any other as TOML. Without a file
the defaults below apply. `calls_per_agent` and `callsPerAgent` are the same key; write one of them. A part
in angle brackets stands for any name. A key that is not listed here, or a value of another kind, is an
error that names the line. Secrets are never written in the file, only where they are.
";

/// A file that a test reads, so that it stays right.
const EXAMPLE: &str = r#"[tools]
deny = ["write"]
fs.roots = ["/srv/shared"]

[tools.by_provider.openai]
profile = "coding"
also_allow = ["web_search"]

[providers.local]
format = "openai"
base_url = "http://127.0.0.1:8000/v1"

[agents.reviewer]
model = "local/qwen3-coder"
prompt = "You review code. Say what is wrong and why."
workspace = "/srv/code"
tools.allow = ["group:fs"]

[limits]
approval_timeout = "10m"
rates.read = "60/min"

[secrets]
github = "env:GITHUB_TOKEN"
"#;

/// The same in JSON5.
const JSON_EXAMPLE: &str = r#"{
  tools: {
    deny: ["write"],
    fs: { roots: ["/srv/shared"] },
    byProvider: { openai: { profile: "coding", alsoAllow: ["web_search"] } },
  },
  providers: { local: { format: "openai", baseUrl: "http://127.0.0.1:8000/v1" } },
  agents: {
    reviewer: {
      model: "local/qwen3-coder",
      prompt: "You review code. Say what is wrong and why.",
      workspace: "/srv/code",
      tools: { allow: ["group:fs"] },
    },
  },
  limits: { approvalTimeout: "10m", rates: { read: "60/min" } },
  secrets: { github: "env:GITHUB_TOKEN" }, // comments and trailing commas are fine
}
"#;

const OPENCLAW: &str = "
The same in JSON5, with the names OpenClaw uses. A file written for OpenClaw can be read: `agents.list`,
`agents.defaults.model`, `models.providers`, `tools.sandbox.tools` and `tools.subagents.tools` mean what they mean
there, and a key that OpenClaw has and Toolgate does not is ignored with a warning.
";

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
    let mut page =
        format!("{INTRODUCTION}\n```toml\n{EXAMPLE}```\n{OPENCLAW}\n```json5\n{JSON_EXAMPLE}```\n");
    for section in keys().chunk_by(|one, other| one.section() == other.section()) {
        let name = section.first().map(Key::section).unwrap_or_default();
        page.extend(["\n## ", name, "\n"]);
        page.extend(section.chunk_by(|one, other| one.table() == other.table()).map(table));
    }
    page.push_str(VALUES);
    page.extend(Kind::EXPLAINED.iter().map(|kind| format!("| {kind} | {} |\n", kind.how())));
    page
}

/// The keys of one table of the file.
fn table(keys: &[Key]) -> String {
    let heading = keys.first().filter(|key| key.table() != key.section());
    let heading = heading.map(|key| format!("\n### `{}`\n", key.table())).unwrap_or_default();
    let rows: String = keys.iter().map(row).collect();
    format!("{heading}\n{HEADER}{rows}")
}

fn row(key: &Key) -> String {
    let Key { path, default, help, slot: _ } = key;
    let default = if default.is_empty() { "unset".to_owned() } else { format!("`{default}`") };
    format!("| `{path}` | {} | {default} | {help} |\n", key.kind())
}
