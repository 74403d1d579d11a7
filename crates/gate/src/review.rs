//! Lets a person see what a command changed before it is kept.

use std::sync::{Arc, Mutex, PoisonError};

use policy::{Decision, Verdict};
use tool::{
    BoxFuture, Caller, Digest, Extent, Keep, Pinned, Proposal, Proposed, Review, ToolError,
};

use crate::{
    ask::{Asked, EarlierAnswers, Shown, ask},
    call::Learning,
    shared::Shared,
    slots::Slot,
    subject::{Exact, Subject},
};

/// More changes than these are more than a person reads.
const MAX_CHANGES: usize = 10_000;
/// So much of them is shown line by line.
const MAX_DIFF: usize = 1 << 20;

/// Holds the changes of one call until somebody has agreed to them, where they are large.
#[derive(Debug)]
pub(crate) struct HoldsChanges {
    pub(crate) shared: Arc<Shared>,
    pub(crate) subject: Subject,
    pub(crate) learnt: Arc<Learning>,
    /// Given back while a person is waited for.
    pub(crate) slot: Arc<Mutex<Option<Arc<Slot>>>>,
}

impl Review for HoldsChanges {
    fn is_wanted(&self, lost: Extent) -> bool {
        self.decide(lost).is_some()
    }

    fn judge<'a>(&'a self, proposal: &'a Proposal) -> BoxFuture<'a, Result<Keep, ToolError>> {
        Box::pin(async move {
            // Between the two looks the configuration may have changed.
            let Some(decision) = self.decide(proposal.lost) else { return Ok(Keep::All) };
            // Where only files that other programs obey are in question, only they are shown, and
            // the rest of the changes is kept whatever the answer.
            let only_asked = decision.rule == policy::PROTECTED;
            let all = proposal.changes.iter();
            let in_question: Vec<_> =
                all.filter(|one| !only_asked || one.ask_rule.is_some()).cloned().collect();
            let changes = self.shown(&in_question)?;
            let exact = self.exact(&in_question);
            let pinned = self.where_it_ran(&exact.caller).await;
            let subject = Subject { exact, pinned, ..self.subject.clone() };
            // Waiting for a person takes none of the call's time, and holds no slot.
            let _paused = self.subject.live.pause();
            drop(self.slot.lock().unwrap_or_else(PoisonError::into_inner).take());
            // What is agreed to is what is seen: nothing of it can be remembered.
            let shown = Shown { scopes: Vec::new(), changes, earlier: EarlierAnswers::Count };
            let (shared, reason) = (self.shared.clone(), decision.clone());
            // In a task of its own: whoever ends the tool must not keep the question from being
            // withdrawn.
            let asking = async move { ask(&shared, &subject, &reason, shown).await };
            let asked = tokio::spawn(asking).await.map_err(ToolError::internal)?;
            let approval = match asked {
                Ok(Asked { approval, .. }) => approval,
                Err(ToolError::Denied { stage: "approve", .. }) if only_asked => {
                    return Ok(Keep::Unasked);
                }
                Err(error) => return Err(dropped(error)),
            };
            let mut learnt = self.learnt.now();
            learnt.approval = Some(approval);
            learnt.decision = Some(decision);
            Ok(Keep::All)
        })
    }
}

impl HoldsChanges {
    /// Why somebody has to look, if anybody has.
    fn decide(&self, lost: Extent) -> Option<Decision> {
        let settings = self.shared.settings.load();
        let decision = policy::review(&settings.config.tools, &self.subject.plan, lost)?;
        let decision = self.shared.alarm.weigh(decision, || self.shared.world.clock().now());
        if decision.verdict == Verdict::Ask {
            return Some(decision);
        }
        // An override of the owner's is what the changes rest on.
        self.learnt.now().decision = Some(decision);
        None
    }

    /// Where the command ran, for people to see.
    async fn where_it_ran(&self, caller: &Caller) -> Option<Arc<Pinned>> {
        let run = self.subject.plan.command()?;
        let exec = self.shared.world.exec(caller).ok()?;
        Some(Arc::new(exec.pin(caller, run, &[]).await.ok()?))
    }

    /// The call and exactly these changes.
    fn exact(&self, changes: &[Proposed]) -> Exact {
        let own = &self.subject.exact;
        let mut parts = vec![own.fingerprint.as_bytes().to_vec()];
        for Proposed { path, change: _, what, diff: _, after, ask_rule: _ } in changes {
            parts.extend([path.as_str().into(), what.as_bytes().to_vec()]);
            parts.push(after.map(|after| after.as_bytes().to_vec()).unwrap_or_default());
        }
        let fingerprint = Digest::of_parts(parts.iter().map(Vec::as_slice));
        Exact { fingerprint, ..own.clone() }
    }

    /// The changes as people see them: all of them by name, line by line as far as anybody reads.
    fn shown(&self, changes: &[Proposed]) -> Result<Vec<Proposed>, ToolError> {
        if changes.len() > MAX_CHANGES {
            let reason = format!(
                "the command ran and changed {} files, more than can be shown to a person, so nothing \
                 was kept; change fewer at a time",
                changes.len()
            );
            return Err(ToolError::denied("approve", "approval.too_long", reason));
        }
        let settings = self.shared.settings.load();
        let mut left = MAX_DIFF;
        let shown = |one: &Proposed| {
            let fits = one.diff.as_ref().filter(|diff| diff.len() <= left);
            let diff = fits.map(|diff| settings.redactor.text(diff).into_owned());
            left = left.saturating_sub(diff.as_ref().map_or(0, String::len));
            let hidden = one.diff.is_some() && diff.is_none();
            let too_long = if hidden { ", too long to be shown line by line" } else { "" };
            Proposed { diff, what: format!("{}{too_long}", one.what), ..one.clone() }
        };
        Ok(changes.iter().map(shown).collect())
    }
}

/// The command ran, and nothing is left of it.
fn dropped(error: ToolError) -> ToolError {
    let ToolError::Denied { stage, rule, reason } = error else { return error };
    let reason = format!("the command ran, and what it changed was dropped: {reason}");
    ToolError::Denied { stage, rule, reason }
}
