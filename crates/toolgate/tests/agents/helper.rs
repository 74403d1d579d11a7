//! The only file of these tests that knows how to build agents.

use std::{fs, path::Path, sync::Arc, time::Duration};

use agent::{AgentError, Answer, Event, Input, Sink};
use config::{Config, parse};
use provider::{Format, Message};
use scripted::{Reply, Request, ScriptedModel};
use serde_json::Value;
use store::SessionKey;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolgate::{
    Answer as Answered, AnswerDecision, Approver, BoxFuture, Caller, Gate, Question, Tool,
    ToolContext, ToolOutput, ToolResult, builtin,
};

/// Agrees to everything.
#[derive(Debug)]
struct Agrees;

impl Approver for Agrees {
    fn name(&self) -> &'static str {
        "person"
    }

    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, toolgate::Reply> {
        let by = "ada".to_owned();
        let answer = Answered { decision: AnswerDecision::AllowOnce, by, message: None };
        Box::pin(std::future::ready(toolgate::Reply::Answered(answer)))
    }
}

/// Sleep for a minute.
#[derive(serde::Deserialize, toolgate::JsonSchema)]
struct Nap {}

impl Tool for Nap {
    const NAME: &'static str = "nap";

    async fn run(self, _: &ToolContext) -> ToolResult {
        tokio::time::sleep(Duration::from_mins(1)).await;
        Ok(ToolOutput::text("rested"))
    }
}

/// A gate before a fresh workspace, and a model behind its agents.
pub(crate) struct Setup {
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) gate: Gate,
    config: String,
    folder: Arc<TempDir>,
}

impl Setup {
    /// The model gives these replies, in this format.
    pub(crate) async fn new(format: Format, replies: Vec<Reply>) -> Self {
        Self::with(format, ScriptedModel::new(replies).await, "")
    }

    /// The same in the format that is shortest to read, with more in the configuration.
    pub(crate) async fn configured(config: &str, replies: Vec<Reply>) -> Self {
        Self::with(Format::OpenAi, ScriptedModel::new(replies).await, config)
    }

    /// The model answers what it is asked.
    pub(crate) async fn answering(
        config: &str,
        script: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::with(Format::OpenAi, ScriptedModel::answering(script).await, config)
    }

    fn with(format: Format, model: ScriptedModel, config: &str) -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("ws")).unwrap();
        fs::write(folder.path().join("ws/hello.txt"), "hello\n").unwrap();
        let config = format!(
            "{config}\n[providers.script]\nformat = \"{format}\"\nbase_url = \"{}\"\nmodel = \"m\"\nretries = 0\n",
            model.base_url(format)
        );
        let (model, folder) = (Arc::new(model), Arc::new(folder));
        let gate = gate(&config, folder.path());
        Self { model, gate, config, folder }
    }

    /// As if the process had died and another one began.
    pub(crate) fn again(&self) -> Self {
        let gate = gate(&self.config, self.folder.path());
        let (model, config, folder) =
            (self.model.clone(), self.config.clone(), self.folder.clone());
        Self { model, gate, config, folder }
    }

    pub(crate) fn workspace(&self) -> std::path::PathBuf {
        self.folder.path().join("ws")
    }

    pub(crate) async fn say(&self, text: &str) -> Answer {
        self.run(&owner("main"), Input::text(text)).await.unwrap()
    }

    pub(crate) async fn run(&self, caller: &Caller, input: Input) -> Result<Answer, AgentError> {
        let agents = self.gate.agents();
        agents.run(caller, input, Sink::default(), &CancellationToken::new()).await
    }

    /// What came of it, and all that was told meanwhile.
    pub(crate) async fn watch(&self, input: Input) -> (Result<Answer, AgentError>, Vec<Event>) {
        let (sender, mut events) = mpsc::channel(8);
        let (caller, cancel) = (owner("main"), CancellationToken::new());
        let run = self.gate.agents().run(&caller, input, Sink::to(sender), &cancel);
        let watch = async {
            let mut all = Vec::new();
            while let Some(event) = events.recv().await {
                all.push(event);
            }
            all
        };
        tokio::join!(run, watch)
    }

    /// The last thing a model was told, as one text.
    pub(crate) fn last_request(&self) -> String {
        self.model.requests().last().unwrap().body.to_string()
    }

    pub(crate) async fn history(&self, name: &str) -> Vec<Message> {
        let key = SessionKey::new("owner", "main", name);
        let db = self.gate.db().await.unwrap();
        let stored = db.messages(&key, 0, 1_000).await.unwrap();
        let read = |content: Value| serde_json::from_value(content).ok();
        stored.into_iter().filter_map(|message| read(message.content)).collect()
    }
}

fn gate(config: &str, folder: &Path) -> Gate {
    let mut config: Config = parse(config, "test.toml").unwrap();
    // A model that nobody named is the script's.
    for agent in ["main", "other", "third"] {
        let agent = config.agents.entry(agent.into()).or_default();
        agent.model.get_or_insert_with(|| "script/m".to_owned().into());
    }
    let builder = Gate::builder().tool::<Nap>().tools(builtin()).config(config);
    let builder = builder.data(folder.join("data")).workspace(folder.join("ws"));
    builder.approver(Arc::new(Agrees)).build().unwrap()
}

/// The owner, in the session `main` of this agent.
pub(crate) fn owner(agent: &str) -> Caller {
    Caller::owner(agent)
}

/// The owner, in this session of `main`.
pub(crate) fn in_session(name: &str) -> Caller {
    Caller { session: name.into(), ..Caller::owner("main") }
}
