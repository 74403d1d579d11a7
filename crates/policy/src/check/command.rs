//! Commands.

use config::{Ask, ConfigError, Security, Tools};
use tool::{Caller, Facts, IsolationLevel, Need, Plan, Run};

use super::Checked;
use crate::{
    Situation, Untrusted, complete, decide,
    shell::{SafeList, check_safe_bins},
    url::UrlRules,
};

/// Stands before the name of a program that no trusted folder has.
pub const MISSING: &str = "?";

/// Everything that is the same for all command lines, worked out once.
#[derive(Debug)]
pub struct CommandCheck {
    tools: Tools,
    urls: UrlRules,
    safe: SafeList,
    level: IsolationLevel,
}

impl CommandCheck {
    /// As `tools` says, or stricter where `security` or `ask` are.
    pub fn new(
        mut tools: Tools,
        security: Option<Security>,
        ask: Option<Ask>,
    ) -> Result<Self, ConfigError> {
        check_safe_bins(&tools.exec)?;
        let exec = &mut tools.exec;
        exec.security = exec.security.value.max(security.unwrap_or_default()).into();
        if let Some(ask) = ask {
            let own = exec.ask.as_ref().map_or(ask, |own| own.value);
            exec.ask = Some(own.max(ask).into());
        }
        let (urls, safe) = (UrlRules::new(&tools.web.network), SafeList::new(&tools.exec));
        Ok(Self { tools, urls, safe, level: IsolationLevel::Full })
    }

    /// For a machine whose sandbox offers this.
    #[must_use]
    pub fn on(self, level: IsolationLevel) -> Self {
        Self { level, ..self }
    }

    /// What `line` needs; `find` looks for a program in folders.
    pub fn plan(&self, line: &str, find: impl Fn(&str, &[String]) -> Option<String>) -> Plan {
        // What a machine lacks says nothing about the line.
        let find = |name: &str| {
            find(name, self.safe.folders()).or_else(|| Some(format!("{MISSING}{name}")))
        };
        let plan = Plan::from([Need::Run(Run::new(line))]);
        complete(plan, &self.tools, self.safe.known(&find), self.level)
    }

    /// What would be decided about `line`, which needs `plan`.
    pub fn check(&self, caller: &Caller, line: &str, plan: &Plan) -> Checked {
        let Self { tools, urls, safe: _, level: _ } = self;
        let situation = Situation { tools, urls, caller, untrusted: Untrusted::default() };
        let decision = decide(situation, plan, &Facts::default());
        Checked { input: line.into(), decision, plan: None }
    }
}
