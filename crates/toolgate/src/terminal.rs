//! Asks the person at the terminal.

use std::{
    fmt,
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
};

use serde_json::Value;
use store::ApprovalId;
use toolgate::{Answer, AnswerDecision, Approver, BoxFuture, Need, Question, Reply};

use crate::output;

/// Asks on `/dev/tty`, also when standard input is taken.
#[derive(Debug)]
pub(crate) struct Terminal;

impl Approver for Terminal {
    fn name(&self) -> &'static str {
        "terminal"
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Reply> {
        Box::pin(async move {
            let question = question.clone();
            let asked = tokio::task::spawn_blocking(move || on_terminal(&question)).await;
            match asked {
                Ok(Ok(answer)) => Reply::Answered(answer),
                Ok(Err(_)) => Reply::NobodyHere("there is no terminal".to_owned()),
                Err(_) => Reply::NobodyHere("the terminal failed".to_owned()),
            }
        })
    }
}

fn on_terminal(question: &Question) -> io::Result<Answer> {
    let mut tty = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
    write!(tty, "{}", shown(question))?;
    loop {
        write!(tty, "[y] once  [s] this session  [a] always  [n] no (default): ")?;
        tty.flush()?;
        let Some(line) = answer_line(&tty)? else { return Ok(owner(AnswerDecision::Deny)) };
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(owner(AnswerDecision::AllowOnce)),
            "s" | "session" => return Ok(owner(AnswerDecision::AllowSession)),
            "a" | "always" => return always(&mut tty, question),
            "" | "n" | "no" => return Ok(owner(AnswerDecision::Deny)),
            other => writeln!(tty, "`{}` is none of these.", visible(other))?,
        }
    }
}

/// Lets the person pick what "always" covers; nothing picked is no.
fn always(tty: &mut File, question: &Question) -> io::Result<Answer> {
    writeln!(tty, "Always allow `{}` for:", question.tool)?;
    let scopes: Vec<_> =
        std::iter::once(None).chain(question.scopes.iter().cloned().map(Some)).collect();
    for (number, scope) in scopes.iter().enumerate() {
        writeln!(tty, "  [{}] {}", number + 1, in_words(scope.as_deref()))?;
    }
    write!(tty, "which one? ")?;
    tty.flush()?;
    let picked = answer_line(tty)?.and_then(|line| line.trim().parse::<usize>().ok());
    let scope = picked.and_then(|number| scopes.get(number.checked_sub(1)?).cloned());
    Ok(owner(scope.map_or(AnswerDecision::Deny, |scope| AnswerDecision::AllowAlways {
        scope,
        expires: None,
    })))
}

/// A scope as people say it.
pub(crate) fn in_words(scope: Option<&str>) -> String {
    let Some(scope) = scope else { return "exactly this call".to_owned() };
    match scope.split_once(':') {
        Some(("folder", folder)) => format!("anything in the folder `{}`", visible(folder)),
        Some(("permission", name)) => format!("everything that needs the permission `{name}`"),
        _ => visible(scope),
    }
}

fn answer_line(tty: &File) -> io::Result<Option<String>> {
    let mut line = String::new();
    let read = BufReader::new(tty).read_line(&mut line)?;
    Ok((read > 0).then_some(line))
}

fn owner(decision: AnswerDecision) -> Answer {
    Answer { decision, by: "owner (terminal)".to_owned(), message: None }
}

/// All of the question, so that nothing can hide in it.
pub(crate) fn shown(question: &Question) -> String {
    let Question { id, caller, tool, input, plan, reason, .. } = question;
    let plan = serde_json::to_value(plan).unwrap_or_default();
    Asked { id, agent: &caller.agent, user: &caller.user, tool, reason, plan: &plan, input }
        .to_string()
}

/// What a person is asked, wherever the question comes from.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) id: &'a ApprovalId,
    pub(crate) agent: &'a str,
    pub(crate) user: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) reason: &'a str,
    pub(crate) plan: &'a Value,
    pub(crate) input: &'a Value,
}

impl fmt::Display for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, agent, user, tool, reason, plan, input } = self;
        let (agent, user, tool) = (visible(agent), visible(user), visible(tool));
        writeln!(f, "\nAgent `{agent}` of `{user}` wants to call `{tool}` (question {id}).")?;
        writeln!(f, "  Why you are asked: {}", visible(reason))?;
        for need in needs_in_words(plan) {
            writeln!(f, "  It would {need}")?;
        }
        writeln!(f, "  Arguments:")?;
        writeln!(f, "{}", indented(input))
    }
}

/// JSON over several lines, all of it visible.
pub(crate) fn indented(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    let lines: Vec<_> = text.lines().map(|line| format!("    {}", visible(line))).collect();
    lines.join("\n")
}

/// A recorded plan as people say it.
pub(crate) fn needs_in_words(plan: &Value) -> Vec<String> {
    plan.as_array().into_iter().flatten().map(|need| visible(&need_in_words(need))).collect()
}

fn need_in_words(need: &Value) -> String {
    serde_json::from_value::<Need>(need.clone())
        .map_or_else(|_| need.to_string(), |need| need.to_string())
}

/// The text with every character that hides or reorders others written out.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || is_invisible(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// Zero width, direction marks, fillers, variation selectors, tags and other format characters.
const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// `--yes`: the owner agrees beforehand.
#[derive(Debug)]
pub(crate) struct SaysYes;

impl Approver for SaysYes {
    fn name(&self) -> &'static str {
        "--yes"
    }

    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Reply> {
        let by = "owner (--yes)".to_owned();
        let answer = Answer { decision: AnswerDecision::AllowOnce, by, message: None };
        Box::pin(std::future::ready(Reply::Answered(answer)))
    }
}

/// `--wait`: leaves the question open for `toolgate approvals` in another terminal.
#[derive(Debug)]
pub(crate) struct Waits;

impl Approver for Waits {
    fn name(&self) -> &'static str {
        "--wait"
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Reply> {
        Box::pin(async move {
            let id = &question.id;
            output::note(format_args!(
                "{}Waiting for an answer: `toolgate approvals allow {id}` or `deny {id}`.",
                shown(question)
            ));
            // The gate ends the wait, when somebody else has answered or time is up.
            std::future::pending().await
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{needs_in_words, visible};

    #[test]
    fn a_plan_is_said_in_words() {
        let run = json!({"run": {"command": "ls -l", "cwd": ".", "env": {"A": "1"},
            "place": "host", "lasting": "session", "reach": "everybody"}});
        for (need, expected) in [
            (json!({"read": "a.txt"}), "read `a.txt`"),
            (json!({"write": "a\u{202e}"}), "write `a\\u{202e}`"),
            (json!({"act": "send a mail"}), "send a mail"),
            (json!({"use": "location"}), "use location"),
            (
                run,
                "run `ls -l` in `.`, with A=`1`, on host, in the background, where its changes cannot \
                 be undone, reaching the whole network",
            ),
            (json!({"new": 1}), r#"{"new":1}"#),
        ] {
            assert_eq!(needs_in_words(&json!([need])), [expected]);
        }
    }

    #[test]
    fn nothing_hides() {
        for (text, expected) in [
            ("plain ünïcode 漢字", "plain ünïcode 漢字"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("a\u{200b}b", "a\\u{200b}b"),
            ("a\x1b[2Kb\n", "a\\u{1b}[2Kb\\u{a}"),
        ] {
            assert_eq!(visible(text), expected);
        }
    }
}
