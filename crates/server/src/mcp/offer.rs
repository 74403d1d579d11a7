//! What a server of the protocol offers, whatever transport and revision it is asked by.

use std::{fmt, sync::Arc};

use futures_util::stream::BoxStream;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use tool::{BoxFuture, Caller, ToolInfo};

use super::{
    client::{Client, ProgressToken},
    revision::Revision,
};
use crate::{auth::Signed, rpc::RpcError};

/// What somebody gets who asked for something.
pub type Answered = Result<Map<String, Value>, RpcError>;

/// What a server offers: the methods it has, and what it tells of changes.
pub trait Offer: fmt::Debug + Send + Sync {
    /// What it declares it can do.
    fn capabilities(&self) -> Value;

    /// Does what `method` says.
    fn handle<'a>(
        &'a self,
        context: &'a Context,
        method: &'a str,
        params: Map<String, Value>,
    ) -> BoxFuture<'a, Answered>;

    /// What becomes different for a caller, from now on.
    fn changes(&self, caller: &Caller) -> BoxStream<'static, Change>;

    /// The tool that a caller means by `name`, if they have it.
    fn tool(&self, caller: &Caller, name: &str) -> Option<Arc<ToolInfo>>;
}

/// Something that is different from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The tools.
    Tools,
    /// The prompts.
    Prompts,
    /// The resources.
    Resources,
}

impl Change {
    /// How clients are told.
    pub(super) const fn notification(&self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources => "notifications/resources/list_changed",
        }
    }

    /// What somebody asks for who wants to be told.
    pub(super) const fn wanted(&self) -> &'static str {
        match self {
            Self::Tools => "toolsListChanged",
            Self::Prompts => "promptsListChanged",
            Self::Resources => "resourcesListChanged",
        }
    }

    /// Under which of its capabilities a server declares that it tells.
    pub(super) const fn capability(&self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
        }
    }

    pub(super) const ALL: [Self; 3] = [Self::Tools, Self::Prompts, Self::Resources];
}

/// Who asks, and how they are told and asked in turn while what they want is under way.
#[derive(Debug)]
pub struct Context {
    /// Who asks, as authentication knows them.
    pub caller: Caller,
    /// What they speak.
    pub revision: Revision,
    /// Their client.
    pub client: Client,
    /// Answers that came along with the request, without having been asked for by this one.
    pub given: Map<String, Value>,
    /// From which level on they want to be told what is logged, if they do.
    pub log_level: Option<String>,
    /// Cancelled when they want it no more.
    pub cancel: CancellationToken,
    pub(super) progress_token: ProgressToken,
    /// The tool they call, if it was looked up on the way here.
    pub(super) tool: Option<Arc<ToolInfo>>,
    /// The token they came with; none on the command line.
    pub(super) signed: Option<Signed>,
}

impl Context {
    /// Whether they want to be told how far it is.
    pub const fn wants_progress(&self) -> bool {
        self.progress_token.is_some()
    }

    /// Tells them how far it is, if they want to be told; `progress` must grow.
    pub async fn progress(&self, progress: u64, about: Map<String, Value>) {
        let Some(token) = self.progress_token.now() else { return };
        let mut params = about;
        params.insert("progressToken".to_owned(), token);
        params.insert("progress".to_owned(), json!(progress));
        self.client.tell("notifications/progress", Value::Object(params)).await;
    }
}
