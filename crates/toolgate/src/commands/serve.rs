//! `toolgate serve`.

use std::{
    ffi::OsStr,
    fs,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use agent::MAIN;
use anyhow::{Context as _, Result, bail};
use clap::Args;
use config::Config;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use server::{Events, NewSecret, Parts, Reload, Server, mcp::Tools};
use store::{Db, NewToken, TokenKind};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use toolgate::{Finished, Gate, Observer, Role, Started};

use crate::{
    cli::Global,
    context,
    output::{self, LogForm},
    question,
    visible::visible,
};

/// The file in the data folder that says where the server listens.
const PLACE: &str = "listening";

/// So long a sign-in link works.
const LINK_LIFE: Duration = Duration::from_mins(10);

/// Serve the gate over HTTP and WebSocket, and a page for people.
///
/// Ends on SIGINT or SIGTERM when the calls that run are done; a second signal ends it at once.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to listen; by default what `server.listen` says, which is 127.0.0.1:7717 unless changed.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// How what is logged on stderr is written: for people, or one JSON object a line for programs.
    #[arg(long, value_name = "FORM", default_value = "text")]
    pub(crate) log: LogForm,
    /// The folder file tools work in; by default the current one. An agent may have its own.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Work in `/` or in the home folder, which is refused otherwise.
    #[arg(long)]
    allow_broad_workspace: bool,
}

impl Serve {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        context::person()?;
        raise_open_files();
        let config = context::configuration(global)?;
        let listen = self.listen.unwrap_or(config.server.listen.value);
        let folder = self.folder(&config)?;
        let events = Events::new(context::clock(), question::IN_WORDS);
        let gate = context::builder(global, config)?
            .workspace(&folder)
            .approver(events.clone())
            .observer(events.clone())
            .observer(Arc::new(CallLog))
            .build()?;
        // Also where none is yet: it is taken over when somebody writes it.
        let file = context::configuration_place(global);
        let _watch = file.map(|path| gate.watch(&path, config::load_with_warnings));
        let _agents = gate.watch_agents();
        let _order = gate.keep_in_order();
        let parts = Parts {
            gate: gate.inner().clone(),
            agents: gate.agents().clone(),
            reload: reload(&gate),
            world: gate.world().clone(),
            runner: gate.runner().clone(),
            offer: Tools::new(gate.inner().clone(), events.clone()),
            events,
        };
        let server = Server::bind(parts, listen).await?;
        let address = server.address();
        let place = context::data(global)?.join(PLACE);
        fs::write(&place, address.to_string()).context("cannot note where the server listens")?;
        greet(gate.db().await?, address).await?;
        describe(&gate, &folder);
        context::announce_isolation(gate.runner());
        gate.agents().resume().await?;
        let restart = CancellationToken::new();
        gate.on_restart({
            let restart = restart.clone();
            move || restart.cancel()
        });
        let end = until_end(server, &restart).await?;
        // Another server on the same data may be somewhere else by now.
        if listening(global)? == Some(address) {
            fs::remove_file(&place).context("cannot take back where the server listened")?;
        }
        gate.runner().shutdown().await;
        match end {
            End::Stop => Ok(ExitCode::SUCCESS),
            End::Restart => Err(self.begin_anew(global, address)),
        }
    }

    /// The folder of agents that have none of their own. Where `main` has its own, it does not matter which one.
    fn folder(&self, config: &Config) -> Result<PathBuf> {
        let folder = self.workspace.clone().unwrap_or_else(|| PathBuf::from("."));
        let folder = folder
            .canonicalize()
            .with_context(|| format!("the workspace `{}` cannot be used", folder.display()))?;
        let own = config.agents.get(MAIN).is_some_and(|agent| agent.workspace.is_some());
        let unnamed = self.workspace.is_none() && own;
        if context::is_broad(&folder) && !self.allow_broad_workspace && !unnamed {
            bail!(
                "`{}` is too much for agents to work in; start in a folder of a project, or name one with \
                 `--workspace DIR` or in `agents.main.workspace` (`--allow-broad-workspace` works here all the \
                 same)",
                folder.display(),
            );
        }
        Ok(folder)
    }

    /// This program takes the place of this process, so that whoever watches over it notices nothing. Returns
    /// only if that fails.
    #[expect(
        clippy::disallowed_methods,
        reason = "nothing is spawned: the process stays the same one"
    )]
    fn begin_anew(&self, global: &Global, address: SocketAddr) -> anyhow::Error {
        let program = match std::env::current_exe() {
            Ok(program) => program,
            Err(error) => return anyhow::Error::from(error).context("cannot start again"),
        };
        let mut command = std::process::Command::new(program);
        let Global { config, data } = global;
        for (name, value) in [("--config", config), ("--data", data)] {
            command.args(value.iter().flat_map(|value| [OsStr::new(name), value.as_os_str()]));
        }
        // Where it is now: clients know that, whatever port was asked for.
        command.args(["serve", "--listen", &address.to_string(), "--log", self.log.name()]);
        if let Some(folder) = &self.workspace {
            command.arg("--workspace").arg(folder);
        }
        if self.allow_broad_workspace {
            command.arg("--allow-broad-workspace");
        }
        crate::log::end();
        anyhow::Error::from(command.exec()).context("cannot start again")
    }
}

