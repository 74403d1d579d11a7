//! A command, as a plan has it.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use crate::{Ask, Effect, FilePath, Place, Step, Terminal};

/// A command that is to run: what policy judges, a person is shown and the journal keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Command line as it will run.
    pub command: String,
    /// Directory it starts in.
    pub cwd: FilePath,
    /// What is added to its environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Where it runs. What the call leaves open, configuration decides before anybody looks at it.
    pub place: Option<Place>,
    /// How long it may live.
    pub lasting: Lasting,
    /// Whom it reaches; configuration decides.
    pub reach: Reach,
    /// Whether it asks for more rights than commands usually have.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub elevated: bool,
    /// Whether it changes the workspace itself: this machine has no overlay for it, or the person who
    /// runs it wants none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub direct: bool,
    /// Whether it has a terminal of its own.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub terminal: Terminal,
    /// When the call itself wants a person to be asked; configuration holds if it is stricter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<Ask>,
    /// How it is executed without a shell, because it is known to be harmless like this. Nothing, if
    /// a shell runs the line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Why it is not known to be harmless, for people and models.
    #[serde(skip)]
    pub doubt: String,
    /// A file it touches that may hold credentials.
    #[serde(skip)]
    pub secret: Option<String>,
    /// The part of it that is known to need the network.
    #[serde(skip)]
    pub outgoing: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_usual(terminal: &Terminal) -> bool {
    *terminal == Terminal::default()
}

/// How long a command may live.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lasting {
    /// As long as its call.
    #[default]
    Call,
    /// As long as its session, in the background.
    Session,
}

/// Whom a command reaches over the network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// Nobody.
    #[default]
    Nobody,
    /// These hosts, through a proxy that lets nothing else pass.
    Hosts(Vec<String>),
    /// Everybody the machine reaches.
    Everybody,
}

impl Run {
    /// A command that runs as calls usually do.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            cwd: FilePath::root(),
            env: BTreeMap::new(),
            place: None,
            lasting: Lasting::Call,
            reach: Reach::Nobody,
            elevated: false,
            direct: false,
            terminal: Terminal::No,
            ask: None,
            steps: Vec::new(),
            doubt: String::new(),
            secret: None,
            outgoing: None,
        }
    }

    /// Whether it is known to be harmless, and runs without a shell.
    pub const fn is_harmless(&self) -> bool {
        !self.steps.is_empty()
    }

    /// What it can do at most: only the native sandbox keeps changes apart until the end, and only
    /// for a command that ends with its call and reaches nobody. One that is harmless is not let
    /// change anything there.
    pub fn effect(&self) -> Effect {
        let kept_apart = self.place.is_none_or(|place| place == Place::Sandbox)
            && self.lasting == Lasting::Call
            && self.reach == Reach::Nobody
            && !self.direct;
        match (kept_apart, self.is_harmless()) {
            (true, true) => Effect::Read,
            (true, false) => Effect::Write,
            (false, _) => Effect::Act,
        }
    }
}

/// Reads on after "to".
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run `{}` in `{}`", self.command, self.cwd)?;
        self.circumstances().iter().try_for_each(|circumstance| write!(f, ", {circumstance}"))
    }
}

impl Run {
    /// What is unusual about how it runs, each in a few words that read on after "run".
    pub fn circumstances(&self) -> Vec<String> {
        let Self { env, place, lasting, reach, elevated, direct, terminal, .. } = self;
        let mut all: Vec<_> =
            env.iter().map(|(name, value)| format!("with {name}=`{value}`")).collect();
        all.extend(
            place.filter(|place| *place != Place::Sandbox).map(|place| format!("on {place}")),
        );
        let mut say = |is_so: bool, what: &str| all.extend(is_so.then(|| what.to_owned()));
        say(*elevated, "elevated");
        say(*terminal == Terminal::Yes, "at a terminal of its own");
        let in_place = *direct && *lasting == Lasting::Call;
        say(in_place, "without an overlay, so that its changes cannot be undone");
        let background = "in the background, where its changes cannot be undone";
        say(*lasting == Lasting::Session, background);
        all.extend(match reach {
            Reach::Nobody => None,
            Reach::Hosts(hosts) if hosts.iter().any(|host| host == "*") => {
                Some("reaching any public host".to_owned())
            }
            Reach::Hosts(hosts) => Some(format!("reaching `{}`", hosts.join("`, `"))),
            Reach::Everybody => Some("reaching the whole network".to_owned()),
        });
        all
    }
}
