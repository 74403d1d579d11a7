//! What came of it, in sentences.

use serde_json::Value;

use super::{
    steps::{Done, Step},
    tasks,
    wish::Wish,
    words::Unclear,
};

/// What is repeated of a result.
const MAX_CHARS: usize = 2_000;

/// What each tool is for, as people ask for it.
const EXAMPLES: &[(&str, &str)] = &[
    ("get_current_time", "what time is it in Tokyo"),
    ("ls", "list files"),
    ("read", "read notes.txt"),
    ("write", "write \"hello\" to notes.txt"),
    ("grep", "search for TODO"),
    ("exec", "run cargo --version"),
    ("web_fetch", "fetch https://example.org"),
    ("add_task", "add a task buy milk due 2030-01-31"),
    ("list_tasks", "list my tasks"),
    ("complete_task", "complete task buy milk"),
    ("save_note", "save a note Wifi: the password is on the fridge"),
    ("search_notes", "search notes for wifi"),
    ("sessions_spawn", "spawn an agent to read every file here"),
];

/// What this is, what it understands, and how to get something better.
pub(super) fn help(tools: &[String]) -> String {
    let examples = EXAMPLES.iter().filter(|(tool, _)| tools.iter().any(|name| name == tool));
    let examples: Vec<_> = examples.map(|(_, example)| format!("- {example}")).collect();
    let understood = if examples.is_empty() {
        "None of my usual tools is available to this agent, so there is little I can do here."
            .to_owned()
    } else {
        format!(
            "I understand requests such as these, joined by \"and then\" or \"and also\":\n{}",
            examples.join("\n")
        )
    };
    format!(
        "I am the small demo that is built into Toolgate: a few rules, not a language model. \
         {understood}\n\nAny tool can be called as `/tool_name {{\"argument\": \"value\"}}`.\n\nTo talk \
         to a real model, set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY` or \
         `OPENROUTER_API_KEY` (or `OLLAMA_HOST` for models on your own machine) and start Toolgate \
         again, or configure a provider in `toolgate.toml`."
    )
}

/// What to say to what makes no sense to us.
pub(super) fn unclear(unclear: &Unclear, tools: &[String]) -> String {
    let Unclear { part, clear } = unclear;
    let part: String = part.chars().take(100).collect();
    match (part.as_str(), clear) {
        ("", _) => help(tools),
        (part, 0) => format!("I do not understand \"{part}\". {}", help(tools)),
        (part, _) => format!(
            "I do not understand \"{part}\", so I have done nothing of it. Say \"help\" to see what \
             I understand."
        ),
    }
}

/// That there is no such tool, and why that may be.
pub(super) fn missing(tool: &str) -> String {
    format!(
        "I would use the tool `{tool}` for that, but this agent does not have it: its profile or the \
         policy may leave it out, or it is not available on this machine. `toolgate policy explain \
         {tool}` says which."
    )
}

/// What came of everything that was asked for.
pub(super) fn of(done: &[Done<'_>]) -> String {
    let sentences: Vec<_> = done.iter().filter_map(sentence).collect();
    if sentences.is_empty() {
        "There was nothing to do.".to_owned()
    } else {
        sentences.join("\n\n")
    }
}

/// The same, for what was not done to its end.
pub(super) fn stopped(done: &[Done<'_>], why: &str) -> String {
    let sentences = done.iter().filter_map(sentence);
    sentences.chain([why.to_owned()]).collect::<Vec<_>>().join("\n\n")
}

fn sentence(done: &Done<'_>) -> Option<String> {
    let Done { step, tool, text, is_error } = done;
    if *is_error {
        return Some(failure(tool, text));
    }
    match step {
        Step::LookUp => None,
        Step::Complete(which) => Some(format!("The task `{which}` is done.")),
        Step::Do(wish) => Some(success(wish, tool, text)),
    }
}

/// `error_type: message`, as a sentence.
fn failure(tool: &str, text: &str) -> String {
    let (kind, message) = text.split_once(": ").unwrap_or(("", text));
    let message = if message.is_empty() { "it gave no reason" } else { message };
    let verb = if kind == "permission_denied" { "was not allowed" } else { "failed" };
    format!("`{tool}` {verb}: {}", short(message))
}

fn success(wish: &Wish, tool: &str, text: &str) -> String {
    match wish {
        Wish::Time { zone: Some(zone) } => format!("In {zone} it is {}.", text.trim()),
        Wish::Time { zone: None } => format!("It is {}.", text.trim()),
        Wish::Read { path } => shown(&format!("`{path}` says:"), text),
        Wish::List { path } => shown(&format!("In `{path}` there is:"), text),
        Wish::Write { path, .. } => format!("I wrote `{path}`."),
        Wish::AddTask { title, due: None } => format!("I added the task `{title}`."),
        Wish::AddTask { title, due: Some(due) } => {
            format!("I added the task `{title}`, due {due}.")
        }
        Wish::ListTasks { .. } => tasks_shown(text),
        Wish::CompleteTask { which } => format!("The task `{which}` is done."),
        Wish::SaveNote { title, .. } => format!("I saved the note `{title}`."),
        Wish::SearchNotes { words } => notes_shown(words, text),
        Wish::Run { command } => shown(&format!("`{command}` gave:"), text),
        Wish::Fetch { url } => shown(&format!("`{url}` answers:"), text),
        Wish::SearchFiles { pattern, .. } => shown(&format!("For `{pattern}` I found:"), text),
        Wish::SearchWeb { words } => shown(&format!("For `{words}` the web has:"), text),
        Wish::Spawn { .. } => {
            "I started an agent for that; you are told when it is done.".to_owned()
        }
        Wish::Tool { .. } => shown(&format!("`{tool}` gave:"), text),
        Wish::Hello => text.to_owned(),
    }
}

fn tasks_shown(text: &str) -> String {
    match tasks::listed(text) {
        None => shown("The tasks:", text),
        Some(tasks) if tasks.is_empty() => "There are no such tasks.".to_owned(),
        Some(tasks) => {
            let lines: Vec<_> = tasks.iter().map(tasks::shown).collect();
            shown("The tasks:", &lines.join("\n"))
        }
    }
}

fn notes_shown(words: &str, text: &str) -> String {
    let notes = serde_json::from_str::<Value>(text).ok();
    let notes = notes.and_then(|value| value.get("notes")?.as_array().cloned());
    let field = |note: &Value, name: &str| {
        note.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    match notes {
        None => shown("The notes:", text),
        Some(notes) if notes.is_empty() => format!("There is no note about `{words}`."),
        Some(notes) => {
            let line =
                |note: &Value| format!("- {}: {}", field(note, "title"), field(note, "content"));
            shown("The notes:", &notes.iter().map(line).collect::<Vec<_>>().join("\n"))
        }
    }
}

/// A result under its title.
fn shown(title: &str, text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() {
        return format!("{title} nothing.").replace(": nothing", " nothing");
    }
    format!("{title}\n{}", short(text))
}

fn short(text: &str) -> String {
    let mut letters = text.chars();
    let short: String = letters.by_ref().take(MAX_CHARS).collect();
    if letters.next().is_some() { short + "…" } else { short }
}
