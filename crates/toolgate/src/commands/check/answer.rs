//! A verdict, for programs and people.

use anyhow::Result;
use policy::{Checked, Decision, Verdict};

use super::Shown;
use crate::{
    output::{self, Colour},
    visible::visible,
};

/// For programs, and for people.
pub(super) fn shown(checked: &Checked) -> Result<Shown> {
    Ok(Shown { json: serde_json::to_value(checked)?, words: in_words(checked) })
}

fn in_words(checked: &Checked) -> String {
    let Decision { verdict, rule, reason } = &checked.decision;
    let colour = match verdict {
        Verdict::Allow => Colour::Green,
        Verdict::Ask => Colour::Yellow,
        Verdict::Deny => Colour::Red,
    };
    let verdict = output::coloured(verdict.name(), colour);
    let needs = checked.plan.iter().flat_map(|plan| plan.needs());
    let plan = needs.map(|need| format!("\n  It would {}", visible(&need.to_string())));
    let plan: String = plan.collect();
    format!("{verdict}: {} (rule {}){plan}", visible(reason), visible(rule))
}
