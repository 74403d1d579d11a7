//! A realistic day: people are asked about what destroys or goes out, and hardly about anything else.

use std::sync::{Arc, Mutex};

use libtest_mimic::Trial;
use store::{Answer, Decision};
use toolgate::{Approver, BoxFuture, Question, Reply};

use crate::helper::{Setup, has, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("a_day_asks_about_what_matters", a_day)]
}

/// The day, as `day/commands.txt` describes it.
const DAY: &str = include_str!("day/commands.txt");
/// So often people may be asked about what they need not be asked about.
const BESIDES: usize = 3;

/// What is said about a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Runs,
    MayFail,
    IsAskedAbout,
}

fn commands() -> Vec<(Expected, String)> {
    let mut commands: Vec<(Expected, String)> = Vec::new();
    for line in DAY.lines() {
        let (mark, text) = line.split_at_checked(2).unwrap_or((line, ""));
        let expected = match mark {
            "$ " => Expected::Runs,
            "~ " => Expected::MayFail,
            "! " => Expected::IsAskedAbout,
            _ => {
                // A line of the command above, empty ones too where it has a here-document.
                let last = commands.last_mut().map(|(_, command)| command);
                let last =
                    last.filter(|last| mark == "  " || (mark.is_empty() && last.contains("<<")));
                let known = last.is_some() || mark.is_empty() || mark.starts_with('#');
                assert!(known, "{line}");
                if let Some(command) = last {
                    command.push('\n');
                    command.push_str(text);
                }
                continue;
            }
        };
        commands.push((expected, text.to_owned()));
    }
    commands
}

/// Says no to what must be asked about, and yes to the rest; remembers what was asked.
#[derive(Debug, Default)]
struct Person {
    now: Mutex<Option<Expected>>,
    asked: Mutex<Vec<String>>,
}

impl Approver for Person {
    fn name(&self) -> &'static str {
        "person"
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Reply> {
        let request = &question.request;
        let asked = format!("{} {}: {}", request.rule, request.input["command"], request.reason);
        self.asked.lock().unwrap().push(asked);
        let decision = match self.now.lock().unwrap().unwrap() {
            Expected::IsAskedAbout => Decision::Deny,
            Expected::Runs | Expected::MayFail => Decision::AllowOnce,
        };
        let answer = Answer { decision, by: "ada".to_owned(), message: None };
        Box::pin(std::future::ready(Reply::Answered(answer)))
    }
}

async fn a_day() {
    if !["cargo", "git", "make"].into_iter().all(has) {
        return;
    }
    let commands = commands();
    let dozen = commands.iter().filter(|(expected, _)| *expected == Expected::IsAskedAbout);
    assert!(commands.len() >= 200 && dozen.count() >= 12);
    let person = Arc::new(Person::default());
    // As it is by default: any command, and people are asked where it matters.
    let config = "[limits]\nmodel_output_bytes = \"1MB\"\n";
    let setup = Setup::built(config, |gate| gate.approver(person.clone())).await;
    let mut besides: Vec<String> = Vec::new();
    for (expected, command) in &commands {
        *person.now.lock().unwrap() = Some(*expected);
        let outcome = setup.sh(command).await;
        let asked = std::mem::take(&mut *person.asked.lock().unwrap());
        match expected {
            Expected::IsAskedAbout => {
                assert_eq!(asked.len(), 1, "`{command}`: {asked:?} {outcome}");
                assert_eq!(outcome["error_type"], "permission_denied", "`{command}`: {outcome}");
            }
            Expected::Runs => {
                besides.extend(asked);
                assert_eq!(outcome["result"]["exitCode"], 0, "`{command}`: {outcome}");
            }
            Expected::MayFail => {
                besides.extend(asked);
                assert_eq!(outcome["status"], "success", "`{command}`: {outcome}");
            }
        }
    }
    println!("asked besides: {besides:#?}");
    assert!(besides.len() <= BESIDES, "{besides:#?}");
}
