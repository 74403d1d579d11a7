//! Whether one call may run.

use std::fmt;

use config::Ask;
use serde::Serialize;
use tool::{Effect, Facts, Need, Plan};

use crate::{
    is_credential,
    url::{self, CheckedUrl, UrlRefusal, UrlRules},
};

/// What to do with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Verdict {
    Allow,
    Ask,
    Deny,
}

impl Verdict {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What to do with a call, by which rule, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// What to do.
    pub verdict: Verdict,
    /// The rule that said so.
    pub rule: String,
    /// Why, for people and models.
    pub reason: String,
}

impl Decision {
    /// A decision.
    pub fn new(verdict: Verdict, rule: &str, reason: impl Into<String>) -> Self {
        Self { verdict, rule: rule.to_owned(), reason: reason.into() }
    }
}

/// Replacing or removing more than this asks: (files, bytes) that existed before.
const MUCH: (u64, u64) = (20, 10_000_000);

/// Decides one call from its plan and what was looked up about it.
pub fn decide(ask: Ask, urls: &UrlRules, plan: &Plan, facts: &Facts) -> Decision {
    if let Some(error) = facts.paths.iter().find_map(|fact| fact.as_ref().err()) {
        return Decision::new(Verdict::Deny, "path", error.to_string());
    }
    let hosts = match hosts(plan, urls) {
        Ok(hosts) => hosts,
        // Nobody is asked about a request that the network door would refuse.
        Err(UrlRefusal { rule, reason }) => return Decision::new(Verdict::Deny, rule, reason),
    };
    match ask {
        Ask::Auto => Decision::new(Verdict::Allow, "ask.auto", "nobody is asked in this mode"),
        Ask::Always => always(plan),
        Ask::Smart => smart(plan, facts, &hosts),
    }
}

/// The URLs of the plan, if all of them may be reached.
fn hosts(plan: &Plan, rules: &UrlRules) -> Result<Vec<CheckedUrl>, UrlRefusal> {
    let urls = plan.needs().iter().filter_map(|need| match need {
        Need::Fetch(url) => Some(url),
        Need::Read(_) | Need::Write(_) | Need::Run(_) | Need::Act(_) | Need::Use(_) => None,
    });
    urls.map(|url| url::check(url, rules)).collect()
}

fn always(plan: &Plan) -> Decision {
    let mut changes = plan
        .needs()
        .iter()
        .filter(|need| matches!(need.effect(), Some(Effect::Write | Effect::Act)));
    changes.next().map_or_else(
        || Decision::new(Verdict::Allow, "ask.always", "it changes nothing"),
        |need| Decision::new(Verdict::Ask, "ask.always", format!("it wants to {need}")),
    )
}

fn smart(plan: &Plan, facts: &Facts, hosts: &[CheckedUrl]) -> Decision {
    let acts = |need: &&Need| need.effect() == Some(Effect::Act);
    if let Some(need) = plan.needs().iter().find(acts) {
        let reason = format!("it wants to {need}, which cannot be undone");
        return Decision::new(Verdict::Ask, "smart.act", reason);
    }
    if let Some(url) = hosts.iter().find(|url| !url.is_public()) {
        let reason = format!("`{}` is not a public host", url.host());
        return Decision::new(Verdict::Ask, "smart.private", reason);
    }
    let known = || facts.paths.iter().filter_map(|fact| fact.as_ref().ok());
    if let Some(fact) = known().find(|fact| is_credential(&fact.resolved)) {
        let reason = format!("`{}` may hold credentials", fact.path);
        return Decision::new(Verdict::Ask, "smart.credentials", reason);
    }
    let (files, bytes) = replaced(plan, facts);
    if files > MUCH.0 || bytes > MUCH.1 {
        let reason = format!("it replaces or removes {files} files of {bytes} bytes together");
        return Decision::new(Verdict::Ask, "smart.much", reason);
    }
    Decision::new(Verdict::Allow, "smart", format!("{} runs without asking", plan.effects()))
}

