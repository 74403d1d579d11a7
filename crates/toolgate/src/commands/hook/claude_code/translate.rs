//! Claude Code's tools and arguments in our words.

use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value, json};
use unicode_normalization::is_nfc;

/// So many links are followed, as by the system.
const MOST_LINKS: usize = 40;

/// The longest path there can be.
const LONGEST: usize = 4096;

/// What a call of Claude Code means here.
#[derive(Debug, PartialEq)]
pub(super) enum Meaning {
    /// The same as a call of this tool with these arguments.
    Call(&'static str, Value),
    /// It touches nothing outside Claude Code.
    Nothing,
    /// Nobody knows, for this reason.
    Unknown(String),
}

/// A tool of Claude Code: its arguments, all of them, and what it means.
struct Known {
    name: &'static str,
    args: &'static [&'static str],
    means: fn(&Given<'_>) -> Option<(&'static str, Value)>,
}

/// What was given to a tool, and where.
struct Given<'a> {
    input: &'a Map<String, Value>,
    cwd: &'a Path,
    root: &'a Path,
}

/// Tools that keep Claude Code's own list of what is to be done. Not those that put something to the person:
/// to allow them would be to answer.
const TASKS: &[&str] = &["TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TodoWrite"];

const KNOWN: &[Known] = &[
    Known {
        name: "Bash",
        args: &["command", "description", "run_in_background", "timeout"],
        means: |given| {
            let background = given.input.get("run_in_background").is_some_and(|on| *on != false);
            // Nobody said `auto` with this in mind.
            Some((
                "exec",
                json!({
                    "command": given.text("command")?,
                    "workdir": given.here()?,
                    "background": background,
                    "host": "host",
                    "ask": "smart"
                }),
            ))
        },
    },
    Known {
        name: "Edit",
        args: &["file_path", "old_string", "new_string", "replace_all"],
        means: |given| {
            Some((
                "edit",
                json!({
                    "path": given.path("file_path")?,
                    "oldText": given.text("old_string")?,
                    "newText": given.text("new_string")?
                }),
            ))
        },
    },
    Known {
        name: "Glob",
        args: &["pattern", "path"],
        means: |given| {
            let (folder, pattern) = given.pattern("pattern", "path")?;
            Some(("glob", json!({"pattern": pattern, "path": folder})))
        },
    },
    Known {
        name: "Grep",
        args: &[
            "pattern",
            "path",
            "glob",
            "output_mode",
            "-A",
            "-B",
            "-C",
            "-i",
            "-n",
            "-o",
            "context",
            "head_limit",
            "multiline",
            "offset",
            "type",
        ],
        means: |given| {
            given.text("pattern")?;
            // What it looks for does not matter, only where.
            Some(("grep", json!({"pattern": "x", "path": given.path_or_here("path")?})))
        },
    },
    Known {
        name: "LS",
        args: &["path", "ignore"],
        means: |given| Some(("ls", json!({"path": given.path("path")?}))),
    },
    Known {
        name: "MultiEdit",
        args: &["file_path", "edits"],
        means: |given| {
            Some((
                "edit",
                json!({
                    "path": given.path("file_path")?,
                    "edits": given.edits()?
                }),
            ))
        },
    },
    Known {
        name: "NotebookEdit",
        args: &["notebook_path", "cell_id", "cell_number", "cell_type", "edit_mode", "new_source"],
        means: |given| {
            Some((
                "write",
                json!({
                    "path": given.path("notebook_path")?,
                    "content": given.text("new_source").unwrap_or_default()
                }),
            ))
        },
    },
    Known {
        name: "Read",
        args: &["file_path", "limit", "offset", "pages"],
        means: |given| Some(("read", json!({"path": given.path("file_path")?}))),
    },
    Known {
        name: "WebFetch",
        args: &["url", "prompt"],
        means: |given| Some(("http_request", json!({"url": given.text("url")?}))),
    },
    Known {
        name: "WebSearch",
        args: &["query", "allowed_domains", "blocked_domains"],
        means: |given| Some(("web_search", json!({"query": given.text("query")?}))),
    },
    Known {
        name: "Write",
        args: &["file_path", "content"],
        means: |given| {
            Some((
                "write",
                json!({
                    "path": given.path("file_path")?,
                    "content": given.text("content")?
                }),
            ))
        },
    },
];

