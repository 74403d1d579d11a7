//! The tool runtime for AI agents, for Rust programs that embed it.
//!
//! Write a tool as the struct of its arguments, put it behind a [`Gate`], and call it:
//!
//! ```no_run
//! use serde::Deserialize;
//! use toolgate::{Caller, Gate, JsonSchema, Policy, Tool, ToolContext, ToolOutput, ToolResult, builtin};
//!
//! /// Say hello to someone.
//! #[derive(Deserialize, JsonSchema)]
//! struct Greet {
//!     /// Who to greet.
//!     name: String,
//! }
//!
//! impl Tool for Greet {
//!     const NAME: &'static str = "greet";
//!     async fn run(self, _: &ToolContext) -> ToolResult {
//!         Ok(ToolOutput::text(format!("Hello, {}", self.name)))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), toolgate::BuildError> {
//! let policy = Policy::default();
//! let gate = Gate::builder().tool::<Greet>().tools(builtin()).policy(policy).build()?;
//! let caller = Caller::owner("main");
//! let outcome = gate.call(&caller, "greet", serde_json::json!({"name": "Ada"})).await;
//! assert_eq!(outcome.status(), "success");
//! # Ok(())
//! # }
//! ```
//!
//! This crate only puts the parts together; what they do is in the crates it re-exports from.

mod build;
mod capabilities;
mod config_names;
mod gateway;
mod hooks;
mod key;
mod recovery;
mod reload;
mod stored;
mod upkeep;
mod watch;
mod wire;

pub use build::{BuildError, Gate, GateBuilder, Policy};
pub use config::{self, Config};
pub use config_names::{check_agent_settings, check_configuration};
pub use gate::{
    Answer, AnswerDecision, Approver, Before, Call, Check, Finished, Hook, HookCall, HookRewrite,
    Next, Observer, PersistedBlocks, Pipeline, Question, RegistryError, Reply, Request, Stage,
    Started, Stats, standard,
};
pub use provider::{DefinitionList, Format, ProviderError};
pub use sandbox::init;
pub use schemars::JsonSchema;
pub use tool::{
    AnyTool, Block, BoxFuture, CallId, Caller, Capability, Clock, Confined, Effect, Effects,
    FilePath, Info, Need, Outcome, Plan, Prepared, Profile, Rate, Requires, Role, SandboxNeed,
    Section, Tool, ToolContext, ToolError, ToolInfo, ToolOutput, ToolResult, Typed, UpdateSink,
    Updates,
};
pub use tools::builtin;
pub use watch::Watch;
pub use wire::Answered;

/// The examples in the documents are run as tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    mod readme {}
    #[doc = include_str!("../../../docs/guide/embedding.md")]
    mod embedding {}
}