/// How many files that exist now would be written, and their size.
fn replaced(plan: &Plan, facts: &Facts) -> (u64, u64) {
    let file_needs =
        plan.needs().iter().filter(|need| matches!(need, Need::Read(_) | Need::Write(_)));
    let written = file_needs.zip(&facts.paths).filter(|(need, _)| matches!(need, Need::Write(_)));
    written
        .filter_map(|(_, fact)| fact.as_ref().ok())
        .fold((0, 0), |(files, bytes), fact| (files + fact.files, bytes + fact.bytes))
}

#[cfg(test)]
mod tests {
    use config::{HostPattern, Network, Spanned};
    use tool::{FilePath, PathFact, ToolError};

    use super::*;

    fn facts(plan: &Plan, files: u64, bytes: u64) -> Facts {
        let paths = plan.needs().iter().filter_map(|need| match need {
            Need::Read(path) | Need::Write(path) => Some(path),
            Need::Fetch(_) | Need::Run(_) | Need::Act(_) | Need::Use(_) => None,
        });
        let fact = |path: &FilePath| {
            Ok(PathFact { path: path.clone(), resolved: path.to_string(), files, bytes })
        };
        Facts { paths: paths.map(fact).collect() }
    }

    #[test]
    fn decides_by_plan_and_mode() {
        let path = FilePath::new;
        let read = Plan::from([Need::Read(path("a"))]);
        let write = Plan::from([Need::Write(path("b"))]);
        let secret = Plan::from([Need::Read(path(".env"))]);
        let fetch = |url: &str| Plan::from([Need::Fetch(url.to_owned())]);
        let (public, local) = (fetch("https://example.org/"), fetch("http://10.1.2.3/"));
        let refused = fetch("http://169.254.169.254/");
        let opened = UrlRules::new(&Network {
            allow: [HostPattern::ANY, "10.0.0.0/8".parse().unwrap()]
                .map(Spanned::from)
                .to_vec()
                .into(),
            ..Network::default()
        });
        let act = Plan::from([Need::Read(path("a")), Need::Act("send a mail".into())]);
        for (ask, plan, size, expected) in [
            (Ask::Smart, &Plan::default(), (0, 0), "allow smart: pure runs without asking"),
            (Ask::Smart, &read, (1, 5), "allow smart: read runs without asking"),
            (Ask::Smart, &write, (1, 5), "allow smart: write runs without asking"),
            (
                Ask::Smart,
                &write,
                (21, 5),
                "ask smart.much: it replaces or removes 21 files of 5 bytes together",
            ),
            (Ask::Smart, &read, (1, 50_000_000), "allow smart: read runs without asking"),
            (Ask::Smart, &secret, (1, 5), "ask smart.credentials: `.env` may hold credentials"),
            (
                Ask::Smart,
                &act,
                (1, 5),
                "ask smart.act: it wants to send a mail, which cannot be undone",
            ),
            (Ask::Smart, &public, (0, 0), "allow smart: fetch runs without asking"),
            (Ask::Smart, &local, (0, 0), "ask smart.private: `10.1.2.3` is not a public host"),
            (
                Ask::Auto,
                &refused,
                (0, 0),
                "deny address.metadata: `169.254.169.254` is a cloud's metadata service; tools reach \
                 public hosts only; the operator can name others in `tools.web.network.allow`",
            ),
            (Ask::Always, &public, (0, 0), "allow ask.always: it changes nothing"),
            (Ask::Always, &read, (1, 5), "allow ask.always: it changes nothing"),
            (Ask::Always, &write, (1, 5), "ask ask.always: it wants to write `b`"),
            (Ask::Auto, &act, (1, 5), "allow ask.auto: nobody is asked in this mode"),
        ] {
            let Decision { verdict, rule, reason } =
                decide(ask, &opened, plan, &facts(plan, size.0, size.1));
            assert_eq!(format!("{verdict} {rule}: {reason}"), expected);
        }
    }

    #[test]
    fn a_path_that_cannot_be_used_denies_in_every_mode() {
        for ask in [Ask::Auto, Ask::Smart, Ask::Always] {
            let error = ToolError::path("../x", "is outside the workspace");
            let facts = Facts { paths: vec![Err(error)] };
            let decision = decide(ask, &UrlRules::default(), &Plan::default(), &facts);
            assert_eq!(decision.verdict, Verdict::Deny);
        }
    }
}
