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
        let expected = match line.get(..2) {
            Some("$ ") => Expected::Runs,
            Some("~ ") => Expected::MayFail,
            Some("! ") => Expected::IsAskedAbout,
            Some("  ") => {
                let (_, command) = commands.last_mut().unwrap();
                command.push_str(&format!("\n{}", &line[2..]));
                continue;
            }
            _ => {
                let inside = commands.last().is_some_and(|(_, command)| command.contains("<<"));
                assert!(line.is_empty() || line.starts_with('#'), "{line}");
                if inside && line.is_empty() {
                    commands.last_mut().unwrap().1.push('\n');
                }
                continue;
            }
        };
        commands.push((expected, line[2..].to_owned()));
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
