//! The only file of these tests that knows how to build a gate.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use gate::{Pipeline, Shared, standard};
use serde_json::Value;
use store::{Entry, Filter};
use tempfile::TempDir;
use toolgate::{
    Answer, AnswerDecision, Approver, BoxFuture, Caller, Clock, Gate, GateBuilder, Outcome,
    Question, Reply, builtin,
};

use crate::hostile::Hostile;

/// Who answers when the gate asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Person {
    Agrees,
    Refuses,
    Absent,
    /// Is there, but says nothing.
    Silent,
}

impl Approver for Person {
    fn name(&self) -> &'static str {
        "person"
    }

    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Reply> {
        Box::pin(async {
            let decision = match self {
                Self::Agrees => AnswerDecision::AllowOnce,
                Self::Refuses => AnswerDecision::Deny,
                Self::Absent => return Reply::NobodyHere("gone fishing".into()),
                Self::Silent => std::future::pending().await,
            };
            let message = Some("not today".to_owned());
            Reply::Answered(Answer { decision, by: "ada".into(), message })
        })
    }
}

#[derive(Debug)]
struct Noon;

impl Clock for Noon {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_hours(12)
    }
}

/// A gate before a fresh workspace that holds `hello.txt`.
pub(crate) struct Setup {
    pub(crate) gate: Gate,
    pub(crate) caller: Caller,
    folder: TempDir,
}

/// What differs from test to test.
#[derive(Clone, Copy)]
pub(crate) struct With {
    pub(crate) person: Person,
    pub(crate) config: &'static str,
    pub(crate) more: fn(GateBuilder) -> GateBuilder,
    pub(crate) without: Option<&'static str>,
}

impl Default for With {
    fn default() -> Self {
        Self { person: Person::Agrees, config: "", more: |builder| builder, without: None }
    }
}

impl Setup {
    pub(crate) fn new() -> Self {
        Self::with(With::default())
    }

    pub(crate) fn with(with: With) -> Self {
        let folder = TempDir::new().unwrap();
        let workspace = folder.path().join("ws");
        fs::create_dir(&workspace).unwrap();
        fs::write(workspace.join("hello.txt"), "hello\nworld\n").unwrap();
        let gate = gate(folder.path(), with);
        Self { gate, caller: Caller::owner("main"), folder }
    }

    /// Another gate before the same files, as after a restart.
    pub(crate) fn again(&self, with: With) -> Gate {
        gate(self.folder.path(), with)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("ws").join(name)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Everything in the workspace, hidden or not.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.path(".")).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) async fn outcome(&self, name: &str, args: Value) -> Outcome {
        self.gate.call(&self.caller, name, args).await
    }

    /// The result as text, or the error in one line.
    pub(crate) async fn call(&self, name: &str, args: Value) -> String {
        line(&self.outcome(name, args).await)
    }

    /// The journal, oldest first.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let mut entries = self.gate.journal().entries(&Filter::default()).unwrap();
        entries.reverse();
        entries
    }
}

fn gate(folder: &Path, with: With) -> Gate {
    let builder = Gate::builder()
        .config(config::parse(with.config, "toolgate.toml").unwrap())
        .data(folder.join("data"))
        .workspace(folder.join("ws"))
        .clock(Arc::new(Noon))
        .approver(Arc::new(with.person))
        .tools(builtin())
        .tool::<Hostile>();
    let stages = |shared: &Arc<Shared>| -> Pipeline {
        with.without.map_or_else(|| standard(shared), |name| standard(shared).without(name))
    };
    (with.more)(builder).build_with(stages).unwrap()
}

/// The result as text, or the error in one line.
pub(crate) fn line(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Success { result: Value::String(text), .. } => text.clone(),
        Outcome::Success { result, .. } => result.to_string(),
        Outcome::Error { error_type, message, .. } => format!("{error_type}: {message}"),
    }
}
