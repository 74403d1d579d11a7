//! A verdict, for programs and people.

use std::sync::Arc;

use anyhow::Result;
use policy::{Decision, Verdict};
use serde::Serialize;
use serde_json::Value;
use toolgate::Plan;

use super::Shown;
use crate::{
    output::{self, Colour},
    visible::visible,
};

/// The rule for what cannot be understood at all.
const UNREADABLE: &str = "input";

/// What programs get.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    pub(super) input: Value,
    #[serde(flatten)]
    pub(super) decision: Decision,
    #[serde(skip)]
    pub(super) plan: Option<Arc<Plan>>,
}

impl Answer {
    pub(super) fn unreadable(input: Value, problem: &str) -> Self {
        let decision = Decision::new(Verdict::Deny, UNREADABLE, problem);
        Self { input, decision, plan: None }
    }

    pub(super) fn shown(&self) -> Result<Shown> {
        Ok(Shown { json: serde_json::to_value(self)?, words: self.in_words() })
    }

    fn in_words(&self) -> String {
        let Decision { verdict, rule, reason } = &self.decision;
        let colour = match verdict {
            Verdict::Allow => Colour::Green,
            Verdict::Ask => Colour::Yellow,
            Verdict::Deny => Colour::Red,
        };
        let verdict = output::coloured(verdict.name(), colour);
        let needs = self.plan.iter().flat_map(|plan| plan.needs());
        let plan = needs.map(|need| format!("\n  It would {}", visible(&need.to_string())));
        let plan: String = plan.collect();
        format!("{verdict}: {} (rule {}){plan}", visible(reason), visible(rule))
    }
}
