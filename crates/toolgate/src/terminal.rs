//! Asks the person at the terminal.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    time::Duration,
};

use store::EXACT;
use toolgate::{Answer, AnswerDecision, Approver, BoxFuture, Question, Reply};

use crate::{
    changes::{Paint, answer, page, whole},
    context, output,
    question::{expiry, in_words, shown},
    visible::visible,
};

/// How long an answer for always is remembered if the person says nothing else.
const USUALLY: Duration = Duration::from_hours(30 * 24);

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
    write!(tty, "{}", shown(&question.id, &question.request))?;
    let request = &question.request;
    let remember = request.scopes.iter().any(|scope| scope == EXACT);
    let see = if request.changes.is_empty() { "" } else { "[v] view the changes  " };
    let keep = if remember { "[s] yes, this session  [a] yes, always …  " } else { "" };
    loop {
        write!(tty, "{see}[y] yes, once  {keep}[m] no, and say why  [n] no (default): ")?;
        tty.flush()?;
        let Some(line) = answer(&tty)? else { return Ok(owner(AnswerDecision::Deny)) };
        match line.to_lowercase().as_str() {
            "y" | "yes" => return Ok(owner(AnswerDecision::AllowOnce)),
            "s" | "session" if remember => return Ok(owner(AnswerDecision::AllowSession)),
            "a" | "always" if remember => return always(&mut tty, question),
            "v" | "view" if !request.changes.is_empty() => {
                let whole = |one| whole(one, Paint::Coloured);
                page(&mut tty, &request.changes.iter().map(whole).collect::<String>())?;
            }
            "m" => return because(&mut tty),
            "" | "n" | "no" => return Ok(owner(AnswerDecision::Deny)),
            other => writeln!(tty, "`{}` is none of these.", visible(other))?,
        }
    }
}

/// No, with what the model is told.
fn because(tty: &mut File) -> io::Result<Answer> {
    write!(tty, "Tell the agent: ")?;
    tty.flush()?;
    let message = answer(tty)?.filter(|message| !message.is_empty());
    Ok(Answer { message, ..owner(AnswerDecision::Deny) })
}

/// Lets the person pick what "always" covers, and for how long; nothing picked is no.
fn always(tty: &mut File, question: &Question) -> io::Result<Answer> {
    let request = &question.request;
    writeln!(tty, "Always allow `{}` for:", visible(&request.tool))?;
    for (number, scope) in (1..).zip(&request.scopes) {
        writeln!(tty, "  [{number}] {}", in_words(scope))?;
    }
    write!(tty, "which one? (anything else is no) ")?;
    tty.flush()?;
    let picked = answer(tty)?.and_then(|line| line.parse::<usize>().ok());
    let scope = picked.and_then(|number| request.scopes.get(number.checked_sub(1)?).cloned());
    let Some(scope) = scope else { return Ok(owner(AnswerDecision::Deny)) };
    write!(tty, "for how long? (such as `8h`; empty is 30 days, `ever` is until you revoke it) ")?;
    tty.flush()?;
    let after = match answer(tty)?.as_deref() {
        Some("") => Some(USUALLY),
        Some("ever") => None,
        Some(text) => match config::parse_duration(text) {
            Ok(after) => Some(after),
            Err(problem) => {
                writeln!(tty, "{problem}; that counts as no.")?;
                return Ok(owner(AnswerDecision::Deny));
            }
        },
        None => return Ok(owner(AnswerDecision::Deny)),
    };
    let expires = expiry(context::now(), after);
    Ok(owner(AnswerDecision::AllowAlways { scope, expires }))
}

fn owner(decision: AnswerDecision) -> Answer {
    Answer { decision, by: "owner (terminal)".to_owned(), message: None }
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
            let id = question.id.short();
            output::note(format_args!(
                "{}Waiting for an answer: `toolgate approvals allow {id}` or `deny {id}`.",
                shown(&question.id, &question.request)
            ));
            // The gate ends the wait, when somebody else has answered or time is up.
            std::future::pending().await
        })
    }
}
