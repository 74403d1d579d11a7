//! One policy layer, and what it says about a tool.

use config::{At, Layer, Names, ProfileName, Spanned};
use tool::{Profile, ToolInfo};

use crate::{fold, matches, name::Named};

/// What one layer says about one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opinion {
    /// Nothing.
    None,
    /// It may stay, because of this rule.
    Keeps(Rule),
    /// It goes, because of this rule.
    Takes(Rule),
}

/// A rule of a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The layer it stands in.
    pub layer: &'static str,
    /// What it says, for people.
    pub text: String,
    /// Where it is written, if it is.
    pub at: Option<At>,
}

/// A layer as it applies to one caller.
#[derive(Debug, Clone)]
pub(crate) struct Applied {
    pub(crate) name: &'static str,
    pub(crate) layer: Layer,
    /// The profile that holds where the layer names none.
    pub(crate) default_profile: Option<ProfileName>,
    /// Tools that go unless the layer allows them by name.
    pub(crate) loses: &'static [&'static str],
    /// Who goes without them, for people.
    pub(crate) by_default: &'static str,
}

impl Applied {
    pub(crate) fn new(name: &'static str, layer: Layer) -> Self {
        Self { name, layer, default_profile: None, loses: &[], by_default: "" }
    }

    /// Deny is looked at first; an allow list that is there and empty allows nothing.
    pub(crate) fn opinion(&self, tool: &ToolInfo) -> Opinion {
        let Layer { profile, allow, also_allow, deny } = &self.layer;
        if let Some(found) = find(deny.as_ref(), |pattern| denies(pattern, tool)) {
            return Opinion::Takes(self.rule(format!("deny `{}`", found.value), found.at.as_ref()));
        }
        let also = find(also_allow.as_ref(), |pattern| matches(pattern, tool));
        if let Some(found) = also {
            let text = format!("also_allow `{}`", found.value);
            return Opinion::Keeps(self.rule(text, found.at.as_ref()));
        }
        match (
            self.profile_opinion(profile.as_ref(), tool),
            self.allow_opinion(allow.as_ref(), tool),
        ) {
            (taken @ Opinion::Takes(_), _) | (_, taken @ Opinion::Takes(_)) => taken,
            (_, kept @ Opinion::Keeps(_)) => kept,
            (by_profile, Opinion::None) => self.lost(tool).unwrap_or(by_profile),
        }
    }

    fn profile_opinion(&self, own: Option<&Spanned<ProfileName>>, tool: &ToolInfo) -> Opinion {
        let Some(profile) = own.map(|own| own.value).or(self.default_profile) else {
            return Opinion::None;
        };
        let (at, name) = (own.and_then(|own| own.at.as_ref()), profile.name());
        if includes(profile, tool) {
            return Opinion::Keeps(self.rule(format!("profile `{name}` has it"), at));
        }
        Opinion::Takes(self.rule(format!("profile `{name}` does not have it"), at))
    }

    fn allow_opinion(&self, allow: Option<&Names>, tool: &ToolInfo) -> Opinion {
        let Some(names) = allow else { return Opinion::None };
        match find(Some(names), |pattern| matches(pattern, tool)) {
            Some(found) => {
                let text = format!("allow `{}`", found.value);
                Opinion::Keeps(self.rule(text, found.at.as_ref()))
            }
            None => {
                Opinion::Takes(self.rule("not in the allow list".to_owned(), names.at.as_ref()))
            }
        }
    }

    /// What goes by default, and nothing above has allowed.
    fn lost(&self, tool: &ToolInfo) -> Option<Opinion> {
        let lost = self.loses.contains(&&*tool.name);
        let text = || format!("{} loses `{}` unless it is allowed", self.by_default, tool.name);
        lost.then(|| Opinion::Takes(self.rule(text(), None)))
    }

    fn rule(&self, text: String, at: Option<&At>) -> Rule {
        Rule { layer: self.name, text, at: at.cloned() }
    }
}

fn find(names: Option<&Names>, wanted: impl Fn(&str) -> bool) -> Option<&Spanned<String>> {
    names?.iter().find(|pattern| wanted(&pattern.value))
}

fn includes(profile: ProfileName, tool: &ToolInfo) -> bool {
    let set = match profile {
        ProfileName::Full => return true,
        ProfileName::Minimal => Profile::Minimal,
        ProfileName::Coding => Profile::Coding,
        ProfileName::Messaging => Profile::Messaging,
        ProfileName::Gateway => Profile::Gateway,
    };
    tool.profiles.contains(&set)
}

/// Who may not write may not edit either; allowing it does not work that way round.
fn denies(pattern: &str, tool: &ToolInfo) -> bool {
    const WRITERS: [&str; 2] = ["apply_patch", "edit"];
    let through_write = WRITERS.contains(&&*tool.name) && !fold(pattern).starts_with("group:");
    matches(pattern, tool) || through_write && Named::WRITE.is_meant_by(pattern)
}
