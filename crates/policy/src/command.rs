//! Commands: where they run, whom they reach, and whether they may.

use config::{Access, Ask, Elevated, Exec, Security, Switch, Tools};
use tool::{Caller, Need, Place, Plan, Reach, Run};

use crate::{Decision, Verdict};

/// Fills in what a call leaves to configuration, before anybody looks at its plan.
pub fn complete(plan: Plan, exec: &Exec) -> Plan {
    let complete = |need: &Need| match need {
        Need::Run(run) => Need::Run(completed(run, exec)),
        Need::Read(_) | Need::Write(_) | Need::Fetch(_) | Need::Act(_) | Need::Use(_) => {
            need.clone()
        }
    };
    if plan.needs().iter().any(|need| matches!(need, Need::Run(_))) {
        return plan.needs().iter().map(complete).collect();
    }
    plan
}

fn completed(run: &Run, exec: &Exec) -> Run {
    let place = if run.elevated { Place::Host } else { run.place.unwrap_or(exec.host.value) };
    let listed = &exec.network.allow.value;
    let reach = match (place, exec.network.access.value) {
        (Place::Host, _) | (_, Access::Full) => Reach::Everybody,
        (_, Access::Listed) if listed.is_empty() => Reach::Nobody,
        (_, Access::Listed) => {
            Reach::Hosts(listed.iter().map(|host| host.value.to_string()).collect())
        }
    };
    Run { place: Some(place), reach, ..run.clone() }
}

/// What is said about a command whatever the mode; `None` if the mode decides.
pub(crate) fn judge(tools: &Tools, caller: &Caller, run: &Run) -> Option<Decision> {
    let Tools { exec, elevated, .. } = tools;
    let decided = |verdict, rule: &str, reason: &str| Some(Decision::new(verdict, rule, reason));
    if run.elevated {
        return Some(elevated_call(elevated, caller));
    }
    let place = run.place.unwrap_or(exec.host.value);
    match place {
        Place::Container | Place::Node => {
            let reason = format!("`{place}` comes with a later version; leave `host` out");
            return decided(Verdict::Deny, "exec.host", &reason);
        }
        Place::Host if exec.host.value != Place::Host => {
            let reason = "commands run in the sandbox; only the operator can open the host, with \
                          `tools.exec.host`";
            return decided(Verdict::Deny, "exec.host", reason);
        }
        Place::Sandbox | Place::Host => {}
    }
    // What `shell` knows to be harmless is that as a list of arguments, with what keeps `git` from
    // running others. A shell runs the line here, so it gives nothing.
    match (exec.security.value, asking(tools)) {
        (Security::Full, _) => None,
        (Security::SafeBin, Ask::Smart | Ask::Always) => {
            let reason = format!("`{}` is not known to be harmless", run.command);
            decided(Verdict::Ask, "exec.safe_bin", &reason)
        }
        (Security::SafeBin, Ask::Auto) => {
            let reason = "only commands known to be harmless run here, and nobody is asked";
            decided(Verdict::Deny, "exec.safe_bin", reason)
        }
        (Security::Paranoid, _) => {
            let reason = "only commands known to be harmless run here";
            decided(Verdict::Deny, "exec.paranoid", reason)
        }
    }
}

/// When a person is asked about a command: the stricter of the two settings.
pub(crate) fn asking(tools: &Tools) -> Ask {
    let own = tools.exec.ask.as_ref().map_or(tools.ask.value, |ask| ask.value);
    own.max(tools.ask.value)
}

fn elevated_call(elevated: &Elevated, caller: &Caller) -> Decision {
    let sender = caller.sender.as_ref().unwrap_or(&caller.user);
    let named = |name: &str| name.eq_ignore_ascii_case(sender);
    let allowed = elevated.allow_from.value.iter().any(|name| named(&name.value));
    if elevated.enabled.value == Switch::Off || !allowed {
        let reason = format!(
            "`{sender}` may not run commands outside the sandbox; the operator can allow it with \
             `tools.elevated.enabled` and `tools.elevated.allow_from`"
        );
        return Decision::new(Verdict::Deny, "elevated", reason);
    }
    Decision::new(Verdict::Ask, "elevated", "it wants to run outside the sandbox")
}
