//! One thing that is asked for.

use serde_json::{Map, Value};

use super::zone;

/// One thing that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wish {
    Time {
        zone: Option<String>,
    },
    Read {
        path: String,
    },
    List {
        path: String,
    },
    Write {
        path: String,
        text: String,
        mode: Mode,
    },
    AddTask {
        title: String,
        due: Option<String>,
    },
    ListTasks {
        status: &'static str,
    },
    CompleteTask {
        which: String,
    },
    SaveNote {
        title: String,
        text: String,
    },
    SearchNotes {
        words: String,
    },
    Run {
        command: String,
    },
    Fetch {
        url: String,
    },
    SearchFiles {
        pattern: String,
        path: Option<String>,
    },
    SearchWeb {
        words: String,
    },
    Spawn {
        task: String,
    },
    /// A tool by its name, with these arguments.
    Tool {
        name: String,
        args: Result<Value, String>,
    },
    /// A greeting, or what this is.
    Hello,
}

/// What becomes of a file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Overwrite,
    Append,
}

/// `/tool_name {json}` at the beginning of `text`, and what follows it.
pub(super) fn direct(text: &str) -> Option<(Wish, &str)> {
    let rest = text.strip_prefix('/')?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let end = rest.find(|c: char| !allowed(c)).unwrap_or(rest.len());
    let (name, after) = rest.split_at_checked(end)?;
    // `/etc/hosts` is a path.
    if name.is_empty() || after.starts_with('/') {
        return None;
    }
    let (args, after) = arguments(after);
    Some((Wish::Tool { name: name.to_owned(), args }, after))
}

/// The JSON that `text` begins with, or why there is none, and what follows it.
fn arguments(text: &str) -> (Result<Value, String>, &str) {
    let json = text.trim_start();
    if !json.starts_with('{') {
        return (Ok(Value::Object(Map::new())), text);
    }
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>();
    match values.next() {
        Some(Ok(value)) => (Ok(value), json.get(values.byte_offset()..).unwrap_or_default()),
        Some(Err(error)) => (Err(error.to_string()), ""),
        None => (Ok(Value::Object(Map::new())), ""),
    }
}

/// What one part of a request asks for, if that is understood.
pub(super) fn read(part: &str) -> Option<Wish> {
    let part = after_courtesy(part.trim().trim_start_matches(['-', '*', '•']).trim_start());
    // These take what follows as it is.
    if let Some(wish) = run(part).or_else(|| write(part)) {
        return Some(wish);
    }
    let part = before_courtesy(part);
    [save_note, search_notes, add_task, complete_task, list_tasks, list_files, fetch, search_web]
        .into_iter()
        .chain([search_files, spawn, time, read_file, hello])
        .find_map(|understand| understand(part))
}

/// What follows one of these beginnings, which end where a word does.
fn after<'a>(text: &'a str, beginnings: &[&str]) -> Option<&'a str> {
    beginnings.iter().find_map(|beginning| {
        let matches = text.get(..beginning.len())?.eq_ignore_ascii_case(beginning);
        let rest = text.get(beginning.len()..)?;
        let ends = rest.chars().next().is_none_or(|next| !next.is_alphanumeric());
        (matches && ends).then(|| rest.trim_start_matches([':', ',']).trim())
    })
}

/// What stands around the last of these words.
fn around_last<'a>(text: &'a str, words: &[&str]) -> Option<(&'a str, &'a str)> {
    let lower = text.to_ascii_lowercase();
    let found = words.iter().filter_map(|word| Some((lower.rfind(word)?, word.len())));
    let (at, length) = found.max()?;
    let (before, after) = (text.get(..at)?.trim(), text.get(at + length..)?.trim());
    (!before.is_empty() && !after.is_empty()).then_some((before, after))
}

/// Without what people say out of courtesy before they come to the point.
fn after_courtesy(text: &str) -> &str {
    const COURTESY: &[&str] = &[
        "please",
        "can you",
        "could you",
        "would you",
        "will you",
        "now",
        "first",
        "then",
        "also",
        "and",
        "i want you to",
        "i would like you to",
        "i'd like you to",
        "let's",
        "let us",
        "ok",
        "okay",
    ];
    let mut text = text.trim();
    while let Some(rest) = after(text, COURTESY).filter(|rest| !rest.is_empty()) {
        text = rest;
    }
    text
}

/// Without what people say out of courtesy at the end.
fn before_courtesy(text: &str) -> &str {
    const COURTESY: &[&str] = &[" please", " for me", " thanks", " thank you", " now"];
    let mut text = text.trim_end_matches(['.', '!', '?', ' ']);
    while let Some(shorter) = COURTESY.iter().find_map(|end| {
        let at = text.len().checked_sub(end.len())?;
        let matches = text.get(at..)?.eq_ignore_ascii_case(end);
        matches.then(|| text.get(..at))?
    }) {
        text = shorter.trim_end_matches([',', '.', '!', '?', ' ']);
    }
    text
}

