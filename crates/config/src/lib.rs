//! Every configuration key, its kind, default and help, as data; read from TOML or JSON5 with file
//! and line.
//!
//! This crate parses and decides nothing: whether a tool exists, what a rule means and which limit
//! applies is known elsewhere. It must not know tools, stages or storage. It is also the only crate
//! that reads the environment.
//!
//! Start from [`Config`], which is what a file says, and [`keys`], which is what a file can say.

mod agent;
mod base_url;
mod config;
mod decimal;
mod edit;
mod environment;
mod error;
mod exec;
mod hook;
mod host;
mod json5;
mod key;
mod keys;
mod kind;
mod layer;
mod limits;
mod lines;
mod load;
mod node;
mod openclaw;
mod paths;
mod place;
mod problems;
mod profile;
mod prompt;
mod provider;
mod reference;
mod safe_bin;
mod schema;
mod secret;
mod secrets;
mod server;
mod setting;
mod slot;
mod spanned;
mod store;
mod stored;
mod text;
mod toml;
mod tools;
mod user;
mod value_at;
mod walk;
mod web;

pub use agent::{Agent, AgentTools, Budget};
pub use base_url::BaseUrl;
pub use config::Config;
pub use decimal::Decimal;
pub use edit::edit;
pub use environment::environment;
pub use error::{ConfigError, ConfigProblem};
pub use exec::{Access, Elevated, Exec, ExecNetwork, Isolation, Minimum, Security, Switch};
pub use hook::{Hook, HookEvent};
pub use host::{HostPattern, HostSpec};
pub use key::Key;
pub use keys::keys;
pub use kind::Kind;
pub use layer::Layer;
pub use limits::Limits;
pub use load::{Loaded, load, load_with_warnings, parse, parse_with_warnings};
pub use paths::{Paths, paths};
pub use profile::ProfileName;
pub use prompt::Prompt;
pub use provider::Provider;
pub use reference::reference;
pub use safe_bin::{SafeBin, SafeOperands};
pub use schema::schema;
pub use secret::{Secret, SecretName};
pub use secrets::{SecretValue, resolve_secrets};
pub use server::{Origin, Server};
pub use setting::parse_duration;
pub use spanned::{At, Spanned};
pub use store::Store;
pub use stored::{agent_settings, stored_agent};
pub use text::Text;
pub use tool::Ask;
pub use tools::{ApplyPatch, Fs, Names, Tools, names};
pub use user::{User, UserLimits};
pub use value_at::value_at;
pub use web::{Fetch, Hosts, Network, Web};
