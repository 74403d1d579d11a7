//! Why a caller has a tool or does not.

use schemars::JsonSchema;
use serde::Serialize;
use tool::ToolInfo;

use crate::{
    Rules, Verdict,
    layer::{Opinion, Rule},
};

/// Why a caller has a tool or does not, layer by layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Explanation {
    /// The tool.
    pub tool: String,
    /// Whether policy gives it.
    pub verdict: Verdict,
    /// Whether it could work here, whatever policy says.
    pub available: bool,
    /// The whole in one sentence.
    pub reason: String,
    /// What each layer says.
    pub layers: Vec<LayerVerdict>,
}

impl Explanation {
    /// The same for an agent whose parent has the explanation `above`: it has at most as much.
    #[must_use]
    pub fn below(mut self, above: &Self) -> Self {
        let (layer, rule) = ("parent".to_owned(), Some(above.reason.clone()));
        let parent = LayerVerdict { layer, verdict: above.verdict, rule, file: None, line: None };
        self.layers.insert(0, parent);
        if above.verdict == Verdict::Deny {
            self.verdict = Verdict::Deny;
            self.reason = format!("parent: {}", above.reason);
        }
        self
    }
}

/// What one layer says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LayerVerdict {
    /// The layer.
    pub layer: String,
    /// Whether the tool gets past it.
    pub verdict: Verdict,
    /// The rule that says so; without one it has no opinion.
    pub rule: Option<String>,
    /// The file the rule is written in.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
}

/// Explains `tool`; `missing` says why it cannot work here, if it cannot.
pub fn explain(rules: &Rules, tool: &ToolInfo, missing: Option<&str>) -> Explanation {
    let layers: Vec<_> = rules.opinions(tool).into_iter().map(layer_verdict).collect();
    let against = rules.against(tool);
    let reason = match (&against, missing) {
        (Some(rule), _) => sentence(rule),
        (None, Some(missing)) => format!("policy gives it, but it cannot be used here: {missing}"),
        (None, None) => "no layer takes it away".to_owned(),
    };
    Explanation {
        tool: tool.name.to_string(),
        verdict: if against.is_some() { Verdict::Deny } else { Verdict::Allow },
        available: missing.is_none(),
        reason,
        layers,
    }
}

fn layer_verdict((layer, opinion): (&'static str, Opinion)) -> LayerVerdict {
    let (verdict, rule) = match opinion {
        Opinion::None => (Verdict::Allow, None),
        Opinion::Keeps(rule) => (Verdict::Allow, Some(rule)),
        Opinion::Takes(rule) => (Verdict::Deny, Some(rule)),
    };
    let at = rule.as_ref().and_then(|rule| rule.at.clone());
    LayerVerdict {
        layer: layer.to_owned(),
        verdict,
        rule: rule.map(|rule| rule.text),
        file: at.as_ref().map(|at| at.file.to_string()),
        line: at.map(|at| at.line),
    }
}

fn sentence(rule: &Rule) -> String {
    let at = rule.at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
    format!("{}: {}{at}", rule.layer, rule.text)
}
