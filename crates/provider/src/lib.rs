//! The wire formats models and their clients speak: definitions out, calls in, results out and in,
//! streamed pieces put together again; and whole conversations, in both directions.
//!
//! Towards a model we are the client: [`request`] writes what [`Assembler`] reads the answer to. Towards
//! clients that people already have we are the model: [`parse_request`] reads what [`response`] and
//! [`ReplyStream`] answer.
//!
//! This crate must not touch the network, the clock or a tool: everything here is a pure function
//! of what it is given. What is odd about a provider stays in its files.
//!
//! Start from [`Format`], which names the five, [`WireCall`], which is what all of them mean, and
//! [`Message`], of which conversations are made.

mod anthropic;
mod args;
mod call;
mod conversation;
mod definitions;
mod error;
mod gemini;
mod image;
mod incoming;
mod json;
mod mcp;
mod names;
mod openai;
mod openai_responses;
mod options;
mod reply;
mod request;
mod result;
mod schema;
mod stored;
mod stream;
mod structured;

pub use args::arguments;
pub use call::{WireCall, calls};
pub use conversation::{Message, ModelMessage, Raw};
pub use definitions::{DefinitionList, Definitions, definition, definitions};
pub use error::ProviderError;
pub use incoming::{ChatRequest, IncludeUsage, Stream, parse_request};
pub use mcp::{mcp_result, mcp_results};
pub use names::Names;
pub use options::{Effort, Options, Parallel, Shape, ToolChoice};
pub use reply::{CallNote, Reply, ReplyHead, ReplyStream, error, models, response};
pub use request::{Prompt, request};
pub use result::{WireResult, parse_results, results, write_results};
pub use schema::schema;
pub use stream::{Assembled, Assembler, Finish, Usage};
pub use tool::Format;
