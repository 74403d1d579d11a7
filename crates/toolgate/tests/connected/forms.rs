//! Clients that cannot be installed here: the parser they use, and the form they describe.

use std::{io::Write as _, process::Stdio};

use serde::Deserialize;
use serde_json::Value;

use crate::{
    install::Installed,
    person::{Person, TOKEN},
};

/// Reads JSON with comments with the parser of Visual Studio Code, and YAML with one that follows the standard to
/// the letter, and prints what they say as JSON.
const READ: &str = r"
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
const require = createRequire(process.argv[3] + '/');
const text = readFileSync(0, 'utf8');
if (process.argv[2] === 'yaml') {
  console.log(JSON.stringify(require('yaml').parse(text, { strict: true })));
} else {
  const errors = [];
  const options = { allowTrailingComma: true, disallowComments: process.argv[2] === 'json' };
  const value = require('jsonc-parser').parse(text, errors, options);
  if (errors.length) throw new Error(JSON.stringify(errors));
  console.log(JSON.stringify(value));
}
";

/// As the makers of each describe it; whatever else stands there is an error.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
#[expect(dead_code, reason = "it is read, and nothing else")]
enum Usual {
    Stdio { command: String, args: Vec<String> },
    Http { url: String, headers: Headers },
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
#[expect(dead_code, reason = "it is read, and nothing else")]
enum Vscode {
    Stdio { command: String, args: Vec<String> },
    Http { url: String, headers: Headers },
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "it is read, and nothing else")]
struct Goose {
    enabled: bool,
    name: String,
    description: String,
    timeout: Option<u64>,
    #[serde(flatten)]
    kind: GooseKind,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(dead_code, reason = "it is read, and nothing else")]
enum GooseKind {
    Stdio { cmd: String, args: Vec<String> },
    StreamableHttp { uri: String, headers: Headers, env_keys: Vec<String> },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "it is read, and nothing else")]
struct Headers {
    #[serde(rename = "Authorization")]
    authorization: String,
}

pub(crate) fn the_others_can_read_it(installed: &Installed) {
    let person = Person::new();
    person.file("read.mjs", READ);
    person.file(".config/toolgate/toolgate.toml", "[agents.\"a b\"]\n");
    for (client, form, path) in [
        ("claude-desktop", "json", "/mcpServers/toolgate"),
        ("cursor", "json", "/mcpServers/toolgate"),
        ("vscode", "jsonc", "/servers/toolgate"),
        ("zed", "jsonc", "/context_servers/toolgate"),
        ("goose", "yaml", "/extensions/toolgate"),
    ] {
        for more in
            [&["--agent", "a b"][..], &["--url", "https://host/mcp", "--token-env", TOKEN.0]]
        {
            if client == "claude-desktop" && more[0] == "--url" {
                continue;
            }
            let printed = person.toolgate(&[&["connect", client, "--print"], more].concat());
            let value = read(installed, &person, form, &printed);
            let entry = value.pointer(path).cloned().unwrap();
            let fits = match client {
                "vscode" => serde_json::from_value::<Vscode>(entry.clone()).map(drop),
                "goose" => serde_json::from_value::<Goose>(entry.clone()).map(drop),
                _ => serde_json::from_value::<Usual>(entry.clone()).map(drop),
            };
            fits.unwrap_or_else(|error| panic!("{client}: {error}: {entry}"));
            // And within a file of theirs, beside what they wrote.
            let (file, before) = theirs(client);
            person.file(file, before);
            let yes = [&["connect", client, "--yes"], more].concat();
            person.toolgate(&yes);
            let value = read(installed, &person, form, &person.text(file));
            assert!(value.pointer(path).is_some(), "{client}: {value}");
            assert!(value.to_string().contains("other"), "{client}: {value}");
        }
    }
}

fn read(installed: &Installed, person: &Person, form: &str, text: &str) -> Value {
    let mut node = person.script(installed, &person.path("read.mjs"));
    node.arg(form).arg(installed.parsers()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = node.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{form}:\n{text}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn theirs(client: &str) -> (&'static str, &'static str) {
    match client {
        "claude-desktop" => (
            ".config/Claude/claude_desktop_config.json",
            "{\"mcpServers\": {\"other\": {\"command\": \"x\"}}}",
        ),
        "cursor" => (
            ".cursor/mcp.json",
            "{\n  \"mcpServers\": {\n    \"other\": {\"url\": \"https://x\"}\n  }\n}\n",
        ),
        "vscode" => (
            ".config/Code/User/mcp.json",
            "{\n\t// servers\n\t\"servers\": {\n\t\t\"other\": {\"command\": \"x\"}, // x\n\t},\n\t\"inputs\": [],\n}\n",
        ),
        "zed" => {
            (".config/zed/settings.json", "// settings\n{\n  \"theme\": \"other\", // dark\n}\n")
        }
        _ => (
            ".config/goose/config.yaml",
            "GOOSE_MODEL: m\nextensions:\n  other:\n    enabled: true\n    type: builtin\n    name: other\n# end\n",
        ),
    }
}
