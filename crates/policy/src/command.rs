//! Commands: where they run, whom they reach, and whether they may.

use config::{Access, Ask, Elevated, ExecNetwork, HostPattern, Security, Switch, Tools};
use tool::{Caller, IsolationLevel, Lasting, Need, Place, Plan, Reach, Run, Step, Terminal};

use crate::{
    Decision, Verdict, is_credential,
    rules::names_sender,
    shell::{Judgement, Known, Needs, Network, harmless, needs, outside_doubt},
};

/// Fills in what a call leaves to configuration, before anybody looks at its plan, and how a command
/// runs without a shell if it is known to be harmless. `level` is what the sandbox offers here.
pub fn complete(plan: Plan, tools: &Tools, known: Known<'_>, level: IsolationLevel) -> Plan {
    let complete = |need: &Need| match need {
        Need::Run(run) => Need::Run(completed(run, tools, known, level)),
        Need::Read(_)
        | Need::Write(_)
        | Need::Fetch(_)
        | Need::Act(_)
        | Need::Recall(_)
        | Need::Keep(_)
        | Need::Use(_) => need.clone(),
    };
    if plan.needs().iter().any(|need| matches!(need, Need::Run(_))) {
        return plan.needs().iter().map(complete).collect();
    }
    plan
}

fn completed(run: &Run, tools: &Tools, known: Known<'_>, level: IsolationLevel) -> Run {
    let exec = &tools.exec;
    let place = if run.elevated { Place::Host } else { run.place.unwrap_or(exec.host.value) };
    let run = Run { place: Some(place), ..run.clone() };
    let (steps, doubt) = match steps(&run, known) {
        Ok(steps) => (steps, String::new()),
        Err(reason) => (Vec::new(), reason),
    };
    // What only looks reaches nobody, whoever else may.
    let needs = if steps.is_empty() { needs(&run.command) } else { Needs::default() };
    let reach = match place {
        Place::Host => Reach::Everybody,
        _ if !steps.is_empty() => Reach::Nobody,
        Place::Sandbox | Place::Container | Place::Node => {
            reach(&exec.network, asking(tools, &run), &needs.network)
        }
    };
    let outgoing = match needs.network {
        Network::Yes(part) if reach != Reach::Nobody => Some(part),
        Network::Yes(_) | Network::No | Network::Unknown => None,
    };
    // A harmless command gets a workspace that it cannot change, also where there is no overlay.
    let direct = place == Place::Sandbox && level == IsolationLevel::Reduced && steps.is_empty();
    Run { reach, steps, doubt, secret: needs.credentials, outgoing, direct, ..run }
}

/// Whom a command reaches in the sandbox. One that is known to stay on this machine reaches nobody, so
/// that nobody is asked about it.
fn reach(network: &ExecNetwork, asking: Ask, needs: &Network) -> Reach {
    let listed = &network.allow.value;
    match (network.access.value, needs) {
        (_, Network::No) => Reach::Nobody,
        (Access::Full, Network::Unknown | Network::Yes(_)) => Reach::Everybody,
        (Access::Ask | Access::Listed, _) if !listed.is_empty() => {
            Reach::Hosts(listed.iter().map(|host| host.value.to_string()).collect())
        }
        // Only if a person agrees.
        (Access::Ask, Network::Yes(_)) if asking != Ask::Auto => {
            Reach::Hosts(vec![HostPattern::ANY.to_string()])
        }
        (Access::Ask | Access::Listed, _) => Reach::Nobody,
    }
}

/// How the command runs without a shell, or why it is not known to be harmless.
fn steps(run: &Run, known: Known<'_>) -> Result<Vec<Step>, String> {
    let Run { command, cwd, env, place, lasting, elevated, terminal, .. } = run;
    let refuse = |why: &str| Err(why.to_owned());
    match place {
        Some(Place::Sandbox | Place::Host) => {}
        Some(Place::Container | Place::Node) | None => return refuse("it runs elsewhere"),
    }
    if *elevated {
        return refuse("it wants more rights than commands usually have");
    }
    if *lasting != Lasting::Call {
        return refuse("it runs in the background");
    }
    if *terminal != Terminal::No {
        return refuse("it has a terminal");
    }
    if !env.is_empty() {
        return refuse("it sets variables");
    }
    let cwd = cwd.as_str();
    if cwd.starts_with('/') || cwd.split('/').any(|part| part == "..") || is_credential(cwd) {
        return Err(format!("it runs in `{cwd}`"));
    }
    match harmless(command, known) {
        Judgement::Not(reason) => Err(reason),
        Judgement::Harmless(how) => {
            if let Some(program) = how.missing() {
                return Err(format!("`{program}` is in no trusted folder"));
            }
            let doubt = (*place == Some(Place::Host)).then(|| outside_doubt(command, known));
            doubt.flatten().map_or(Ok(how.steps), Err)
        }
    }
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
    let asking = asking(tools, run);
    if run.is_harmless() {
        // Where people are asked about commands at all, that it changes nothing does not count.
        return (asking == Ask::Always).then(|| {
            let reason = format!("it wants to {run}, which is known to be harmless");
            Decision::new(Verdict::Ask, "ask.always", reason)
        });
    }
    let unknown = || {
        let doubt = if run.doubt.is_empty() { String::new() } else { format!(": {}", run.doubt) };
        format!("`{}` is not known to be harmless{doubt}", run.command)
    };
    match (exec.security.value, asking) {
        (Security::Full, _) => None,
        (Security::SafeBin, Ask::Smart | Ask::Always) => {
            decided(Verdict::Ask, "exec.safe_bin", &unknown())
        }
        (Security::SafeBin, Ask::Auto) => {
            let reason = format!("{}; nothing else runs here, and nobody is asked", unknown());
            decided(Verdict::Deny, "exec.safe_bin", &reason)
        }
        (Security::Paranoid, _) => {
            let reason = format!("{}; nothing else runs here", unknown());
            decided(Verdict::Deny, "exec.paranoid", &reason)
        }
    }
}

/// What is said about a call that is one harmless command, unless somebody is asked about it.
pub(crate) fn harmless_alone(plan: &Plan) -> Option<Decision> {
    let [Need::Run(run)] = plan.needs() else { return None };
    let reason = "it is known to be harmless, and runs without a shell";
    run.is_harmless().then(|| Decision::new(Verdict::Allow, "exec.harmless", reason))
}

/// When a person is asked about a command: the strictest of the two settings and the call itself.
pub(crate) fn asking(tools: &Tools, run: &Run) -> Ask {
    let everything = tools.ask.value;
    let own = tools.exec.ask.as_ref().map_or(everything, |ask| ask.value);
    own.max(everything).max(run.ask.unwrap_or(everything))
}

fn elevated_call(elevated: &Elevated, caller: &Caller) -> Decision {
    let sender = caller.sender_or_user();
    let allowed = elevated.allow_from.value.iter().any(|name| names_sender(&name.value, caller));
    if elevated.enabled.value == Switch::Off || !allowed {
        let reason = format!(
            "`{sender}` may not run commands outside the sandbox; the operator can allow it with \
             `tools.elevated.enabled` and `tools.elevated.allow_from`"
        );
        return Decision::new(Verdict::Deny, "elevated", reason);
    }
    Decision::new(Verdict::Ask, "elevated", "it wants to run outside the sandbox")
}
