//! What has been found so far, and the limits.

use std::{collections::BTreeSet, ops::Range};

use super::{Command, Joined, Opaque, Within, names::Names};

/// Deeper than anybody nests.
const MAX_DEPTH: usize = 60;
/// Programs that run programs that run programs …
const MAX_WRAPPERS: usize = 8;
/// More than a person reads before approving.
const MAX_COMMANDS: usize = 1_000;

/// What has been found so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) commands: Vec<Command>,
    pub(super) names: Names,
    /// Where simple commands start in the text that is being read.
    pub(super) starts: BTreeSet<usize>,
    /// What the grammar would stumble over and which changes nothing about what runs.
    pub(super) masks: Vec<Range<usize>>,
    /// How the next command follows.
    pub(super) joined: Joined,
    within: Vec<Within>,
    depth: usize,
}

impl Found {
    /// Takes a command.
    pub(super) fn add(&mut self, command: Command) -> Result<(), Opaque> {
        if self.commands.len() >= MAX_COMMANDS {
            return Err(Opaque(format!("it has more than {MAX_COMMANDS} commands")));
        }
        let joined = std::mem::take(&mut self.joined);
        self.commands.push(Command { joined, within: self.within.clone(), ..command });
        Ok(())
    }

    /// Goes one level deeper.
    pub(super) fn enter(&mut self, within: Within) -> Result<(), Opaque> {
        self.deeper()?;
        self.within.push(within);
        let wrappers = self.within.iter().filter(|within| matches!(within, Within::Wrapper(_)));
        if wrappers.count() > MAX_WRAPPERS {
            return Err(Opaque(format!("more than {MAX_WRAPPERS} programs run one another")));
        }
        self.joined = Joined::Next;
        Ok(())
    }

    /// Goes back up.
    pub(super) fn leave(&mut self) {
        self.within.pop();
        self.shallower();
    }

    /// Whether something other than bash reads what is read now.
    pub(super) fn in_another_shell(&self) -> bool {
        let other = |within: &Within| matches!(within, Within::Wrapper(name) if matches!(name.as_str(), "sh" | "dash"));
        self.within.iter().any(other)
    }

    /// One level of recursion, without a name.
    pub(super) fn deeper(&mut self) -> Result<(), Opaque> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Opaque(format!("it is nested deeper than {MAX_DEPTH} levels")));
        }
        Ok(())
    }

    /// Back from one.
    pub(super) const fn shallower(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Goes on from where `command` stands, for what it runs itself.
    pub(super) fn resume(&mut self, command: &Command) {
        self.within.clone_from(&command.within);
        self.depth = self.within.len();
    }
}
