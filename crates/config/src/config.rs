//! What a configuration file says.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use crate::{Agent, Hook, Limits, Provider, Secret, Server, Spanned, Store, Tools, User};

/// What a configuration file says, or the defaults. The fields have the names of the keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// Which tools there are and when to ask.
    pub tools: Tools,
    /// Agents that are treated in their own way, by id.
    pub agents: BTreeMap<String, Agent>,
    /// Users that are treated in their own way, by id.
    pub users: BTreeMap<String, User>,
    /// Providers of models: those with names of their own, and what is different about known ones.
    pub providers: BTreeMap<String, Provider>,
    /// Programs that see calls, by their number in the file.
    pub hooks: BTreeMap<String, Hook>,
    /// What a call may use up.
    pub limits: Limits,
    /// Where secrets are found, by a name for people.
    pub secrets: BTreeMap<String, Spanned<Secret>>,
    /// How the server is reached, and what a client may cost it.
    pub server: Server,
    /// What is kept, and for how long.
    pub store: Store,
    /// Folders that agents work in whatever is set for them, by id. No key: whoever starts the program says it.
    pub workspaces: BTreeMap<String, PathBuf>,
    /// Agents that were there and are not any more, or that cannot work: nobody acts as one of them, by the rules
    /// of no agent. No key either.
    pub gone: BTreeSet<String>,
}
