//! What is said about a client and its file.

use std::path::Path;

use similar::TextDiff;

use super::{
    Target,
    client::{Client, Token, VARIABLE},
    format::TOKEN,
};
use crate::{
    changes::Paint,
    output,
    visible::{visible, visible_code},
};

pub(super) fn say_done(target: &Target, path: &Path, copy: Option<&Path>) {
    output::line(format_args!(
        "{} is connected by `{}`.{} {}",
        target.title,
        visible(&path.to_string_lossy()),
        kept(copy),
        target.then
    ));
}

pub(super) fn say_there(target: &Target) {
    output::line(format_args!("{} is connected already.", target.title));
    if target.makes() {
        output::note("If its token is lost: `--remove`, and connect again, makes a new one.");
    }
}

pub(super) fn say_taken(target: &Target, copy: Option<&Path>) {
    output::line(format_args!("{} is not connected any more.{}", target.title, kept(copy)));
}

/// Where the copy is, if there is one.
fn kept(copy: Option<&Path>) -> String {
    let shown = copy.map(|copy| visible(&copy.to_string_lossy()));
    shown.map(|copy| format!(" What was there is in `{copy}`.")).unwrap_or_default()
}

/// Tokens of a client that was taken out, for agents that were not named.
pub(super) fn say_others(client: &Client, tokens: &[store::Token]) {
    for token in tokens {
        let agent = token.new.agents.iter().flatten().next().map(|agent| visible(agent));
        output::note(format_args!(
            "A token of {} for agent `{}` still works; `toolgate tokens revoke {}` ends it.",
            client.title,
            agent.unwrap_or_default(),
            token.id.short()
        ));
    }
}

pub(super) fn say_token(token: Token, secret: &str) {
    match token {
        Token::None => {}
        Token::InFile => output::note("Its token is in the file, which only you can read."),
        Token::Variable(..) => {
            output::line(secret);
            output::note(format_args!(
                "This is its token, kept nowhere: set {VARIABLE} to it where the client starts."
            ));
        }
        Token::Asks => {
            output::line(secret);
            output::note("This is its token, kept nowhere: the client asks for it once.");
        }
    }
}

/// What would change, line by line, with nothing hidden in it.
pub(super) fn diff(before: &str, after: &str, paint: Paint) -> String {
    let diff = TextDiff::from_lines(before, after);
    let lines = diff.unified_diff().context_radius(3).to_string();
    let lines = lines.lines().map(|line| {
        let (sign, code) = line.split_at_checked(1).unwrap_or((line, ""));
        let text = format!("{}{}", visible(sign), visible_code(&masked(code)));
        match (paint, sign) {
            (Paint::Coloured, "+") => format!("\x1b[32m{text}\x1b[0m\n"),
            (Paint::Coloured, "-") => format!("\x1b[31m{text}\x1b[0m\n"),
            (Paint::Coloured | Paint::Plain, _) => format!("{text}\n"),
        }
    });
    lines.collect()
}

/// Without the token that a line may hold.
fn masked(line: &str) -> String {
    let Some((before, after)) = line.split_once("Bearer ") else { return line.to_owned() };
    let end = after.find(['"', '\'']).unwrap_or(after.len());
    let (token, rest) = after.split_at_checked(end).unwrap_or((after, ""));
    let shown = if token.starts_with('$') || token == TOKEN { token } else { "…" };
    format!("{before}Bearer {shown}{rest}")
}
