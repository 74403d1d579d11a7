//! `exec`.

use std::{collections::BTreeMap, ops::RangeInclusive, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tool::{
    Ask, Capability, Effect, FilePath, How, Info, Lasting, Need, Place, Plan, Problem, Ran, Run,
    SandboxNeed, Terminal, Tool, ToolContext, ToolError, ToolResult, schema_of,
};

use super::{
    ALL, INFO,
    completed::{Completed, Where},
    environment,
    output::Output,
    problem,
    running::{NOT_UNDOABLE, Running},
    schema,
    seen::Part,
    time_left, wait,
};

/// The longest a command may run, in seconds.
const MAX_TIMEOUT: u64 = 30 * 60;
/// The least and the most `yieldMs` may be.
const YIELD_MS: RangeInclusive<u64> = 10..=600_000;
/// So much of what a process wrote is returned if it ended in time.
const MAX_BYTES: usize = 1_000_000;

/// Run a shell command in the workspace and get what it writes and how it ended. An exit code other
/// than 0 is a result, not an error. It runs isolated, usually without network; what it changes in
/// the workspace is kept when it ends by itself, and dropped when it is ended for time, memory or
/// what it wrote. For servers, watchers and other commands that take long, give
/// `background` or `yieldMs` and go on with the tool `process`. To read, search and change files,
/// use `read`, `grep`, `glob`, `edit` and `write`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Exec {
    /// Command line for a shell, exactly as it shall run.
    command: String,
    /// Folder to start in; left out, the workspace itself.
    #[serde(default = "FilePath::root")]
    workdir: FilePath,
    /// Variables to add to the environment, by name, such as `{"RUST_LOG": "debug"}`. Those that
    /// change which programs run or whom they trust, such as `PATH`, are refused.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Wait so many milliseconds for the end; what still runs then goes on as a process, and you get
    /// its `processId`. What such a command changes cannot be undone.
    #[schemars(range(min = 10, max = 600_000))]
    yield_ms: Option<u64>,
    /// Start it as a process and return at once, whatever `yieldMs` says. What it changes cannot be
    /// undone.
    #[serde(default)]
    background: bool,
    /// End the command after so many seconds.
    #[serde(default = "max_timeout")]
    #[schemars(range(min = 1, max = 1_800))]
    timeout: u64,
    /// Give it a terminal, for programs that behave differently without one. Both outputs are then
    /// one.
    #[serde(default)]
    pty: bool,
    /// Where to run it: in the native sandbox, in a container (`gateway` is an old name for it), on
    /// the host itself, or on another machine. Left out, it is where the operator wants it; other
    /// places may be refused.
    host: Option<Target>,
    /// Name of the machine, for `host` `node`, which it implies.
    node: Option<String>,
    /// Ask to run it on the host with more rights than usual. A person has to agree.
    #[serde(default)]
    elevated: bool,
    /// When a person is asked before it runs; only stricter than the operator has it.
    ask: Option<Ask>,
}

/// Where to run a command.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Target {
    Sandbox,
    Container,
    Gateway,
    Host,
    Node,
}

const fn max_timeout() -> u64 {
    MAX_TIMEOUT
}

impl Tool for Exec {
    const NAME: &'static str = "exec";
    const EFFECTS: &'static [Effect] = &[Effect::Read, Effect::Fetch, Effect::Write, Effect::Act];
    const INFO: Info = Info {
        aliases: &["bash"],
        parameter_aliases: &[("cmd", "command"), ("cwd", "workdir")],
        timeout: Duration::from_secs(MAX_TIMEOUT),
        uses: &[Capability::Exec, Capability::Files],
        sandbox: SandboxNeed::Preferred,
        ..INFO
    };

    fn output_schema() -> Option<Value> {
        Some(schema::any_of(&[schema_of::<Completed>(), schema_of::<Running>()]))
    }

