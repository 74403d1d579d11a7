//! What can be asked of a model besides an answer.

use serde_json::Value;

/// What most formats can say; one that cannot leaves it out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// How long the answer may be.
    pub max_tokens: Option<u64>,
    /// How much is left to chance.
    pub temperature: Option<f64>,
    /// The share of likely tokens it chooses from.
    pub top_p: Option<f64>,
    /// Texts at which it stops.
    pub stop: Vec<String>,
    /// Whether it calls tools.
    pub tool_choice: ToolChoice,
    /// Whether it may ask for more than one call at once.
    pub parallel: Parallel,
    /// How hard it thinks; unless told, as the provider likes.
    pub effort: Option<Effort>,
    /// What the answer looks like.
    pub shape: Shape,
}

/// Whether a model calls tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// It does not.
    Never,
    /// It calls at least one.
    Required,
    /// It calls this one, by the name in the definitions.
    Named(String),
}

/// Whether a model may ask for several calls at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Parallel {
    #[default]
    Yes,
    No,
}

/// How hard a model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    XHigh,
    Max,
}

impl Effort {
    /// Every effort, least first.
    pub const ALL: [Self; 7] =
        [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::XHigh, Self::Max];

    /// The name that formats have for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// The effort of this name in any case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.name().eq_ignore_ascii_case(name))
    }
}

/// What an answer looks like.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Shape {
    /// Text.
    #[default]
    Text,
    /// Some JSON.
    Json,
    /// JSON of this schema.
    Schema {
        /// What the client calls it.
        name: String,
        /// JSON Schema.
        schema: Value,
        /// Whether the schema is of the kind that `OpenAI` can hold a model to.
        strict: bool,
    },
}
