//! What became of calls that were under way when the process died.

use provider::{WireCall, WireResult};
use store::{Entry, Filter, Session, Status};
use tool::{ToolError, ToolOutput};

use crate::{
    AgentError,
    agents::Inner,
    calls::{recorded_id, recorded_in_before},
    transcript::{self, failed},
};

impl Inner {
    /// What the journal knows of calls that were under way when the process died: nothing runs twice.
    pub(crate) async fn results_of_interrupted(
        &self,
        session: &Session,
        calls: &[WireCall],
    ) -> Result<Vec<WireResult>, AgentError> {
        let (journal, key) = (self.gate.journal().clone(), session.key.clone());
        let filter = Filter {
            user: Some(key.user.clone()),
            session: Some(key.name.clone()),
            limit: 1_000,
            ..Filter::default()
        };
        let found = tokio::task::spawn_blocking(move || journal.entries(&filter)).await;
        let entries = found.map_err(ToolError::internal)??;
        let Some(said) = transcript::last_said(self.gate.db().await?, session).await? else {
            let unknown = |call| failed(call, "interrupted: it is not known whether this call ran");
            return Ok(calls.iter().map(unknown).collect());
        };
        let message = transcript::message_id(session, said);
        let old_message = transcript::old_message_id(session, said);
        let untrusted = self.untrusted(&session.key).await?;
        let one = |(number, call): (usize, &WireCall)| {
            let recorded = recorded_id(calls, number);
            let before = recorded_in_before(&old_message, calls, number);
            // A provider may use an id more than once, so the message counts too. Earlier versions recorded
            // another id of the message, and the first ones none; newest first, for those.
            let entry = entries.iter().find(|entry| {
                let same = match &entry.message_id {
                    Some(found) if *found == message => entry.provider_call_id == recorded,
                    Some(found) => *found == before && entry.provider_call_id == call.id,
                    None => call.id.is_some() && entry.provider_call_id == call.id,
                };
                same && entry.agent == key.agent
            });
            told(call, entry, untrusted.as_deref())
        };
        Ok(calls.iter().enumerate().map(one).collect())
    }
}

/// What the model is told of a call, by what the journal has of it. `untrusted` is what its session has read.
fn told(call: &WireCall, entry: Option<&Entry>, untrusted: Option<&str>) -> WireResult {
    let Some(entry) = entry else {
        return failed(
            call,
            "interrupted: the process ended before this call began; it did not run",
        );
    };
    match (&entry.status, &entry.error_type) {
        (Status::Success, _) => {
            WireResult { is_error: false, ..failed(call, output(entry, untrusted)) }
        }
        (_, Some(error)) => {
            let message = entry.message.as_str().unwrap_or("it did not end as it should");
            failed(call, format!("{error}: {message}"))
        }
        (_, None) => failed(
            call,
            "interrupted: the process ended while this call ran; look before you do it again",
        ),
    }
}

/// The journal does not say what of an output nobody vouches for, so that anything may be of what the session has
/// read. Text is there as the model would have got it; a value is not, nor is what was too long to be kept.
fn output(entry: &Entry, untrusted: Option<&str>) -> String {
    let text = entry.output.as_str().map_or_else(|| entry.output.to_string(), str::to_owned);
    let own = |id: &str| entry.id.to_string().ends_with(id);
    match untrusted {
        Some(source) if !ToolOutput::fence_id(&text).is_some_and(own) => {
            ToolOutput::fenced(entry.id, source, &text)
        }
        Some(_) | None => text,
    }
}
