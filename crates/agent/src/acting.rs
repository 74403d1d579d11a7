//! As whom the agent of a session acts: those that others started have what they were left, and no more.

use std::sync::Arc;

use store::{Session, SessionKind};
use tool::{Caller, Role};

use crate::AgentError;

/// As whom the agent of a session that another one started acts, as it was left then. What cannot be
/// read is not taken for nothing: such an agent would have more than it was left.
pub(crate) fn rights(session: &Session) -> Result<Option<Caller>, AgentError> {
    if session.kind != SessionKind::Child && session.rights.is_null() {
        return Ok(None);
    }
    Ok(Some(serde_json::from_value(session.rights.clone())?))
}

/// As whom the agent of a session acts when `caller` speaks there: what it was left when it was
/// spawned holds, whoever speaks.
pub(crate) fn acting(session: &Session, caller: &Caller) -> Result<Caller, AgentError> {
    let Some(spawned) = rights(session)? else { return Ok(caller.clone()) };
    Ok(match &caller.parent {
        None => Caller {
            sender: caller.sender.clone(),
            channel: caller.channel.clone().or_else(|| spawned.channel.clone()),
            role: weaker(&spawned, caller),
            ..spawned
        },
        // The agent itself, when it is started or goes on.
        Some(_) if is_within(caller, &spawned) => caller.clone(),
        // A message from another agent: both must have what is done because of it.
        Some(sender) => below(&spawned, sender),
    })
}

/// Whether `caller` has everything above it that `spawned` has.
fn is_within(caller: &Caller, spawned: &Caller) -> bool {
    let alone = |caller: &Caller| Caller { parent: None, model: None, ..caller.clone() };
    let mut own = caller.chain().map(alone);
    spawned.chain().map(alone).all(|above| own.next() == Some(above))
}

/// A spawned agent below whoever spawned it, and all of them below `sender`, who speaks to it.
fn below(spawned: &Caller, sender: &Arc<Caller>) -> Caller {
    let parent = spawned.parent.as_ref();
    let above = parent.map_or_else(|| sender.clone(), |parent| Arc::new(below(parent, sender)));
    Caller { parent: Some(above), ..spawned.clone() }
}

fn weaker(one: &Caller, other: &Caller) -> Role {
    if one.role == Role::Owner { other.role } else { one.role }
}
