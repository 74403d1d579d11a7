//! A question in words, so that nothing can hide in it.

use std::time::{Duration, SystemTime};

use serde_json::Value;
use server::mcp::InWords;
use store::{ApprovalId, EXACT, NewApproval};
use tool::{Place, Run, texts};
use toolgate::Need;

use crate::{
    changes::{Paint, summary, whole},
    visible::{visible, visible_code, warnings},
};

/// How questions are put to people elsewhere: all of one, with what was changed, and what an answer is
/// remembered for.
pub(crate) const IN_WORDS: InWords = InWords {
    question: |question| {
        let request = &question.request;
        let changes = request.changes.iter().map(|one| whole(one, Paint::Plain));
        shown(&question.id, request) + &changes.collect::<String>()
    },
    scope: in_words,
};

/// All of a question, wherever it is shown.
pub(crate) fn shown(id: &ApprovalId, request: &NewApproval) -> String {
    let NewApproval { user, agent, session, tool, input, plan, effects, reason, .. } = request;
    let NewApproval { changes, untrusted, .. } = request;
    let [user, agent, session, tool] = [user, agent, session, tool].map(|text| visible(text));
    let mut lines = vec![
        format!(
            "\nAgent `{agent}` of `{user}`, in session `{session}`, wants to call `{tool}` \
             (question {}).",
            id.short()
        ),
        format!("  Why you are asked: {}", visible(reason)),
    ];
    match command(plan) {
        Some(run) => lines.extend(command_lines(&run, request)),
        None => {
            lines.extend(needs_in_words(plan).into_iter().map(|need| format!("  It would {need}")));
        }
    }
    lines.push(format!("  Effects: {effects}"));
    if !untrusted.is_empty() {
        lines.push("  The session has read content that is not to be trusted:".to_owned());
        lines.extend(untrusted.iter().map(|source| format!("    {}", visible(source))));
    }
    if !changes.is_empty() {
        lines.push(format!("  It has run, and would change {} paths:", changes.len()));
        lines.extend((1..).zip(changes).map(|(number, one)| format!("  {}", summary(number, one))));
    }
    lines.extend(["  Arguments:".to_owned(), indented(input)]);
    let warned = texts(input).into_iter().flat_map(warnings);
    lines.extend(warned.map(|warning| format!("  Look closely: {warning}")));
    lines.push(String::new());
    lines.join("\n")
}

/// The command by itself, every line of it, and what is unusual about how it runs.
fn command_lines(run: &Run, request: &NewApproval) -> Vec<String> {
    let at = visible(request.cwd.as_deref().unwrap_or(run.cwd.as_str()));
    let place = match request.place {
        Some(Place::Sandbox) | None => "in the sandbox".to_owned(),
        Some(Place::Host) => "on the host itself".to_owned(),
        Some(place @ (Place::Container | Place::Node)) => format!("on {place}"),
    };
    let head = format!("  The command, {place}, in `{at}`:");
    let parts = run.command.split('\n').map(|part| format!("    | {}", visible(part)));
    let unusual = run.circumstances();
    let unusual =
        (!unusual.is_empty()).then(|| format!("  It runs {}", visible(&unusual.join(", "))));
    std::iter::once(head).chain(parts).chain(unusual).collect()
}

/// The command of a recorded plan.
fn command(plan: &Value) -> Option<Run> {
    let needs = plan.as_array()?.iter();
    let mut needs = needs.filter_map(|need| serde_json::from_value::<Need>(need.clone()).ok());
    needs.find_map(|need| if let Need::Run(run) = need { Some(run) } else { None })
}

/// A scope as people say it.
pub(crate) fn in_words(scope: &str) -> String {
    if scope == EXACT {
        return "exactly this call".to_owned();
    }
    match scope.split_once(':') {
        Some(("folder", folder)) => format!("anything in the folder `{}`", visible(folder)),
        Some(("host", host)) => {
            format!("any request to `{}` that changes nothing there", visible(host))
        }
        Some(("permission", name)) => format!("everything that needs the permission `{name}`"),
        Some(("program", program)) => {
            let (words, rest) = program.split_once(" (").unwrap_or((program, ""));
            let rest = visible(rest.trim_end_matches(')'));
            format!("`{}` with these flags and any other arguments, {rest}", visible(words))
        }
        _ => visible(scope),
    }
}

/// JSON over several lines, all of it visible.
pub(crate) fn indented(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    let lines: Vec<_> = text.lines().map(|line| format!("    {}", visible_code(line))).collect();
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

/// When an answer is forgotten that is given now.
pub(crate) fn expiry(now: SystemTime, after: Option<Duration>) -> Option<SystemTime> {
    after.and_then(|after| now.checked_add(after))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{in_words, needs_in_words};

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
    fn a_scope_is_said_in_words() {
        for (scope, expected) in [
            ("exact", "exactly this call"),
            ("folder:/a b", "anything in the folder `/a b`"),
            ("host:example.org", "any request to `example.org` that changes nothing there"),
            (
                "program:sed -i (in /ws, on host)",
                "`sed -i` with these flags and any other arguments, in /ws, on host",
            ),
            ("permission:exec", "everything that needs the permission `exec`"),
        ] {
            assert_eq!(in_words(scope), expected);
        }
    }
}
