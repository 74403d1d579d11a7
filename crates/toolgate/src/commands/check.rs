//! `toolgate check`.

use std::{
    io::{self, BufRead, Read},
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use config::Ask;
use gate::Found;
use policy::{Decision, Verdict};
use serde::Serialize;
use serde_json::Value;
use tool::{Capabilities as _, Facts, ToolError};
use toolgate::{Caller, FilePath, Gate, Need, Plan};

use crate::{
    cli::{Global, Identity},
    context,
    output::{self, Colour},
    terminal::visible,
};

/// The longest line that is read.
const MAX_LINE: u64 = 32 * 1024 * 1024;
/// The rule for what cannot be understood at all.
const UNREADABLE: &str = "input";

/// Say what would happen, and why. Runs nothing and records nothing.
#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, Subcommand)]
enum Kind {
    /// Say whether a call would run: `{"tool": …, "arguments": …}`.
    Call {
        #[command(flatten)]
        input: Input,
        #[command(flatten)]
        identity: Identity,
    },
    /// Say whether a path may be read or written.
    Path {
        #[command(flatten)]
        input: Input,
        /// Ask about writing instead of reading.
        #[arg(long)]
        write: bool,
        #[command(flatten)]
        identity: Identity,
    },
}

#[derive(Debug, Args)]
struct Input {
    /// What to check.
    #[arg(required_unless_present = "stdin", conflicts_with = "stdin", allow_hyphen_values = true)]
    value: Option<String>,
    /// Check each line of standard input and print one JSON object per line, in order.
    ///
    /// A line that starts with `"` is a JSON string.
    #[arg(long)]
    stdin: bool,
    /// Print the answer as JSON.
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        match self.kind {
            Kind::Call { input, identity } => {
                Checker::new(global, &identity, About::Call)?.all(input).await
            }
            Kind::Path { input, write: true, identity } => {
                Checker::new(global, &identity, About::Path(Need::Write))?.all(input).await
            }
            Kind::Path { input, write: false, identity } => {
                Checker::new(global, &identity, About::Path(Need::Read))?.all(input).await
            }
        }
    }
}

/// What the values mean.
#[derive(Debug, Clone, Copy)]
enum About {
    Call,
    Path(fn(FilePath) -> Need),
}

struct Checker {
    gate: Gate,
    caller: Caller,
    ask: Ask,
    about: About,
}

/// What programs get.
#[derive(Debug, Serialize)]
struct Answer {
    input: Value,
    #[serde(flatten)]
    decision: Decision,
    #[serde(skip)]
    plan: Option<Arc<Plan>>,
}

impl Checker {
    fn new(global: &Global, identity: &Identity, about: About) -> Result<Self> {
        let config = context::configuration_for(global, identity)?;
        let ask = config.tools.ask.value;
        let gate = context::idle_gate(global, config)?;
        Ok(Self { gate, caller: context::caller(identity), ask, about })
    }