/// What a call of the tool `name` with `input` means.
pub(super) fn translate(name: &str, input: &Value, cwd: &Path, root: &Path) -> Meaning {
    if TASKS.contains(&name) {
        return Meaning::Nothing;
    }
    let Some(known) = KNOWN.iter().find(|known| known.name == name) else {
        return Meaning::Unknown(format!("Toolgate does not know the tool `{name}`"));
    };
    let Some(input) = input.as_object() else {
        return Meaning::Unknown(format!("the arguments of `{name}` are no object"));
    };
    if let Some(other) = input.keys().find(|key| !known.args.contains(&key.as_str())) {
        return Meaning::Unknown(format!(
            "Toolgate does not know the argument `{other}` of `{name}`"
        ));
    }
    match (known.means)(&Given { input, cwd, root }) {
        Some((tool, args)) => Meaning::Call(tool, args),
        None => {
            Meaning::Unknown(format!("Toolgate cannot tell what these arguments of `{name}` mean"))
        }
    }
}

impl Given<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.input.get(name).and_then(Value::as_str)
    }

    fn path(&self, name: &str) -> Option<String> {
        self.text(name).filter(|path| !path.is_empty()).and_then(|path| self.place(path))
    }

    fn path_or_here(&self, name: &str) -> Option<String> {
        match self.input.get(name) {
            Some(_) => self.path(name),
            None => self.here(),
        }
    }

    fn here(&self) -> Option<String> {
        self.place(&self.cwd.to_string_lossy())
    }

    /// The folder that a pattern begins in, and the rest of it, which stays beneath.
    fn pattern(&self, name: &str, folder: &str) -> Option<(String, String)> {
        let pattern = self.text(name)?;
        let leaves = pattern.starts_with(['/', '~'])
            || !is_taken_as_written(pattern)
            || pattern.split(['/', '{', ',', '}']).any(|part| part == "..")
            || pattern.rsplit('/').skip(1).any(may_become_parent);
        if leaves {
            return None;
        }
        let special = pattern.find(['*', '?', '[', '{', '(', '\\']).unwrap_or(pattern.len());
        let fixed = pattern.get(..special)?.rfind('/').map_or(0, |slash| slash + 1);
        let (inner, rest) = pattern.split_at_checked(fixed)?;
        let place = self.path_or_here(folder)?;
        let place = match inner {
            "" => place,
            inner => self.place(self.root.join(place).join(inner).to_str()?)?,
        };
        Some((place, rest.to_owned()))
    }

    /// A path as our tools take it, after all links: within the workspace if it is there, else whole. Nothing
    /// if it would be another file to us.
    fn place(&self, path: &str) -> Option<String> {
        // Claude Code takes `~` for the home folder.
        if path.starts_with('~') || !is_taken_as_written(path) {
            return None;
        }
        let whole = self.cwd.join(path);
        if !is_nfc(whole.to_str()?) || whole.components().any(|part| part == Component::ParentDir) {
            return None;
        }
        let real = resolved(&whole, MOST_LINKS)?;
        match real.strip_prefix(self.root) {
            Ok(inner) if inner.as_os_str().is_empty() => Some(".".to_owned()),
            Ok(inner) => {
                Some(inner.to_str()?.to_owned()).filter(|inner| !inner.starts_with("artifact:"))
            }
            // Our tools have a `/tmp` of their own.
            Err(_) if real.starts_with("/tmp") => None,
            Err(_) => Some(real.to_str()?.to_owned()),
        }
    }

    fn edits(&self) -> Option<Value> {
        let edits = self.input.get("edits")?.as_array()?.iter();
        let edits = edits.map(|edit| {
            let text = |name: &str| edit.get(name).and_then(Value::as_str);
            Some(json!({"oldText": text("old_string")?, "newText": text("new_string")?}))
        });
        edits.collect::<Option<Vec<_>>>().map(Value::from)
    }
}

/// Whether a part of a pattern may come to be `..`, as `{.,x}.` does.
fn may_become_parent(part: &str) -> bool {
    part.contains('.') && part.contains(['{', '}', '(', ')', '[', ']', ',', '\\'])
}

/// Whether Claude Code takes a text for the path that it is. It leaves out what JavaScript takes for blanks
/// around it, which the mark of byte order is too, and composes letters with their accents.
fn is_taken_as_written(path: &str) -> bool {
    let is_blank = |letter: char| letter.is_whitespace() || letter == '\u{feff}';
    !path.starts_with(is_blank) && !path.ends_with(is_blank) && is_nfc(path)
}

/// Where a path leads after all links, also if nothing is there yet.
fn resolved(path: &Path, links: usize) -> Option<PathBuf> {
    if path.as_os_str().len() > LONGEST {
        return None;
    }
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    let folder = resolved(path.parent()?, links)?;
    let whole = folder.join(path.file_name()?);
    match whole.read_link() {
        Ok(target) => resolved(&folder.join(target), links.checked_sub(1)?),
        Err(_) => Some(whole),
    }
}