    /// A command that cannot run needs nothing: nobody is asked about it, and `run` says what is
    /// wrong with it.
    fn plan(&self) -> Plan {
        if !self.problems().is_empty() {
            return Plan::default();
        }
        let lasting = self.waits().map_or(Lasting::Call, |_| Lasting::Session);
        let run = Run {
            cwd: self.workdir.clone(),
            env: self.env.clone(),
            place: self.place(),
            lasting,
            elevated: self.elevated,
            terminal: self.terminal(),
            ask: self.ask,
            ..Run::new(&self.command)
        };
        [Need::Run(run)].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let problems = self.problems();
        if !problems.is_empty() {
            return Err(ToolError::Invalid { tool: Self::NAME.to_owned(), problems });
        }
        let terminal = self.terminal();
        let timeout = Duration::from_secs(self.timeout);
        match self.waits() {
            None => {
                let how = How { timeout: timeout.min(time_left(ctx)), terminal };
                let ran = ctx.exec().run(how).await?;
                completed(ctx, ran, self.workdir).await
            }
            Some(at_most) => {
                let process = ctx.exec().start(How { timeout, terminal }).await?;
                wait(&*process, ALL, at_most.min(time_left(ctx))).await;
                going_on(ctx, process).await
            }
        }
    }
}

impl Exec {
    /// How long to wait until the command goes on as a process; `None` if it never does.
    fn waits(&self) -> Option<Duration> {
        if self.background {
            return Some(Duration::ZERO);
        }
        self.yield_ms.map(Duration::from_millis)
    }

    const fn terminal(&self) -> Terminal {
        if self.pty { Terminal::Yes } else { Terminal::No }
    }

    /// Where the call wants it to run; what it leaves open, configuration decides.
    fn place(&self) -> Option<Place> {
        match (self.host, &self.node, self.elevated) {
            (Some(host), _, _) => Some(host.place()),
            (None, Some(_), _) => Some(Place::Node),
            (None, None, true) => Some(Place::Host),
            (None, None, false) => None,
        }
    }

    fn problems(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        let mut expect = |fine: bool, path: &str, message: &str| {
            if !fine {
                found.push(problem(path, message));
            }
        };
        let Self { command, yield_ms, timeout, node, elevated, .. } = self;
        let place = self.place();
        expect(!command.trim().is_empty(), "command", "is empty; say what to run");
        expect(!command.contains('\0'), "command", "contains a NUL character; take it out");
        expect(
            yield_ms.is_none_or(|ms| YIELD_MS.contains(&ms)),
            "yieldMs",
            "is not between 10 and 600000 milliseconds; to return at once, give `background`",
        );
        expect(
            (1..=MAX_TIMEOUT).contains(timeout),
            "timeout",
            "is not between 1 and 1800 seconds; it is not in milliseconds",
        );
        expect(
            node.as_ref().is_none_or(|name| !name.trim().is_empty()),
            "node",
            "is empty; name a machine or leave it out",
        );
        expect(
            node.is_none() || place == Some(Place::Node),
            "node",
            "does not go with this `host`; leave `host` out or make it `node`",
        );
        expect(
            !elevated || place == Some(Place::Host),
            "elevated",
            "runs on the host itself; leave `host` and `node` out",
        );
        let variables =
            self.env.iter().filter_map(|(name, value)| environment::problem(name, value));
        found.extend(variables.map(|message| problem("env", message)));
        found
    }
}

impl Target {
    const fn place(self) -> Place {
        match self {
            Self::Sandbox => Place::Sandbox,
            Self::Container | Self::Gateway => Place::Container,
            Self::Host => Place::Host,
            Self::Node => Place::Node,
        }
    }
}

/// The command ran to its end.
async fn completed(ctx: &ToolContext, ran: Ran, cwd: FilePath) -> ToolResult {
    let redact = ctx.redact().clone();
    // There may be megabytes of it.
    ctx.blocking(move |_| {
        let Ran { ended, output: captured, place, changed, notes } = ran;
        let at = Where { cwd: cwd.to_string(), place, changed, notes };
        let output = Output::new(captured, &*redact);
        Completed::new(&ended, output, at).result(&ended, &*redact)
    })
    .await
}

/// The command ended in time, or goes on as a process.
async fn going_on(ctx: &ToolContext, process: Arc<dyn tool::Process>) -> ToolResult {
    let redact = ctx.redact().clone();
    ctx.blocking(move |_| {
        let mut status = process.status();
        let Some(ended) = status.ended.take() else {
            return Ok(Running::new(&*process, status, &*redact).output());
        };
        let part = Part::tail(&*process, MAX_BYTES, &*redact);
        let output = Output::tail(part.output, part.offset);
        let mut notes = vec![NOT_UNDOABLE.to_owned()];
        notes.extend(status.notes);
        let at = Where { cwd: status.cwd, place: status.place, changed: Vec::new(), notes };
        Completed::new(&ended, output, at).result(&ended, &*redact)
    })
    .await
}