    async fn all(&self, input: Input) -> Result<ExitCode> {
        match input {
            Input { value: Some(value), json, .. } => {
                let answer = self.one(&value).await;
                if json {
                    output::json(&answer)?;
                } else {
                    output::line(in_words(&answer));
                }
            }
            Input { value: None, .. } => self.standard_input().await?,
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn standard_input(&self) -> Result<()> {
        while let Some(line) = next_line()? {
            let answer = match text_of(&line) {
                Ok(text) => self.one(&text).await,
                Err(problem) => Answer::unreadable(String::from_utf8_lossy(&line).into(), problem),
            };
            output::json_line(&answer)?;
        }
        Ok(())
    }

    async fn one(&self, text: &str) -> Answer {
        match self.about {
            About::Call => self.call(text).await,
            About::Path(need) => self.path(text, need),
        }
    }

    async fn call(&self, text: &str) -> Answer {
        let (name, arguments, input) = match named(text) {
            Ok(call) => call,
            Err(problem) => return Answer::unreadable(text.into(), problem),
        };
        let check = self.gate.check(&self.caller, &name, &arguments).await;
        let decision = match check.error {
            Some(ToolError::NotAvailable(_)) => self.not_available(&name),
            _ => check.decision,
        };
        Answer { input, decision, plan: check.plan }
    }

    /// Whoever asks here owns the policy and may see which rule it was.
    fn not_available(&self, name: &str) -> Decision {
        let deny = |rule: &str, why: String| {
            let reason = format!("tool `{name}` is not available: {why}");
            Decision::new(Verdict::Deny, rule, reason)
        };
        match self.gate.view(&self.caller).find(name) {
            Found::Withheld(_, rule) => {
                let at = rule.at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
                deny(&format!("policy.{}", rule.layer), format!("{}{at}", rule.text))
            }
            Found::Unavailable(_, reason) => deny("unavailable", reason.to_owned()),
            Found::Tool(_) | Found::Unknown => {
                deny("unknown", "there is no such tool; `toolgate tools` lists them".to_owned())
            }
        }
    }

    fn path(&self, text: &str, need: fn(FilePath) -> Need) -> Answer {
        let need = need(FilePath::new(text));
        let fact = self.gate.world().disk(&self.caller).and_then(|disk| disk.look(&need));
        let plan = Arc::new(Plan::from([need]));
        let decision = policy::decide(self.ask, &plan, &Facts { paths: vec![fact] });
        Answer { input: text.into(), decision, plan: Some(plan) }
    }
}

impl Answer {
    fn unreadable(input: Value, problem: String) -> Self {
        let decision = Decision::new(Verdict::Deny, UNREADABLE, problem);
        Self { input, decision, plan: None }
    }
}

/// The next line without its end; `None` after the last.
fn next_line() -> Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let stdin = io::stdin().lock();
    let read = stdin.take(MAX_LINE + 1).read_until(b'\n', &mut line);
    if read.context("cannot read standard input")? == 0 {
        return Ok(None);
    }
    if line.len() as u64 > MAX_LINE {
        bail!("a line of standard input is longer than {MAX_LINE} bytes");
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(Some(line))
}

/// A line that starts with `"` is a JSON string; any other is what it says.
fn text_of(line: &[u8]) -> Result<String, String> {
    let text = str::from_utf8(line).map_err(|_| "the line is not UTF-8".to_owned())?;
    if !text.starts_with('"') {
        return Ok(text.to_owned());
    }
    serde_json::from_str(text).map_err(|error| format!("the line is no JSON string: {error}"))
}

/// The tool, the arguments, and all of it.
fn named(text: &str) -> Result<(String, Value, Value), String> {
    let form = r#"expected {"tool": …, "arguments": …}"#;
    let call = tool::parse_json(text).map_err(|error| format!("{form}: {error}"))?;
    let fields = call.as_object().ok_or_else(|| form.to_owned())?;
    if let Some(other) = fields.keys().find(|key| !matches!(key.as_str(), "tool" | "arguments")) {
        return Err(format!("{form}: `{other}` is neither"));
    }
    let name = fields.get("tool").and_then(Value::as_str);
    let name = name.ok_or_else(|| format!("{form}: `tool` must be a string"))?.to_owned();
    let arguments = fields.get("arguments").cloned().unwrap_or_default();
    Ok((name, arguments, call))
}

fn in_words(answer: &Answer) -> String {
    let Decision { verdict, rule, reason } = &answer.decision;
    let colour = match verdict {
        Verdict::Allow => Colour::Green,
        Verdict::Ask => Colour::Yellow,
        Verdict::Deny => Colour::Red,
    };
    let verdict = output::coloured(verdict.name(), colour);
    let needs = answer.plan.iter().flat_map(|plan| plan.needs());
    let plan = needs.map(|need| format!("\n  It would {}", visible(&need.to_string())));
    let plan: String = plan.collect();
    format!("{verdict}: {} (rule {}){plan}", visible(reason), visible(rule))
}

#[cfg(test)]
mod tests {
    use super::{named, text_of};

    #[test]
    fn a_line_is_text_or_a_json_string() {
        for (line, expected) in [
            ("a b", Some("a b")),
            (r#""a\nb""#, Some("a\nb")),
            ("", Some("")),
            (r#""half"#, None),
            (r#""a" b"#, None),
        ] {
            assert_eq!(text_of(line.as_bytes()).ok().as_deref(), expected, "{line}");
        }
        assert!(text_of(b"\xff").is_err());
    }

    #[test]
    fn a_call_names_its_tool() {
        for (text, expected) in [
            (r#"{"tool":"read","arguments":{"path":"a"}}"#, true),
            (r#"{"tool":"read"}"#, true),
            (r#"{"tool":1}"#, false),
            (r#"{"tool":"read","tool":"write"}"#, false),
            (r#"{"tool":"read","args":{}}"#, false),
            ("[]", false),
            ("", false),
        ] {
            assert_eq!(named(text).is_ok(), expected, "{text}");
        }
    }
}
