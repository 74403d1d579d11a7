//! Agents: the model clients, the loop between a model and its tools, sessions, sub-agents.
//!
//! This crate must not know a transport, a concrete tool or a sandbox: calls go through the gate.
//!
//! Start from [`Agents`], which is spoken to, and [`Input`] and [`Answer`], which go in and come out.

mod acting;
mod agents;
mod asking;
mod budget;
mod calls;
mod compact;
mod error;
mod events;
mod input;
mod interrupted;
mod lanes;
mod limit;
mod model;
mod names;
mod prompt;
mod repetition;
mod resume;
mod run;
mod sessions;
mod stored;
mod taking;
mod transcript;

pub use agents::{Agents, AgentsParts, MAIN, WeakAgents, key_of, new_id};
pub use calls::request;
pub use error::AgentError;
pub use events::{Event, Listener, Sink};
pub use input::{Answer, Input};
pub use limit::{Admitted, RunLimit};
pub use model::{
    Choice, KeyNeed, Known, KnownModel, ModelError, Models, Price, known_providers, provider_names,
};
pub use names::{answer_id, check_name, is_reserved, request_name, request_of_call};
pub use stored::{
    ExistingAgent, NewAgent, NotStored, has_agent, missing_workspace, remove_agent, store_agent,
};
