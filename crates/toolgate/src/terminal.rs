//! Asks the person at the terminal.

use std::{
    io::{self, Write},
    time::Duration,
};

use store::EXACT;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use toolgate::{Answer, AnswerDecision, Approver, BoxFuture, Question, Reply};

use crate::{
    changes::{Paint, whole},
    context, output,
    question::{expiry, in_words, shown},
    tty::Tty,
    visible::visible,
};

/// How long an answer for always is remembered if the person says nothing else.
const USUALLY: Duration = Duration::from_hours(30 * 24);

/// One question at a time: of two that share a terminal nobody knows which one is answered.
static ASKING: Mutex<()> = Mutex::const_new(());

/// Asks on `/dev/tty`, also when standard input is taken.
#[derive(Debug)]
pub(crate) struct Terminal {
    /// What to do where there is no terminal.
    advice: &'static str,
}

impl Terminal {
    /// For `toolgate call`.
    pub(crate) const fn of_call() -> Self {
        let advice =
            "run it on a terminal, or with `--wait 5m` and answer with `toolgate approvals`";
        Self { advice }
    }

    /// For `toolgate chat`.
    pub(crate) const fn of_chat() -> Self {
        let advice = "run it on a terminal, or send the message to `toolgate serve` and answer on its \
                      page";
        Self { advice }
    }
}

impl Approver for Terminal {
    fn name(&self) -> &'static str {
        "terminal"
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Reply> {
        Box::pin(async move {
            let (question, stop) = (question.clone(), CancellationToken::new());
            let turn = ASKING.lock().await;
            // Whoever types after the question was withdrawn answers the next one, which they see.
            let _withdrawn = stop.clone().drop_guard();
            let ask = move || {
                let _turn = turn;
                on_terminal(&question, &stop)
            };
            let asked = tokio::task::spawn_blocking(ask).await;
            match asked {
                Ok(Ok(answer)) => Reply::Answered(answer),
                Ok(Err(_)) => Reply::NobodyHere(format!("there is no terminal; {}", self.advice)),
                Err(_) => Reply::NobodyHere("the terminal failed".to_owned()),
            }
        })
    }
}

fn on_terminal(question: &Question, stop: &CancellationToken) -> io::Result<Answer> {
    let mut tty = Tty::open(stop.clone())?;
    let answer = answered(&mut tty, question);
    if stop.is_cancelled() {
        writeln!(tty, "\n(question {} needs no answer any more)", question.id.short())?;
    }
    answer
}

fn answered(tty: &mut Tty, question: &Question) -> io::Result<Answer> {
    write!(tty, "{}", shown(&question.id, &question.request))?;
    let request = &question.request;
    let remember = request.scopes.iter().any(|scope| scope == EXACT);
    let see = if request.changes.is_empty() { "" } else { "[v] view the changes  " };
    let keep = if remember { "[s] yes, this session  [a] yes, always …  " } else { "" };
    loop {
        write!(tty, "{see}[y] yes, once  {keep}[m] no, and say why  [n] no (default): ")?;
        tty.flush()?;
        let Some(line) = tty.answer()? else { return Ok(owner(AnswerDecision::Deny)) };
        match line.to_lowercase().as_str() {
            "y" | "yes" => return Ok(owner(AnswerDecision::AllowOnce)),
            "s" | "session" if remember => return Ok(owner(AnswerDecision::AllowSession)),
            "a" | "always" if remember => return always(tty, question),
            "v" | "view" if !request.changes.is_empty() => {
                let whole = |one| whole(one, Paint::Coloured);
                tty.page(&request.changes.iter().map(whole).collect::<String>())?;
            }
            "m" => return because(tty),
            "" | "n" | "no" => return Ok(owner(AnswerDecision::Deny)),
            other => writeln!(tty, "`{}` is none of these.", visible(other))?,
        }
    }
}

/// No, with what the model is told.
fn because(tty: &mut Tty) -> io::Result<Answer> {
    write!(tty, "Tell the agent: ")?;
    tty.flush()?;
    let message = tty.answer()?.filter(|message| !message.is_empty());
    Ok(Answer { message, ..owner(AnswerDecision::Deny) })
}

/// Lets the person pick what "always" covers, and for how long; nothing picked is no.
fn always(tty: &mut Tty, question: &Question) -> io::Result<Answer> {
    let request = &question.request;
    writeln!(tty, "Always allow `{}` for:", visible(&request.tool))?;
    for (number, scope) in (1..).zip(&request.scopes) {
        writeln!(tty, "  [{number}] {}", in_words(scope))?;
    }
    write!(tty, "which one? (anything else is no) ")?;
    tty.flush()?;
    let picked = tty.answer()?.and_then(|line| line.parse::<usize>().ok());
    let scope = picked.and_then(|number| request.scopes.get(number.checked_sub(1)?).cloned());
    let Some(scope) = scope else { return Ok(owner(AnswerDecision::Deny)) };
    write!(tty, "for how long? (such as `8h`; empty is 30 days, `ever` is until you revoke it) ")?;
    tty.flush()?;
    let after = match tty.answer()?.as_deref() {
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
