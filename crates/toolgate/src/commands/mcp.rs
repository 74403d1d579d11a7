//! `toolgate mcp`.

use std::{env, net::SocketAddr, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use clap::Args;
use config::{Config, Loaded};
use server::{
    Events,
    mcp::{HowPatient, Patience, Tools, serve_stdio},
};
use tokio::{
    io::{BufReader, stdin, stdout},
    net::TcpStream,
};
use toolgate::{Approver, BoxFuture, Question, Reply};

use super::{call::stopped, serve::listening};
use crate::{
    cli::{Global, Identity, duration},
    context, output, question,
};

/// So long it may take to find out whether a server is there.
const LOOK: Duration = Duration::from_millis(300);
/// So long calls that were stopped may take to end: what is left then is found by whoever comes next.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// Serve the tools to one MCP client, on standard input and output.
///
/// The client starts this by itself; `toolgate connect` tells it how. Questions about its calls are put to the
/// person at the client, if the client can do that; else to whoever uses the page of `toolgate serve`, if it
/// runs; else they are answered with no.
#[derive(Debug, Args)]
pub(crate) struct McpCommand {
    /// Act as this agent.
    #[arg(long, value_name = "A", default_value = "main")]
    agent: String,
    /// Act for this user instead of the owner. Nobody answers their questions here.
    #[arg(long, value_name = "U")]
    user: Option<String>,
    /// The conversation the calls belong to.
    #[arg(long, value_name = "S", default_value = "mcp")]
    session: String,
    /// The folder file tools work in; by default the agent's own, else the current one.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Leave a question that the client cannot put to anybody open for this long, so that `toolgate
    /// approvals` elsewhere can answer it.
    #[arg(long, value_name = "5m", value_parser = duration)]
    wait: Option<Duration>,
}

impl McpCommand {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        let Self { agent, user, session, workspace, wait } = self;
        let mut identity = Identity {
            agent,
            user,
            session,
            sender: None,
            channel: None,
            workspace,
            allow_broad_workspace: false,
        };
        context::check_user(global, &identity).await?;
        let config = context::configuration(global)?;
        if identity.workspace.is_none() {
            identity.workspace = instead_of_here(global, &config, &identity.agent)?;
        }
        let config = context::adapted(config, &identity, wait);
        let events = Events::new(context::clock(), question::IN_WORDS);
        let global = &Global { data: Some(context::data(global)?), ..global.clone() };
        // Inside a command of an agent nobody can be asked.
        let approver = context::person().is_ok().then(|| {
            let (events, global) = (events.clone(), global.clone());
            Arc::new(AtClient { events, waits: wait.is_some(), global }) as Arc<dyn Approver>
        });
        let gate = context::gate_as(global, config, &identity.agent, approver)?;
        context::announce_isolation(gate.runner());
        let _watch = context::configuration_place(global).map(|path| {
            let identity = identity.clone();
            gate.watch(&path, move |path| {
                let Loaded { config, warnings } = config::load_with_warnings(path)?;
                Ok(Loaded { config: context::adapted(config, &identity, wait), warnings })
            })
        });
        let _agents = gate.watch_agents();
        let _order = gate.keep_in_order();
        let offer = Tools::new(gate.inner().clone(), events);
        let who = (context::caller(&identity), context::clock());
        let ends = (BufReader::new(stdin()), stdout());
        tokio::select! {
            served = serve_stdio(offer, who, patience(gate.inner()), ends) => served?,
            () = stopped() => {}
        }
        settled(gate.inner()).await;
        gate.runner().shutdown().await;
        Ok(ExitCode::SUCCESS)
    }
}

/// What configuration says at the moment, which may change while clients are served.
fn patience(gate: &gate::Gate) -> HowPatient {
    let gate = gate.clone();
    HowPatient(Box::new(move || {
        let limits = &gate.config().limits;
        let (time, questions) = (limits.approval_timeout.value, limits.open_questions.value);
        Patience { time, questions }
    }))
}

/// Waits until calls that were stopped have ended and their questions are withdrawn: a question that is left
/// behind would be put to people for as long as it may be open.
async fn settled(gate: &gate::Gate) {
    let settled = async {
        loop {
            let stats = gate.stats();
            if stats.open_questions + stats.running + stats.waiting == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let _ = tokio::time::timeout(LAST_WORDS, settled).await;
}

/// The folder to work in where the current one is too much: clients start programs in all sorts of places, and no
/// agent should get a whole disk or a whole home because of that. It stays this one, whatever becomes of the agent.
fn instead_of_here(global: &Global, config: &Config, agent: &str) -> Result<Option<PathBuf>> {
    let here = env::current_dir().context("the current folder cannot be found")?;
    let here = here.canonicalize().unwrap_or(here);
    if !context::is_broad(&here) {
        return Ok(None);
    }
    let own = context::folder_of(global, config, agent)?;
    own.map(Some).with_context(|| {
        format!(
            "this was started in `{}`, which is too much for an agent to work in; name a folder with \
             `--workspace DIR`, or in `agents.{agent}.workspace`",
            here.display(),
        )
    })
}

/// Puts questions to the person at the client; if that cannot be, leaves them open for those who may answer
/// elsewhere, if there are any.
#[derive(Debug)]
struct AtClient {
    events: Arc<Events>,
    waits: bool,
    global: Global,
}

impl Approver for AtClient {
    fn name(&self) -> &'static str {
        "MCP client"
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Reply> {
        Box::pin(async move {
            if let Some(answer) = self.events.asking().ask(question).await {
                return Reply::Answered(answer);
            }
            if !self.waits && !is_served(&self.global).await {
                let why = "it cannot put questions to anybody, and no `toolgate serve` runs; start one, \
                           or `toolgate mcp --wait 5m` and answer with `toolgate approvals`";
                return Reply::NobodyHere(why.to_owned());
            }
            let id = question.id.short();
            output::note(format_args!(
                "Waiting for an answer: `toolgate approvals allow {id}` or `deny {id}`."
            ));
            std::future::pending().await
        })
    }
}

/// Whether a server runs on the same data, on whose page somebody may answer.
async fn is_served(global: &Global) -> bool {
    let Ok(Some(address)) = listening(global) else { return false };
    let connects = |address: SocketAddr| TcpStream::connect(address);
    matches!(tokio::time::timeout(LOOK, connects(address)).await, Ok(Ok(_)))
}
