//! From wishes to calls, round by round.

use provider::{Message, WireResult};
use serde_json::{Value, json};

use super::{
    speech, tasks,
    wish::{Mode, Wish},
};

/// What the model does next.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    Say(String),
    /// Tools and their arguments.
    Call(Vec<(String, Value)>),
}

/// One call of a round.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// What a wish comes to.
    Do(Wish),
    /// The tasks, to find the one that is meant.
    LookUp,
    /// Completes the task that was looked up.
    Complete(String),
}

/// A step, and what came of it.
pub(super) struct Done<'a> {
    pub(super) step: &'a Step,
    /// The tool that was called for it.
    pub(super) tool: String,
    pub(super) text: String,
    pub(super) is_error: bool,
}

/// How to go on, after all that was called `since` the request.
pub(super) fn next(groups: &[Vec<Wish>], since: &[Message], tools: &[String]) -> Next {
    let rounds: Vec<Vec<Step>> =
        groups.iter().flat_map(|group| rounds(group, has(tools, "list_tasks"))).collect();
    let results = results(since);
    let mut done: Vec<Done<'_>> = Vec::new();
    for (index, round) in rounds.iter().enumerate() {
        let looked_up = done.last().filter(|done| *done.step == Step::LookUp);
        let looked_up = looked_up.map(|done| done.text.clone());
        let planned: Result<Vec<_>, String> =
            round.iter().map(|step| call(step, looked_up.as_deref(), tools)).collect();
        let planned = match planned {
            Ok(planned) => planned,
            Err(problem) => return Next::Say(speech::stopped(&done, &problem)),
        };
        let Some(results) = results.get(index) else { return Next::Call(planned) };
        for (at, (step, (tool, _))) in round.iter().zip(planned).enumerate() {
            let result = results.get(at).copied();
            let text = result.map(WireResult::text).unwrap_or_default();
            let is_error = result.is_none_or(|result| result.is_error);
            done.push(Done { step, tool, text, is_error });
        }
        let failed = done.iter().any(|done| done.is_error);
        if failed && index + 1 < rounds.len() {
            return Next::Say(speech::stopped(&done, "I stopped there."));
        }
    }
    Next::Say(speech::of(&done))
}

/// What is called together. A task that is named must be looked up first.
fn rounds(group: &[Wish], can_look_up: Can) -> Vec<Vec<Step>> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for wish in group {
        match (wish, can_look_up) {
            (Wish::CompleteTask { which }, Can::Yes) => second.push(Step::Complete(which.clone())),
            (wish, _) => first.push(Step::Do(wish.clone())),
        }
    }
    if !second.is_empty() {
        // Last, where the next round finds it.
        first.push(Step::LookUp);
    }
    [first, second].into_iter().filter(|round| !round.is_empty()).collect()
}

/// The results of each round, in the order of its calls.
fn results(since: &[Message]) -> Vec<Vec<&WireResult>> {
    let mut rounds = Vec::new();
    let mut messages = since.iter().peekable();
    while let Some(message) = messages.next() {
        let Message::Model(said) = message else { continue };
        if said.calls.is_empty() {
            continue;
        }
        let Some(Message::Results(results)) = messages.peek() else { continue };
        let of = |(at, call): (usize, &provider::WireCall)| {
            results
                .iter()
                .find(|result| result.id.is_some() && result.id == call.id)
                .or(results.get(at))
        };
        rounds.push(said.calls.iter().enumerate().filter_map(of).collect());
    }
    rounds
}

/// Whether there is a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Can {
    Yes,
    No,
}

fn has(tools: &[String], name: &str) -> Can {
    if tools.iter().any(|tool| tool == name) { Can::Yes } else { Can::No }
}

/// The tool for a step and its arguments, or a sentence that says why there is none.
fn call(step: &Step, looked_up: Option<&str>, tools: &[String]) -> Result<(String, Value), String> {
    let (names, args): (Vec<&str>, Value) = match step {
        Step::LookUp => (vec!["list_tasks"], json!({"status": "pending", "limit": 1_000})),
        Step::Complete(which) => {
            let tasks = tasks::listed(looked_up.unwrap_or_default());
            let id = match tasks {
                Some(tasks) => tasks::meant(&tasks, which)?,
                // What was shown may not be a list, and the id may be right.
                None => which.clone(),
            };
            (vec!["complete_task"], json!({"task_id": id}))
        }
        Step::Do(Wish::Tool { name, args: Err(problem) }) => {
            return Err(format!("What follows `/{name}` is not a JSON object: {problem}."));
        }
        Step::Do(Wish::Hello) => return Err(speech::help(tools)),
        Step::Do(wish) => arguments(wish),
    };
    let found = names.iter().find(|name| has(tools, name) == Can::Yes);
    let name = found.ok_or_else(|| speech::missing(names.first().unwrap_or(&"?")))?;
    // What is asked for by another name takes the same.
    let args = if *name == "http_request" { json!({"url": args["url"]}) } else { args };
    Ok(((*name).to_owned(), args))
}

/// The tools that can fulfil a wish, the best first, and what they are given.
fn arguments(wish: &Wish) -> (Vec<&str>, Value) {
    match wish {
        Wish::Time { zone: Some(zone) } => (vec!["get_current_time"], json!({"timezone": zone})),
        Wish::Time { zone: None } => (vec!["get_current_time"], json!({})),
        Wish::Read { path } => (vec!["read"], json!({"path": path})),
        Wish::List { path } => (vec!["ls"], json!({"path": path})),
        Wish::Write { path, text, mode } => {
            let mut args = json!({"path": path, "content": text});
            if let (Value::Object(args), Mode::Append) = (&mut args, mode) {
                args.insert("mode".to_owned(), "append".into());
            }
            (vec!["write"], args)
        }
        Wish::AddTask { title, due: Some(due) } => {
            (vec!["add_task"], json!({"title": title, "due_date": due}))
        }
        Wish::AddTask { title, due: None } => (vec!["add_task"], json!({"title": title})),
        Wish::ListTasks { status } => (vec!["list_tasks"], json!({"status": status, "limit": 50})),
        Wish::CompleteTask { which } => (vec!["complete_task"], json!({"task_id": which})),
        Wish::SaveNote { title, text } => {
            (vec!["save_note"], json!({"title": title, "content": text}))
        }
        Wish::SearchNotes { words } => (vec!["search_notes"], json!({"query": words})),
        Wish::Run { command } => (vec!["exec"], json!({"command": command})),
        Wish::Fetch { url } => (vec!["web_fetch", "http_request"], json!({"url": url})),
        Wish::SearchFiles { pattern, path: Some(path) } => {
            (vec!["grep"], json!({"pattern": pattern, "path": path}))
        }
        Wish::SearchFiles { pattern, path: None } => (vec!["grep"], json!({"pattern": pattern})),
        Wish::SearchWeb { words } => (vec!["web_search"], json!({"query": words})),
        Wish::Spawn { task } => (vec!["sessions_spawn"], json!({"task": task})),
        Wish::Tool { name, args } => (vec![name], args.clone().unwrap_or_default()),
        Wish::Hello => (Vec::new(), json!({})),
    }
}
