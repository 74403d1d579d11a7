//! A command line as lists of arguments, in which no shell has a part.

use serde::{Deserialize, Serialize};

/// One part of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Whether it depends on how the step before it ended.
    pub after: After,
    /// What it does.
    pub action: Action,
}

impl Step {
    /// The programs it runs.
    pub fn programs(&self) -> &[Argv] {
        match &self.action {
            Action::Enter(_) => &[],
            Action::Run(pipeline) => pipeline,
        }
    }
}

/// When a step runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum After {
    /// However the step before it ended.
    #[default]
    Anything,
    /// If that succeeded.
    Success,
    /// If that failed.
    Failure,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The steps after it run in this folder, relative to the one it runs in.
    Enter(String),
    /// A pipeline: each command reads what the one before it writes.
    Run(Vec<Argv>),
}

/// One program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argv {
    /// Where the program is; `None` if no trusted folder has it, and then it must not run.
    pub path: Option<String>,
    /// The name it is called by and its arguments, with what makes it safe added.
    pub words: Vec<String>,
    /// Variables it must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
    /// The folder it must run in, if that is not the one of the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Where its input and output go.
    #[serde(default, skip_serializing_if = "Streams::are_usual")]
    pub streams: Streams,
}

/// Where input and output go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Streams {
    /// Standard input.
    pub input: Inlet,
    /// Standard output.
    pub output: Outlet,
    /// Standard error.
    pub errors: Outlet,
}

impl Streams {
    fn are_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// Where a program reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inlet {
    /// What the program before it writes.
    #[default]
    Own,
    /// Nothing.
    Null,
    /// A file of the workspace, relative to the folder of the line.
    File(String),
}

/// Where a program writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outlet {
    /// Where it usually goes.
    #[default]
    Own,
    /// Where the other one usually goes.
    Other,
    /// Nowhere.
    Null,
}
