//! What was looked up about a plan, so that deciding about it needs no disk.

use crate::{FilePath, ToolError};

/// What the world says about one path of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathFact {
    /// As the plan has it.
    pub path: FilePath,
    /// Where it really is, links resolved: the root it is beneath, then the path in that root.
    pub resolved: String,
    /// Regular files there now: the file itself, or those beneath the folder if it is to be written.
    pub files: u64,
    /// Their size together.
    pub bytes: u64,
    /// The rule by which a person is asked about a change, because other programs obey the file.
    pub ask_rule: Option<String>,
}

/// What is known about a plan besides the plan. In the order of its file needs.
#[derive(Debug, Default)]
pub struct Facts {
    /// One for each `Read` and `Write`; an error if the path cannot be used at all.
    pub paths: Vec<Result<PathFact, ToolError>>,
}
