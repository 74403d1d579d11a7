//! Decides whether this exact call may run.

use std::sync::Arc;

use policy::{Decision, PROTECTED, Situation, Untrusted, Verdict, decide, url::UrlRules};
use store::EXACT;
use tool::{Caller, Digest, Facts, FilePath, Need, Plan, ToolError, ToolResult};

use crate::{
    ask::{Asked, EarlierAnswers, Shown, ask},
    call::{Call, Origin, Planned},
    pipeline::{Next, Stage},
    shared::Shared,
    subject::{Subject, bound},
    trust::{self, Suspect},
};

/// Decides by policy, asks a person where policy says so, and issues the permit.
#[derive(Debug)]
pub(crate) struct Approve(pub(crate) Arc<Shared>);

/// Proof that exactly this call may run, once. Only this file can make one, and it cannot be cloned.
#[derive(Debug)]
pub(crate) struct Permit {
    fingerprint: Digest,
}

impl Permit {
    /// Uses the permit up, if it is for this call.
    pub(crate) fn redeem(self, planned: &Planned) -> Result<(), ToolError> {
        if self.fingerprint == planned.fingerprint() {
            return Ok(());
        }
        let reason = "the call changed after it was approved";
        Err(ToolError::denied(Approve::NAME, "permit", reason))
    }
}

impl Stage for Approve {
    const NAME: &'static str = "approve";

    async fn handle(&self, mut call: Box<Call>, next: Next<'_>) -> ToolResult {
        let Considered { decision, error, suspects } = match call.origin {
            Origin::Person => Considered::by_person(),
            Origin::Caller => consider(&self.0, &call.caller, call.planned()?.plan()).await?,
        };
        // A permission that an override stood in for is what the call rests on.
        let decision = match decision.verdict {
            Verdict::Allow => call.overridden.take().unwrap_or(decision),
            Verdict::Ask | Verdict::Deny => decision,
        };
        // One question for all there is to ask.
        let decision = with_permissions(decision, &std::mem::take(&mut call.lacking));
        {
            let mut learnt = call.learnt.now();
            (learnt.decision, learnt.suspects) = (Some(decision.clone()), suspects);
        }
        match decision.verdict {
            Verdict::Allow => {}
            Verdict::Ask => {
                // Boxed, so that calls nobody is asked about do not carry the question along.
                let Asked { approval, .. } = Box::pin(self.ask(&mut call, &decision)).await?;
                call.asked = true;
                call.learnt.now().approval = Some(approval);
            }
            Verdict::Deny => {
                let refusal = || ToolError::denied(Self::NAME, decision.rule, decision.reason);
                return Err(error.unwrap_or_else(refusal));
            }
        }
        call.permit = Some(Permit { fingerprint: call.planned()?.fingerprint() });
        next.run(call).await
    }
}

impl Approve {
    async fn ask(&self, call: &mut Call, decision: &Decision) -> Result<Asked, ToolError> {
        let subject = Subject::of(&self.0, call).await?;
        let (decision, earlier) = bound(decision, &subject.plan, subject.pinned.as_deref());
        let mut scopes = match earlier {
            EarlierAnswers::Count => scopes(&self.0, call.planned()?),
            EarlierAnswers::DoNotCount => Vec::new(),
        };
        if decision.rule.split('+').any(|rule| rule == PROTECTED) {
            // A person sees each change of what other programs obey.
            scopes.retain(|scope| scope == EXACT);
        }
        ask(&self.0, &subject, &decision, Shown::scopes(scopes)).await
    }
}

/// What is decided about a call whose agent lacks permissions that a person can give: the same as
/// policy says, or one question about everything.
pub(crate) fn with_permissions(decision: Decision, lacking: &[Decision]) -> Decision {
    let also = |decision: Decision, lacking: &Decision| match decision.verdict {
        Verdict::Deny => decision,
        Verdict::Allow => lacking.clone(),
        Verdict::Ask => {
            let rule = format!("{}+{}", decision.rule, lacking.rule);
            Decision::new(Verdict::Ask, &rule, format!("{}; {}", decision.reason, lacking.reason))
        }
    };
    lacking.iter().fold(decision, also)
}

/// What policy says about a call, and the error itself where a path cannot be used.
#[derive(Debug)]
pub(crate) struct Considered {
    pub(crate) decision: Decision,
    pub(crate) error: Option<ToolError>,
    /// Untrusted files it would read.
    pub(crate) suspects: Vec<Suspect>,
}

impl Considered {
    /// What a person does themselves is not put to a person again.
    fn by_person() -> Self {
        let decision = Decision::new(Verdict::Allow, "person", "a person does it themselves");
        Self { decision, error: None, suspects: Vec::new() }
    }
}

