//! What a token is for.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool::nearest;

/// What can be done with a token. To look at what is one's own, any token will do.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Make calls, speak to agents, and stop or undo what came of it.
    Call,
    /// Answer questions about calls, for those who may.
    Answer,
    /// Manage users, tokens, agents and permissions, for those who may.
    Manage,
    /// Put questions about its own calls to the person who uses the client, and bring back the answer.
    /// No token has it unless it is named.
    Elicit,
    /// Name the sender and the channel of a message, as a bridge to a chat service does. No token has it unless
    /// it is named.
    Senders,
}

impl Scope {
    /// All there are.
    pub const ALL: [Self; 5] =
        [Self::Call, Self::Answer, Self::Manage, Self::Elicit, Self::Senders];
    /// Those of a token for which none are named.
    pub const USUAL: [Self; 3] = [Self::Call, Self::Answer, Self::Manage];

    /// The name people see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Answer => "answer",
            Self::Manage => "manage",
            Self::Elicit => "elicit",
            Self::Senders => "senders",
        }
    }

    /// Whether a token that is for certain agents can have it: nobody knows who is behind such a one.
    pub const fn is_for_agents(self) -> bool {
        match self {
            Self::Call | Self::Elicit | Self::Senders => true,
            Self::Answer | Self::Manage => false,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name);
        let found = Self::ALL.into_iter().find(|scope| scope.name() == text);
        found.ok_or_else(|| {
            let hint = match nearest(text, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("expected one of `{}`", names.join("`, `")),
            };
            let text: String = text.chars().take(100).collect();
            format!("there is no scope `{}`; {hint}", text.escape_debug())
        })
    }
}
