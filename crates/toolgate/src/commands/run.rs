//! `toolgate run`.

mod review;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, Mutex},
    time::Duration,
};

use anyhow::{Result, bail};
use clap::Args;
use config::{Config, HostPattern};
use gate::Operation;
use serde_json::{Value, json};
use tool::{
    Capability, Effect, Effects, Ended, How, Info, Need, Place, Plan, Prepared, Ran, Reach, Review,
    Run, Section, Terminal, ToolInfo,
};
use toolgate::{BoxFuture, CallId, Outcome, ToolContext, ToolOutput, ToolResult};
use world::{HeldRun, HeldRuns};

use self::review::AtTerminal;
use crate::{
    call_name::CallName,
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
///
/// Changes you have not decided about are held, also when the terminal is closed or Toolgate is killed:
/// `--list` shows them, and `--resume` asks again.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
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
    /// Show the runs whose changes are held.
    #[arg(long, conflicts_with_all = ["resume", "command", "keep", "drop"])]
    list: bool,
    /// Decide about the changes of an earlier run: its id, the beginning or end of that, or `last`.
    #[arg(long, value_name = "ID", conflicts_with = "command")]
    resume: Option<CallName>,
    /// Let the program change the workspace itself: there is nothing to review, and nothing can be
    /// undone. Needed where the machine has no overlay.
    #[arg(long, conflicts_with_all = ["keep", "drop", "list", "resume"])]
    no_overlay: bool,
    #[command(flatten)]
    identity: Identity,
    /// The program and its arguments.
    #[arg(last = true, required_unless_present_any = ["list", "resume"], value_name = "COMMAND")]
    command: Vec<String>,
}

impl RunProgram {
    pub(crate) async fn run(mut self, global: &Global) -> Result<ExitCode> {
        if self.list {
            list_held(&HeldRuns::open(&context::data(global)?)?.list());
            return Ok(ExitCode::SUCCESS);
        }
        let resumed = self.resumed(global)?;
        context::check_user(global, &self.identity).await?;
        let config = self.adapted(context::configuration_for(global, &self.identity)?);
        let gate = context::gate_as(global, config, &self.identity.agent, None)?;
        let ended = Arc::new(Mutex::new(None));
        let (run, args) = match &resumed {
            None => {
                let run = self.planned();
                let args = json!({"command": run.command});
                (run, args)
            }
            Some(held) => {
                let run = Run { place: Some(Place::Sandbox), ..Run::new(held.command.clone()) };
                let args = json!({"command": run.command, "resumed": held.id});
                (run, args)
            }
        };
        let held = resumed.map(|held| held.id);
        let (review, slot) = (Arc::new(self.reviewer()), ended.clone());
        let prepared = Box::new(Program { run, review, ended: slot, held });
        let operation = Operation { info: info(), args, prepared };
        let outcome = gate.perform(&context::caller(&self.identity), operation).await;
        gate.runner().shutdown().await;
        let held = gate.world().held_runs().get(held.unwrap_or(outcome.meta().call_id));
        report(&outcome, held.as_ref());
        if held.is_none() && !self.no_overlay {
            report_kept(&outcome);
        }
        let ended = ended.lock().map(|mut ended| ended.take()).unwrap_or_default();
        Ok(exit_code(ended))
    }

    /// The run whose changes are to be decided about; acts as it did, where it did.
    fn resumed(&mut self, global: &Global) -> Result<Option<HeldRun>> {
        let Some(name) = &self.resume else { return Ok(None) };
        context::person()?;
        let held = HeldRuns::open(&context::data(global)?)?.list();
        let Some(id) = name.pick(held.iter().map(|run| run.id))? else {
            bail!("there is no held run `{name}`; `toolgate run --list` shows them");
        };
        let run = held.into_iter().find(|run| run.id == id);
        if let Some(run) = &run {
            self.identity = Identity {
                agent: run.agent.clone(),
                user: Some(run.user.clone()),
                session: run.session.clone(),
                workspace: Some(run.workspace.clone()),
                ..self.identity.clone()
            };
        }
        Ok(run)
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
            direct: self.no_overlay,
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
    /// The earlier call that ran it, if only its changes are to be decided about.
    held: Option<CallId>,
}

impl Prepared for Program {
    fn plan(&self) -> Plan {
        [Need::Run(self.run.clone())].into()
    }

    fn run(self: Box<Self>, ctx: &ToolContext) -> BoxFuture<'_, ToolResult> {
        Box::pin(async move {
            let how = How { timeout: MOST, terminal: Terminal::Yes };
            let exec = ctx.exec();
            let ran = match self.held {
                None => exec.interact(how, &self.review).await?,
                Some(held) => exec.resume(held, how, &self.review).await?,
            };
            let Ran { ended, changed, notes, .. } = ran;
            let result = json!({"ended": ended, "changed": changed, "notes": notes});
            if let Ok(mut slot) = self.ended.lock() {
                *slot = Some(ended);
            }
            Ok(ToolOutput::json(result))
        })
    }
}

/// The runs that wait, as a table.
fn list_held(held: &[HeldRun]) {
    if held.is_empty() {
        output::note("No changes of a run are held.");
        return;
    }
    let row = |run: &HeldRun| {
        let (id, time) = (run.id.to_string(), output::time(run.started));
        vec![time, id, visible(&run.workspace.to_string_lossy()), visible(&run.command)]
    };
    output::table(&["time", "run", "workspace", "command"], held.iter().map(row).collect());
    output::note("`toolgate run --resume ID` asks what to keep; with `--drop` it drops all.");
}

/// What became of it, in a few lines.
fn report(outcome: &Outcome, held: Option<&HeldRun>) {
    report_outcome(outcome);
    if let Some(held) = held {
        output::note(format_args!(
            "toolgate: the changes are held, and the workspace is as it was; \
             `toolgate run --resume {}` asks again",
            held.id
        ));
    }
}

fn report_outcome(outcome: &Outcome) {
    match outcome {
        Outcome::Success { result, .. } => {
            for note in result.get("notes").and_then(Value::as_array).into_iter().flatten() {
                output::note(format_args!(
                    "toolgate: {}",
                    visible(note.as_str().unwrap_or_default())
                ));
            }
        }
        Outcome::Error { message, .. } => {
            output::note(format_args!("toolgate: {}", visible(message)));
        }
    }
}

/// What was kept, and how to take it back.
fn report_kept(outcome: &Outcome) {
    let Outcome::Success { meta, .. } = outcome else { return };
    let kept = match meta.changed.len() {
        0 => return output::note("toolgate: nothing was kept"),
        1 => "one change".to_owned(),
        count => format!("{count} changes"),
    };
    let id = meta.call_id;
    output::note(format_args!("toolgate: kept {kept}; `toolgate undo {id}` takes it back"));
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