/// Looks up what the plan is about, and decides.
pub(crate) async fn consider(
    shared: &Shared,
    caller: &Caller,
    plan: &Arc<Plan>,
) -> Result<Considered, ToolError> {
    if plan.needs().is_empty() {
        let decision = judged(shared, caller, plan, &Facts::default(), Untrusted::default());
        return Ok(Considered { decision, error: None, suspects: Vec::new() });
    }
    // Boxed, so that calls which need nothing do not carry it along.
    Box::pin(consider_needs(shared, caller, plan)).await
}

async fn consider_needs(
    shared: &Shared,
    caller: &Caller,
    plan: &Arc<Plan>,
) -> Result<Considered, ToolError> {
    let facts = facts(shared, caller, plan).await?;
    let known = trust::known(shared, caller, plan).await?;
    let suspects = trust::suspects(shared, caller, plan, &facts).await?;
    let decision = judged(shared, caller, plan, &facts, known.untrusted());
    let error = facts.paths.into_iter().find_map(Result::err);
    Ok(Considered { decision, error, suspects })
}

fn judged(
    shared: &Shared,
    caller: &Caller,
    plan: &Plan,
    facts: &Facts,
    untrusted: Untrusted<'_>,
) -> Decision {
    let settings = shared.settings.load();
    let (tools, urls) = (&settings.config.tools, &settings.urls);
    let decision = decide(Situation { tools, urls, caller, untrusted }, plan, facts);
    shared.alarm.weigh(decision, || shared.world.clock().now())
}

async fn facts(shared: &Shared, caller: &Caller, plan: &Arc<Plan>) -> Result<Facts, ToolError> {
    let is_file = |need: &&Need| matches!(need, Need::Read(_) | Need::Write(_));
    if !plan.needs().iter().any(|need| is_file(&need)) {
        return Ok(Facts::default());
    }
    let (disk, plan) = (shared.world.disk(caller)?, plan.clone());
    let look = move || plan.needs().iter().filter(is_file).map(|need| disk.look(need)).collect();
    let paths = tokio::task::spawn_blocking(look).await.map_err(ToolError::internal)?;
    Ok(Facts { paths })
}

/// What an answer can be remembered for: this exact call; the host all of it goes to; folders all of
/// it is beneath; the program of its command, with the same flags. Folders count by where they are, so
/// that the answer holds in no other workspace.
pub(crate) fn scopes(shared: &Shared, planned: &Planned) -> Vec<String> {
    let exact = std::iter::once(EXACT.to_owned());
    if let Some(run) = planned.plan().command() {
        let workspace = planned.workspace().map_or(".", |root| root.as_ref());
        return exact.chain(policy::shell::program_scope(run, workspace)).collect();
    }
    let settings = shared.settings.load();
    let mut hosts = planned.plan().needs().iter().map(|need| host(need, &settings.urls));
    if let Some(Some(first)) = hosts.next() {
        let same = hosts.all(|host| host.as_ref() == Some(&first));
        return exact.chain(same.then_some(first)).collect();
    }
    exact.chain(folders(planned)).collect()
}

/// Only for what changes nothing there: a host that may be asked may not thereby be told.
fn host(need: &Need, rules: &UrlRules) -> Option<String> {
    let Need::Fetch(url) = need else { return None };
    let url = policy::url::check(url, rules).ok()?;
    Some(format!("host:{}", url.authority()))
}

fn folders(planned: &Planned) -> Vec<String> {
    let root = planned.workspace().map_or(".", |root| root.as_ref());
    let mut folders: Option<Vec<String>> = None;
    for need in planned.plan().needs() {
        let (Need::Read(path) | Need::Write(path)) = need else { return Vec::new() };
        let above = above(path, root);
        folders = Some(match folders {
            None => above,
            Some(known) => known.into_iter().filter(|folder| above.contains(folder)).collect(),
        });
    }
    folders.into_iter().flatten().map(|folder| format!("folder:{folder}")).collect()
}

/// The folders above `path`, nearest first, up to the workspace.
fn above(path: &FilePath, root: &str) -> Vec<String> {
    if path.as_str().starts_with('/') {
        return path.ancestors();
    }
    let root = FilePath::new(root);
    path.ancestors().iter().map(|folder| root.join(folder).to_string()).collect()
}

#[cfg(test)]
mod tests {
    use tool::FilePath;

    use super::above;

    #[test]
    fn offers_folders_by_where_they_are() {
        for (path, expected) in
            [("a/b/c.txt", "/ws/a/b /ws/a /ws"), ("c.txt", "/ws"), ("/x/y/z", "/x/y /x")]
        {
            assert_eq!(above(&FilePath::new(path), "/ws").join(" "), expected);
        }
    }
}
