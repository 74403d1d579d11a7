//! Every configuration key, its kind, default and help, as data; read from TOML with file and line.
//!
//! This crate parses and decides nothing: whether a tool exists, what a rule means and which limit
//! applies is known elsewhere. It must not know tools, stages or storage. It is also the only crate
//! that reads the environment.
//!
//! Start from [`Config`], which is what a file says, and [`keys`], which is what a file can say.

mod agent;
mod config;
mod environment;
mod error;
mod key;
mod keys;
mod kind;
mod limits;
mod load;
mod node;
mod paths;
mod place;
mod problems;
mod reference;
mod secret;
mod secrets;
mod setting;
mod slot;
mod spanned;
mod store;
mod toml;
mod tools;
mod walk;

pub use agent::{Agent, AgentTools};
pub use config::Config;
pub use environment::environment;
pub use error::{ConfigError, ConfigProblem};
pub use key::Key;
pub use keys::keys;
pub use kind::Kind;
pub use limits::Limits;
pub use load::{load, parse};
pub use paths::{Paths, paths};
pub use reference::reference;
pub use secret::Secret;
pub use secrets::{SecretValue, resolve_secrets};
pub use setting::parse_duration;
pub use spanned::{At, Spanned};
pub use store::Store;
pub use tools::{Ask, Fs, Names, Tools, names};
