//! What a command depends on besides its own words.

use std::fmt;

use crate::Digest;

/// What a command depended on when a person was asked about it. What they agreed to is what runs: if
/// any of this is different then, the command does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// The folder it starts in, where that really is.
    pub folder: String,
    /// The same folder, whatever it is called.
    pub identity: Identity,
    /// Names the variables that configuration passes on to it, with their values.
    pub environment: Digest,
    /// What it may name to be executed, whether there is such a file or not.
    pub names: Vec<Named>,
    /// The files among them.
    pub scripts: Vec<Script>,
}

/// A folder or file, whatever it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Identity {
    pub device: u64,
    pub inode: u64,
}

/// A name that stands where a command may execute the file of that name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    /// As it is written.
    pub name: String,
    /// Whether it does.
    pub runs: Runs,
}

/// Whether a file that is named is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Runs {
    /// If it is there.
    Surely,
    /// It may as well be what the command works on.
    Maybe,
}

/// A file that a command executes.
#[derive(Clone, PartialEq, Eq)]
pub struct Script {
    /// As the command names it.
    pub name: String,
    /// Whether it is kept from changing while the command runs.
    pub runs: Runs,
    /// Where it really is.
    pub path: String,
    /// Names its content.
    pub digest: Digest,
    /// Permission bits.
    pub mode: u32,
    /// The program that its first line names to run it, without its folder.
    pub interpreter: Option<String>,
}

impl Pinned {
    /// What of it is different from `now`, in words; `None` if nothing is.
    pub fn changed(&self, now: &Self) -> Option<String> {
        if (&self.folder, self.identity) != (&now.folder, now.identity) {
            return Some(format!("the folder `{}` it starts in is another one", self.folder));
        }
        if self.environment != now.environment {
            return Some("the variables that configuration passes on are different".to_owned());
        }
        let known = |script: &Script| (script.path.clone(), script.digest);
        let differs = |one: &&Script| !now.scripts.iter().any(|other| known(other) == known(one));
        let missing = |one: &&Script| !self.scripts.iter().any(|other| other.name == one.name);
        let changed = self.scripts.iter().find(differs);
        let script = changed.or_else(|| now.scripts.iter().find(missing))?;
        Some(format!("`{}` has changed", script.name))
    }

    /// Names all of it.
    pub fn digest(&self) -> Digest {
        let Self { folder, identity, environment, names: _, scripts } = self;
        let Identity { device, inode } = identity;
        let (device, inode) = (device.to_le_bytes(), inode.to_le_bytes());
        let own = [folder.as_bytes(), &device, &inode, environment.as_bytes()];
        let scripts = scripts.iter().flat_map(|script| {
            let Script { name: _, runs: _, path, digest, mode: _, interpreter: _ } = script;
            [path.as_bytes(), digest.as_bytes().as_slice()]
        });
        Digest::of_parts(own.into_iter().chain(scripts))
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path, self.digest)
    }
}
