//! `toolgate run`.

mod review;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, Mutex},
    time::Duration,
};

use anyhow::Result;
use clap::Args;
use config::{Config, HostPattern};
use gate::Operation;
use serde_json::{Value, json};
use tool::{
    Capability, Effect, Effects, Ended, How, Info, Need, Place, Plan, Prepared, Ran, Reach, Review,
    Run, Section, Terminal, ToolInfo,
};
use toolgate::{BoxFuture, Outcome, ToolContext, ToolOutput, ToolResult};

use self::review::AtTerminal;
use crate::{
    cli::{Global, Identity},
    context, output,
    visible::visible,
};

/// Nobody works longer than this at one program.
const MOST: Duration = Duration::from_hours(24 * 7);

/// Folders that every command sees.
const SYSTEM: [&str; 5] = ["/usr", "/bin", "/sbin", "/lib", "/opt"];

/// Run a program in the sandbox, another agent too, and decide afterwards what stays.
///
/// The program sees the workspace and works on a copy of it that costs nothing; it cannot see the rest
/// of your home folder, and reaches only the hosts you name. When it has ended you see what it changed:
/// keep all of it, drop all of it, or pick. What you keep can be taken back with `toolgate undo`.
#[derive(Debug, Args)]
pub(crate) struct RunProgram {
    /// A host the program reaches, such as `api.example.org` or `*.example.net`; may be repeated.
    #[arg(long, value_name = "HOST")]
    network: Vec<HostPattern>,
    /// A variable of your environment the program gets, such as the one with its key; may be repeated.
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// A folder the program can read besides the workspace; may be repeated.
    #[arg(long, value_name = "DIR")]
    read: Vec<PathBuf>,
    /// Keep all changes without asking.
    #[arg(long, conflicts_with = "drop")]
    keep: bool,
    /// Drop all changes without asking.
    #[arg(long)]
    drop: bool,
    #[command(flatten)]
    identity: Identity,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl RunProgram {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        context::check_user(global, &self.identity).await?;
        let config = self.adapted(context::configuration_for(global, &self.identity)?);
        let gate = context::gate_as(global, config, &self.identity.agent, None)?;
        let ended = Arc::new(Mutex::new(None));
        let run = self.planned();
        let operation = Operation {
            info: info(),
            args: json!({"command": run.command}),
            prepared: Box::new(Program {
                run,
                review: Arc::new(self.reviewer()),
                ended: ended.clone(),
            }),
        };
        let outcome = gate.perform(&context::caller(&self.identity), operation).await;
        gate.runner().shutdown().await;
        report(&outcome);
        let ended = ended.lock().map(|mut ended| ended.take()).unwrap_or_default();
        Ok(exit_code(ended))
    }

    fn adapted(&self, mut config: Config) -> Config {
        let exec = &mut config.tools.exec;
        exec.env.value.extend(self.env.iter().cloned().map(Into::into));
        let read = self.read.iter().cloned().chain(self.program_folders()).map(Into::into);
        config.tools.isolation.read.value.extend(read);
        config
    }

    /// Where the program is, if it is not among those that every command sees.
    fn program(&self) -> Option<PathBuf> {
        let program = self.command.first()?;
        let path = config::environment("PATH").unwrap_or_default();
        let mut places = std::env::split_paths(&path).map(|folder| folder.join(program));
        let found = places.find(|place| place.is_absolute() && place.is_file());
        found.filter(|found| !SYSTEM.iter().any(|known| found.starts_with(known)))
    }

    /// The folder of the program, and that of what it really is: installers often leave only a link
    /// on the `PATH`.
    fn program_folders(&self) -> Vec<PathBuf> {
        let found = self.program();
        let real = found.as_ref().and_then(|found| found.canonicalize().ok());
        let both = [found, real].into_iter().flatten();
        both.filter_map(|path| path.parent().map(Path::to_path_buf)).collect()
    }

    const fn reviewer(&self) -> AtTerminal {
        match (self.keep, self.drop) {
            (true, _) => AtTerminal::KeepsAll,
            (_, true) => AtTerminal::DropsAll,
            (false, false) => AtTerminal::Asks,
        }
    }

    fn planned(&self) -> Run {
        let hosts: Vec<_> = self.network.iter().map(ToString::to_string).collect();
        let mut words: Vec<_> = self.command.iter().map(|word| quoted(word)).collect();
        if let (Some(first), Some(program)) = (words.first_mut(), self.program()) {
            *first = quoted(&program.to_string_lossy());
        }
        Run {
            place: Some(Place::Sandbox),
            reach: if hosts.is_empty() { Reach::Nobody } else { Reach::Hosts(hosts) },
            ..Run::new(words.join(" "))
        }
    }
}

fn info() -> ToolInfo {
    let parameters = json!({"type": "object", "properties": {
        "command": {"type": "string", "description": "The program and its arguments."}
    }});
    let info = Info {
        section: Section::Runtime,
        uses: &[Capability::Exec, Capability::Files],
        timeout: MOST,
        ..Info::DEFAULT
    };
    let info = ToolInfo::with("run", "Run a program in the sandbox.", parameters, info);
    ToolInfo { effects: Effects::of(&[Effect::Read, Effect::Write, Effect::Act]), ..info }
}

/// The program, ready to run.
#[derive(Debug)]
struct Program {
    run: Run,
    review: Arc<dyn Review>,
    ended: Arc<Mutex<Option<Ended>>>,
}

impl Prepared for Program {
    fn plan(&self) -> Plan {
        [Need::Run(self.run.clone())].into()
    }

    fn run(self: Box<Self>, ctx: &ToolContext) -> BoxFuture<'_, ToolResult> {
        Box::pin(async move {
            let how = How { timeout: MOST, terminal: Terminal::Yes };
            let Ran { ended, changed, notes, .. } = ctx.exec().interact(how, &self.review).await?;
            let result = json!({"ended": ended, "changed": changed, "notes": notes});
            if let Ok(mut slot) = self.ended.lock() {
                *slot = Some(ended);
            }
            Ok(ToolOutput::json(result))
        })
    }
}

/// What became of it, in a few lines.
fn report(outcome: &Outcome) {
    match outcome {
        Outcome::Success { result, meta, .. } => {
            for note in result.get("notes").and_then(Value::as_array).into_iter().flatten() {
                output::note(format_args!(
                    "toolgate: {}",
                    visible(note.as_str().unwrap_or_default())
                ));
            }
            if meta.changed.is_empty() {
                output::note("toolgate: nothing was kept");
            } else {
                let kept = match meta.changed.len() {
                    1 => "one change".to_owned(),
                    count => format!("{count} changes"),
                };
                let id = meta.call_id;
                output::note(format_args!(
                    "toolgate: kept {kept}; `toolgate undo {id}` takes it back"
                ));
            }
        }
        Outcome::Error { message, .. } => {
            output::note(format_args!("toolgate: {}", visible(message)));
        }
    }
}

/// That of the program, as a shell would give it; 1 if it did not run.
fn exit_code(ended: Option<Ended>) -> ExitCode {
    let Some(ended) = ended else { return ExitCode::FAILURE };
    let code = ended.exit_code.or_else(|| ended.signal.map(|signal| 128 + signal)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_come_back_as_they_were() {
        for (word, expected) in [
            ("ls", "ls"),
            ("a b", "'a b'"),
            ("", "''"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
            ("--x=a/b.c", "--x=a/b.c"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