/// Without the quotes around it.
fn unquoted(text: &str) -> String {
    let pairs = [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('«', '»')];
    let inner = pairs.iter().find_map(|(open, close)| {
        text.strip_prefix(*open)?.strip_suffix(*close).filter(|inner| !inner.contains(*close))
    });
    inner.unwrap_or(text).to_owned()
}

/// What follows is not empty.
fn something(text: &str) -> Option<String> {
    Some(unquoted(text)).filter(|text| !text.is_empty())
}

fn run(part: &str) -> Option<Wish> {
    let rest = part.strip_prefix("$ ").or_else(|| {
        after(part, &["run the command", "run command", "run", "execute the command", "execute"])
    })?;
    Some(Wish::Run { command: something(rest)? })
}

fn write(part: &str) -> Option<Wish> {
    let (mode, rest) = match after(part, &["append"]) {
        Some(rest) => (Mode::Append, rest),
        None => (Mode::Overwrite, after(part, &["write", "save", "put"])?),
    };
    // That is another tool.
    if after(rest, &["a note", "the note", "note", "this note"]).is_some() {
        return None;
    }
    let (text, path) = around_last(rest, &[" to the file ", " into the file ", " to ", " into "])?;
    let text = after(text, &["the text", "the words"]).filter(|text| !text.is_empty());
    let (whole, _) = around_last(rest, &[" to the file ", " into the file ", " to ", " into "])?;
    let text = unquoted(text.unwrap_or(whole));
    let path = something(path.trim_end_matches(['.', '!']))?;
    // `write a letter to my aunt` is not for us.
    (!path.contains(' ')).then_some(Wish::Write { path, text, mode })
}

fn save_note(part: &str) -> Option<Wish> {
    let rest = after(part, &["save", "take", "make", "add", "write", "create"])
        .and_then(|rest| after(rest, &["a note", "the note", "this note", "note"]))
        .or_else(|| after(part, &["note down", "note"]))?;
    let rest = after(rest, &["that says", "called", "about", "that"]).unwrap_or(rest);
    let (title, text) = rest.split_once(':').map_or((rest, rest), |(a, b)| (a.trim(), b.trim()));
    // Without a title, its first words.
    let title: Vec<_> = title.split_whitespace().take(8).collect();
    let (title, text) = (something(&title.join(" "))?, something(text)?);
    Some(Wish::SaveNote { title, text })
}

fn search_notes(part: &str) -> Option<Wish> {
    let rest = after(part, &["search", "find", "look in", "look through", "show", "list"])?;
    let rest = after(rest, &["in", "through", "me"]).unwrap_or(rest);
    let rest = after(rest, &["my", "the", "all"]).unwrap_or(rest);
    let rest = after(rest, &["notes", "note"])?;
    let words = after(rest, &["for", "about", "on", "with", "that mention"]).unwrap_or(rest);
    let words = if words.is_empty() { "*".to_owned() } else { unquoted(words) };
    Some(Wish::SearchNotes { words })
}

fn add_task(part: &str) -> Option<Wish> {
    let rest = after(part, &["add", "create", "make"])
        .and_then(|rest| {
            after(rest, &["a new task", "a task", "the task", "new task", "task", "a todo", "todo"])
        })
        .or_else(|| after(part, &["new task", "remind me to"]))?;
    let rest = after(rest, &["to", "called", "that says"]).unwrap_or(rest);
    let (title, due) = around_last(rest, &[" due on ", " due by ", " due "])
        .map_or((rest, None), |(title, due)| (title, Some(unquoted(due))));
    Some(Wish::AddTask { title: something(title)?, due })
}

fn list_tasks(part: &str) -> Option<Wish> {
    let asks = after(part, &["list", "show", "what", "which", "tasks", "my tasks", "see"])?;
    let word = |word: &str| part.split_whitespace().any(|found| found.eq_ignore_ascii_case(word));
    let named = word("tasks") || word("todos") || word("todo");
    let status = if word("completed") || word("done") || word("finished") {
        "completed"
    } else if word("open") || word("pending") || word("left") {
        "pending"
    } else {
        "all"
    };
    (named && asks.len() < 60).then_some(Wish::ListTasks { status })
}

fn complete_task(part: &str) -> Option<Wish> {
    let rest = after(part, &["complete", "finish", "close", "check off", "tick off", "mark"])?;
    let task = after(rest, &["the task", "task", "my task"]);
    let done = [" as done", " as completed", " as complete", " as finished", " done"];
    let lower = rest.to_ascii_lowercase();
    let end = done.iter().find(|end| lower.ends_with(**end));
    if task.is_none() && end.is_none() {
        return None;
    }
    let which = task.unwrap_or(rest);
    let kept = which.len().saturating_sub(end.map_or(0, |end| end.len()));
    let which = which.get(..kept).unwrap_or(which).trim();
    Some(Wish::CompleteTask { which: something(which.trim_start_matches('#'))? })
}

