//! Pages that are made from the code. `UPDATE_DOCS=1 cargo test -p toolgate --test project` writes them.

use std::{fmt::Write as _, fs, process::Command};

use serde_json::Value;
use toolgate::{ToolInfo, builtin};

use crate::top;

/// Compares `path` with what it should be, or writes it.
fn check(path: &str, expected: &str) {
    let file = top().join(path);
    if config::environment("UPDATE_DOCS").is_some() {
        fs::write(file, expected).unwrap();
        return;
    }
    let now = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        now == expected,
        "`{path}` is out of date: UPDATE_DOCS=1 cargo test -p toolgate --test project"
    );
}

#[test]
fn the_configuration_reference_is_up_to_date() {
    check("docs/reference/configuration.md", &config::reference());
}

#[test]
fn the_tools_reference_is_up_to_date() {
    let mut page = "# Built-in tools\n\nMade from the code; do not edit.\n".to_owned();
    for tool in builtin() {
        write_tool(&mut page, tool.info());
    }
    check("docs/reference/tools.md", &page);
}

fn write_tool(page: &mut String, info: &ToolInfo) {
    writeln!(page, "\n## `{}`\n\n{}\n", info.name, info.description).unwrap();
    let aliases = info.aliases.iter().map(|alias| format!("`{alias}`")).collect::<Vec<_>>();
    let aliases = if aliases.is_empty() { "none".to_owned() } else { aliases.join(", ") };
    let (effects, seconds) = (info.effects, info.timeout.as_secs());
    writeln!(page, "Effects: {effects} · timeout: {seconds} s · also called: {aliases}\n").unwrap();
    let parameters = info.parameters["properties"].as_object();
    let Some(parameters) = parameters.filter(|parameters| !parameters.is_empty()) else {
        return writeln!(page, "It takes no parameters.").unwrap();
    };
    writeln!(page, "| parameter | type | | what it is |\n| --- | --- | --- | --- |").unwrap();
    let required: Vec<_> = info.parameters["required"].as_array().into_iter().flatten().collect();
    for (name, schema) in parameters {
        let needed = if required.iter().any(|r| *r == name) { "required" } else { "" };
        let what = schema["description"].as_str().unwrap_or_default().replace('\n', " ");
        writeln!(page, "| `{name}` | {} | {needed} | {what} |", kind(schema)).unwrap();
    }
}

fn kind(schema: &Value) -> String {
    let values = schema["enum"].as_array();
    let values = values.map(|list| list.iter().filter_map(Value::as_str).collect::<Vec<_>>());
    values.map_or_else(
        || schema["type"].as_str().unwrap_or("any").to_owned(),
        |values| values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(" or "),
    )
}

#[test]
fn the_command_line_reference_is_up_to_date() {
    let mut page = "# Command line\n\nMade from the code; do not edit.\n".to_owned();
    write_command(&mut page, "toolgate");
    // A help that is laid out differently must not leave an empty page.
    assert!(page.matches("\n## `toolgate ").count() > 40, "{page}");
    check("docs/reference/command-line.md", &page);
}

/// The help of a command, and of those beneath it.
fn write_command(page: &mut String, name: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .args(name.split_whitespace().skip(1))
        .arg("--help")
        .env("COLUMNS", "100")
        .output()
        .unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> = help.trim_end().lines().map(str::trim_end).collect();
    write!(page, "\n## `{name}`\n\n```text\n{}\n```\n", lines.join("\n")).unwrap();
    for command in listed_commands(&lines) {
        write_command(page, &format!("{name} {command}"));
    }
}

/// Titles of lists of commands: the groups of the whole, and the one list of a command that has others beneath it.
const TITLES: [&str; 6] =
    ["Start:", "Use with your agent:", "Decide:", "Look back:", "Administer:", "Commands:"];

/// The commands that a help lists, in its order.
fn listed_commands<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let (mut found, mut listing) = (Vec::new(), false);
    for line in lines {
        listing = (listing && !line.is_empty()) || TITLES.contains(line);
        // What goes on from the line above is indented further.
        let Some(command) = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')) else {
            continue;
        };
        let command = command.split_whitespace().next().unwrap();
        if listing && command != "help" {
            found.push(command);
        }
    }
    found
}

#[test]
fn the_table_of_tools_in_the_readme_is_up_to_date() {
    let mut table = "| section | tools and their effects |\n| --- | --- |\n".to_owned();
    // They come section by section; what each does is in the reference.
    for section in builtin().chunk_by(|one, next| one.info().section == next.info().section) {
        let tools: Vec<_> = section.iter().map(|tool| shown(tool.info())).collect();
        writeln!(table, "| {} | {} |", section[0].info().section, tools.join(", ")).unwrap();
    }
    let readme = fs::read_to_string(top().join("README.md")).unwrap();
    let (begin, end) = ("<!-- tools:begin -->\n", "<!-- tools:end -->");
    let (before, rest) = readme.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    check("README.md", &format!("{before}{begin}{table}{end}{after}"));
}

/// A tool and its effects, in a row of its section.
fn shown(info: &ToolInfo) -> String {
    format!("`{}` ({})", info.name, info.effects)
}