/// One line of the log for each call of a tool.
#[derive(Debug)]
struct CallLog;

impl Observer for CallLog {
    fn started(&self, _: Started<'_>) {}

    fn finished(&self, call: Finished<'_>) {
        let Finished { call, caller, tool, result, meta: _, took } = call;
        let status = result.as_ref().map_or_else(toolgate::ToolError::kind, |_| "success");
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        tracing::info!(
            %call,
            tool = tool.map_or("?", |tool| &**tool),
            user = &*caller.user,
            agent = &*caller.agent,
            status,
            ms,
            "call"
        );
    }
}

/// Says what a server works with.
fn describe(gate: &Gate, folder: &Path) {
    let model = gate.agents().model_of(MAIN);
    output::line(format_args!("  Workspace {}", visible(&folder.display().to_string())));
    output::line(format_args!("  Model     {}", visible(&model)));
    output::line(format_args!(
        "  Data      {}",
        visible(&gate.data_folder().display().to_string())
    ));
}

/// Where the server of this data folder listens, if one does.
pub(super) fn listening(global: &Global) -> Result<Option<SocketAddr>> {
    let noted = fs::read_to_string(context::data(global)?.join(PLACE)).ok();
    Ok(noted.and_then(|noted| noted.parse().ok()))
}

/// What comes after the server.
enum End {
    Stop,
    Restart,
}

/// Serves until a signal comes, or somebody wants a restart.
async fn until_end(server: Server, restart: &CancellationToken) -> Result<End> {
    let (shutdown, mut signals) = (CancellationToken::new(), Signals::new()?);
    let mut serving = std::pin::pin!(server.run(shutdown.clone()));
    let end = tokio::select! {
        () = &mut serving => return Ok(End::Stop),
        () = signals.next() => End::Stop,
        () = restart.cancelled() => End::Restart,
    };
    output::note(match end {
        End::Stop => "Ending. What runs may go on for a while; a second signal ends it at once.",
        End::Restart => "Starting again. What runs may go on for a while; a signal ends it.",
    });
    shutdown.cancel();
    tokio::select! {
        () = serving => Ok(end),
        () = signals.next() => Ok(End::Stop),
    }
}

/// Every client is an open file, and there may be many; 1,024, as is usual, are soon used up. Commands of
/// agents get their own limit, whatever ours is.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    let most = Rlimit { current: limit.maximum, ..limit };
    if let Err(error) = setrlimit(Resource::Nofile, most) {
        tracing::warn!(%error, "the limit of open files cannot be raised");
    }
}

/// Takes over the agents that were made here. Not the file: it may be broken or gone, and who makes an
/// agent changes nothing else.
fn reload(gate: &Gate) -> Reload {
    let gate = gate.clone();
    Reload(Arc::new(move || gate.reload_agents().map_err(|error| error.to_string())))
}

/// Says where it is and how to get in.
async fn greet(db: &Db, address: SocketAddr) -> Result<()> {
    let base = reachable(address);
    output::line(format_args!("Toolgate listens on {}\n", output::bold(&base)));
    output::line(format_args!("  Sign in   {}", link(db, &base).await?));
    output::line(
        "            works once, for 10 minutes, on this machine; then: toolgate tokens link",
    );
    if db.tokens(None).await?.is_empty() {
        let secret = NewSecret::token()?;
        db.add_token(first_token(), &secret.hash(), context::now()).await?;
        output::line(format_args!("  Token     {}", secret.reveal()));
        output::line(
            "            the owner's, for programs, shown this once; for another: toolgate tokens add",
        );
    } else {
        output::line("  Token     toolgate tokens add --name NAME");
    }
    if !address.ip().is_loopback() {
        output::note(
            "Others can reach this address, and what they send is not encrypted: put a proxy with TLS \
             before it, and name its host in `server.hosts`.",
        );
    }
    Ok(())
}

fn first_token() -> NewToken {
    NewToken {
        kind: TokenKind::Api,
        name: "first".to_owned(),
        user: "owner".to_owned(),
        role: Role::Owner,
        agents: None,
        scopes: None,
        expires_at: None,
    }
}

/// A link that signs a browser in, once. What is secret stands behind `#`, so no server ever sees it in a
/// request line.
pub(super) async fn link(db: &Db, base: &str) -> Result<String> {
    let secret = NewSecret::link()?;
    let expires = context::now().checked_add(LINK_LIFE).context("the clock is at its end")?;
    db.add_link(&secret.hash(), expires).await?;
    Ok(format!("{base}/#token={}", secret.reveal()))
}

/// How a browser on this machine reaches `address`.
pub(super) fn reachable(address: SocketAddr) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip @ (IpAddr::V4(_) | IpAddr::V6(_)) => ip,
    };
    format!("http://{}", SocketAddr::new(ip, address.port()))
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> Result<Self> {
        let signal = |kind| signal(kind).context("signals cannot be heard");
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
