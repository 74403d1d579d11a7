//! Whether somebody gave this agent the capabilities the call needs.

use std::sync::Arc;

use config::Ask;
use policy::{Decision, Verdict};
use store::{Decision as AnswerDecision, EXACT, PermissionState};
use tool::{Caller, Capability, Plan, ToolError, ToolResult};

use crate::{
    ask::{Shown, ask, remembered},
    call::{Call, Origin},
    pipeline::{Next, Stage},
    shared::Shared,
    stages::consider,
    subject::Subject,
};

/// Refuses a call whose capability is withheld before anybody is asked about the call itself.
#[derive(Debug)]
pub(crate) struct Permission(pub(crate) Arc<Shared>);

impl Stage for Permission {
    const NAME: &'static str = "permission";

    async fn handle(&self, mut call: Box<Call>, next: Next<'_>) -> ToolResult {
        if call.origin == Origin::Caller {
            let plan = call.planned()?.plan().clone();
            for capability in plan.capabilities() {
                match Box::pin(standing(&self.0, &call.caller, &plan, capability)).await? {
                    Standing::Granted => {}
                    Standing::Unasked => call.unasked = true,
                    Standing::Overridden(decision) => {
                        (call.unasked, call.overridden) = (true, Some(decision));
                    }
                    Standing::Ask(decision) => {
                        Box::pin(self.ask_or_defer(&mut call, capability, decision)).await?;
                    }
                }
            }
        }
        next.run(call).await
    }
}

impl Permission {
    /// Asks, unless policy has something to say about the call too: then `approve` asks about both at
    /// once, or refuses without asking anybody.
    async fn ask_or_defer(
        &self,
        call: &mut Call,
        capability: Capability,
        decision: Decision,
    ) -> Result<(), ToolError> {
        let plan = call.planned()?.plan().clone();
        let considered = consider(&self.0, &call.caller, &plan).await?;
        if considered.decision.verdict != Verdict::Allow {
            let (subject, scopes) = (Subject::of(&self.0, call).await?, scopes(capability));
            let known = remembered(&self.0, &subject.exact, &decision.rule, &scopes).await?;
            call.lacking.extend(known.is_none().then_some(decision));
            return Ok(());
        }
        self.ask(call, capability, &decision).await
    }

    /// An answer for always that covers all of the permission becomes the permission itself.
    async fn ask(
        &self,
        call: &mut Call,
        capability: Capability,
        decision: &Decision,
    ) -> Result<(), ToolError> {
        let scopes = scopes(capability);
        let subject = Subject::of(&self.0, call).await?;
        let asked = ask(&self.0, &subject, decision, Shown::scopes(scopes.clone())).await?;
        call.asked = true;
        if !matches!(asked.decision, AnswerDecision::AllowAlways { .. })
            || !self.is_for_good(&subject, decision, &scopes).await?
        {
            return Ok(());
        }
        for caller in self.0.permissions.lacking(&self.0.db, &call.caller, capability).await? {
            let granted = store::Permission {
                user: caller.user.to_string(),
                agent: caller.agent.to_string(),
                capability,
                state: PermissionState::Granted,
                by: asked.by.clone(),
                at: self.0.world.clock().now(),
            };
            self.0.db.get().await?.set_permission(granted).await?;
        }
        Ok(())
    }

    /// Whether the answer was for all the permission covers, and without an end.
    async fn is_for_good(
        &self,
        subject: &Subject,
        decision: &Decision,
        scopes: &[String],
    ) -> Result<bool, ToolError> {
        let (db, now) = (self.0.db.get().await?, self.0.world.clock().now());
        let grant = db.find_grant(subject.exact.wanted(&decision.rule, scopes), now).await?;
        Ok(grant.is_some_and(|grant| grant.scope.is_some() && grant.expires_at.is_none()))
    }
}

/// How it stands between a caller and a capability that is not refused.
pub(crate) enum Standing {
    Granted,
    /// Nobody decided, and nobody is ever asked: what policy gives, runs.
    Unasked,
    /// The owner lets everything pass at present.
    Overridden(Decision),
    Ask(Decision),
}

/// Looks the capability up; a refusal is the error.
pub(crate) async fn standing(
    shared: &Shared,
    caller: &Caller,
    plan: &Plan,
    capability: Capability,
) -> Result<Standing, ToolError> {
    let never_asks = policy::mode(&shared.settings.load().config.tools, plan) == Ask::Auto;
    let (state, lacking) = shared.permissions.state(&shared.db, caller, capability).await?;
    let agent = &lacking.agent;
    match state {
        PermissionState::Granted => Ok(Standing::Granted),
        PermissionState::Ask if never_asks => Ok(Standing::Unasked),
        PermissionState::Ask => {
            let reason = format!("agent `{agent}` does not have the permission `{capability}` yet");
            let decision = Decision::new(Verdict::Ask, &scope(capability), reason);
            let decision = shared.alarm.weigh(decision, || shared.world.clock().now());
            Ok(match decision.verdict {
                Verdict::Allow => Standing::Overridden(decision),
                Verdict::Ask | Verdict::Deny => Standing::Ask(decision),
            })
        }
        PermissionState::Denied => {
            let reason = format!(
                "permission `{capability}` was denied by the user; \
                 `toolgate permissions grant {capability} --agent {agent}` allows it"
            );
            Err(denied("denied", reason))
        }
        PermissionState::DeniedForGood => {
            let reason = format!(
                "permission `{capability}` was denied for good; do not ask for it again. Only the \
                 owner can change that, with `toolgate permissions grant {capability} --agent {agent}`"
            );
            Err(denied("denied_for_good", reason))
        }
    }
}

fn scopes(capability: Capability) -> Vec<String> {
    vec![EXACT.to_owned(), scope(capability)]
}

/// What an answer for always is scoped to.
pub(crate) fn scope(capability: Capability) -> String {
    format!("permission:{capability}")
}

fn denied(rule: &str, reason: String) -> ToolError {
    ToolError::denied(Permission::NAME, format!("permission.{rule}"), reason)
}
