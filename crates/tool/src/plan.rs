//! What a call needs, as data, before it runs.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Capability, Effect, Effects, FilePath, Place, Run, ToolError};

/// One thing a call needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// The content of a file, or of everything beneath a folder.
    Read(FilePath),
    /// A file created, replaced or removed, or any beneath a folder. Includes reading it.
    Write(FilePath),
    /// The answer of a URL.
    Fetch(String),
    /// A process. In the sandbox it can change all of the workspace.
    Run(Run),
    /// Anything else that changes the world, in words a person can judge.
    Act(String),
    /// A look at something of Toolgate's own data: `notes`, `tasks`, …
    Recall(String),
    /// A change of Toolgate's own data, in words a person can judge, which can be undone.
    Keep(String),
    /// A capability that none of the above implies.
    Use(Capability),
}

impl Need {
    /// The effect this need has, if any of its own.
    pub fn effect(&self) -> Option<Effect> {
        match self {
            Self::Read(_) | Self::Recall(_) => Some(Effect::Read),
            Self::Write(_) | Self::Keep(_) => Some(Effect::Write),
            Self::Fetch(_) => Some(Effect::Fetch),
            Self::Run(run) => Some(run.effect()),
            Self::Act(_) => Some(Effect::Act),
            Self::Use(_) => None,
        }
    }

    /// The capability somebody must have granted.
    pub const fn capability(&self) -> Option<Capability> {
        match self {
            Self::Read(_) | Self::Write(_) => Some(Capability::Files),
            Self::Fetch(_) => Some(Capability::Network),
            Self::Run(_) => Some(Capability::Exec),
            Self::Act(_) | Self::Recall(_) | Self::Keep(_) => None,
            Self::Use(capability) => Some(*capability),
        }
    }

    fn covers(&self, wanted: &Self) -> bool {
        match (self, wanted) {
            (Self::Read(planned) | Self::Write(planned), Self::Read(path))
            | (Self::Write(planned), Self::Write(path)) => planned.covers(path),
            _ => self == wanted,
        }
    }
}

/// Reads on after "to": "not allowed to write `a.txt`".
impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path) => write!(f, "read `{path}`"),
            Self::Write(path) => write!(f, "write `{path}`"),
            Self::Fetch(url) => write!(f, "fetch `{url}`"),
            Self::Run(run) => run.fmt(f),
            Self::Act(what) | Self::Keep(what) => f.write_str(what),
            Self::Recall(what) => write!(f, "look at {what}"),
            Self::Use(capability) => write!(f, "use {capability}"),
        }
    }
}

/// Everything a call needs. The default, nothing, is the plan of a pure call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Plan(Vec<Need>);

impl<const N: usize> From<[Need; N]> for Plan {
    fn from(needs: [Need; N]) -> Self {
        Self(needs.into())
    }
}

impl FromIterator<Need> for Plan {
    fn from_iter<I: IntoIterator<Item = Need>>(needs: I) -> Self {
        Self(needs.into_iter().collect())
    }
}

impl Plan {
    /// The needs, in the order the tool gave them.
    pub fn needs(&self) -> &[Need] {
        &self.0
    }

    /// The effects of all needs together.
    pub fn effects(&self) -> Effects {
        self.0.iter().filter_map(Need::effect).collect()
    }

    /// The capabilities of all needs together, each once.
    pub fn capabilities(&self) -> Vec<Capability> {
        let mut all: Vec<_> = self.0.iter().filter_map(Need::capability).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The command it runs, if it runs one.
    pub fn command(&self) -> Option<&Run> {
        self.0.iter().find_map(|need| match need {
            Need::Run(run) => Some(run),
            Need::Read(_)
            | Need::Write(_)
            | Need::Fetch(_)
            | Need::Act(_)
            | Need::Recall(_)
            | Need::Keep(_)
            | Need::Use(_) => None,
        })
    }

    /// Where a call runs: in our own process, unless it runs a command.
    pub fn place(&self) -> Place {
        self.command().and_then(|run| run.place).unwrap_or(Place::Host)
    }

    /// Refuses what was not planned: nobody decided about it.
    pub fn require(&self, need: &Need) -> Result<(), ToolError> {
        if self.0.iter().any(|planned| planned.covers(need)) {
            return Ok(());
        }
        Err(ToolError::denied("plan", "plan", format!("this call did not plan to {need}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_covers_what_is_beneath_it_and_nothing_else() {
        let path = FilePath::new;
        let plan = Plan::from([Need::Read(path("src")), Need::Write(path("out/a.txt"))]);
        for (need, expected) in [
            (Need::Read(path("src/lib.rs")), true),
            (Need::Read(path("src/../secret")), false),
            (Need::Read(path("out/a.txt")), true),
            (Need::Write(path("out/a.txt")), true),
            (Need::Write(path("out/b.txt")), false),
            (Need::Write(path("src/lib.rs")), false),
            (Need::Fetch("https://example.org/".into()), false),
        ] {
            assert_eq!(plan.require(&need).is_ok(), expected, "{need}");
        }
    }
}