fn list_files(part: &str) -> Option<Wish> {
    let of = |rest: &str| {
        let rest = after(rest, &["in", "of", "from", "at", "under"]).unwrap_or(rest);
        let rest =
            after(rest, &["the folder", "the directory", "folder", "directory"]).unwrap_or(rest);
        let here = ["", "here", "there", "this folder", "the workspace", "are there", "are here"];
        let here = here.iter().any(|word| rest.eq_ignore_ascii_case(word));
        let path = if here { ".".to_owned() } else { unquoted(rest) };
        (!path.contains(' ')).then_some(Wish::List { path })
    };
    if let Some(rest) = after(part, &["ls", "dir"]) {
        return of(rest);
    }
    let rest = after(part, &["list", "show me", "show", "what", "which"])?;
    let rest = after(rest, &["all the", "all", "the", "my"]).unwrap_or(rest);
    let rest = after(rest, &["files", "folder", "directory"])?;
    of(after(rest, &["are there", "are", "do i have"]).unwrap_or(rest))
}

fn fetch(part: &str) -> Option<Wish> {
    let sure = after(part, &["fetch", "download", "browse to"]);
    let rest = sure.or_else(|| after(part, &["get", "open", "visit", "go to", "read"]))?;
    let rest = after(rest, &["the page", "the url", "the website", "page", "url"]).unwrap_or(rest);
    let url = something(rest)?;
    let is_url = url.starts_with("http://") || url.starts_with("https://");
    let like_one = sure.is_some() && url.contains('.') && !url.contains(' ');
    match (is_url && !url.contains(' '), like_one) {
        (true, _) => Some(Wish::Fetch { url }),
        (false, true) => Some(Wish::Fetch { url: format!("https://{url}") }),
        (false, false) => None,
    }
}

fn search_web(part: &str) -> Option<Wish> {
    let rest = after(part, &["search the web for", "search the internet for", "search online for"])
        .or_else(|| after(part, &["web search", "google", "look up"]))?;
    let words = something(after(rest, &["for"]).unwrap_or(rest))?;
    Some(Wish::SearchWeb { words })
}

fn search_files(part: &str) -> Option<Wish> {
    let rest = after(part, &["search the files for", "search files for", "search for", "search"])
        .or_else(|| after(part, &["grep for", "grep", "look for", "find"]))?;
    let quoted = unquoted(rest) != rest;
    let split = around_last(rest, &[" in the folder ", " in the file ", " in "]);
    let (pattern, path) = split
        .filter(|(_, path)| !quoted && !path.contains(' '))
        .map_or((rest, None), |(pattern, path)| (pattern, Some(unquoted(path))));
    Some(Wish::SearchFiles { pattern: something(pattern)?, path })
}

fn spawn(part: &str) -> Option<Wish> {
    let rest = after(part, &["spawn", "start", "ask", "tell", "use"])?;
    let rest =
        after(rest, &["an agent", "another agent", "a subagent", "a sub-agent", "subagent"])?;
    let task = after(rest, &["to", "that", "for", "which", "who"]).unwrap_or(rest);
    Some(Wish::Spawn { task: something(task)? })
}

fn time(part: &str) -> Option<Wish> {
    let lower = part.to_ascii_lowercase();
    let asks = ["what time", "the time", "current time", "time is it", "what day", "the date"];
    if !asks.iter().any(|words| lower.contains(words)) && after(part, &["time", "date"]).is_none() {
        return None;
    }
    let place = around_last(part, &[" in "]).map(|(_, place)| place);
    Some(Wish::Time { zone: place.map(|place| zone::named(&unquoted(place))) })
}

fn read_file(part: &str) -> Option<Wish> {
    let rest = after(part, &["read", "show me", "show", "cat", "open", "print", "display", "view"])
        .or_else(|| after(part, &["what is in", "what's in", "what does", "look at"]))?;
    let rest = after(rest, &["the contents of", "the content of"]).unwrap_or(rest);
    let rest = after(rest, &["the file", "file", "the"]).unwrap_or(rest);
    let rest = rest.strip_suffix(" say").unwrap_or(rest);
    let path = something(rest)?;
    // Names with spaces in them stand in quotes.
    (!path.contains(' ') || path != rest).then_some(Wish::Read { path })
}

fn hello(part: &str) -> Option<Wish> {
    let words =
        ["hello", "hi", "hey", "help", "good morning", "good evening", "thanks", "thank you"];
    let asks = ["what can you do", "who are you", "what are you", "how does this work"];
    after(part, &words).or_else(|| after(part, &asks)).map(|_| Wish::Hello)
}
