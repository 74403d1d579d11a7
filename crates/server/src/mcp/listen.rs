//! Tells a client of changes, for as long as it listens.

use futures_util::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use serde_json::{Map, Value, json};
use tool::Caller;

use super::{desk::Desk, offer::Change};
use crate::rpc::RpcError;

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// What is sent to whoever listens in a session: notifications, as text.
pub(super) fn in_session(desk: &Desk, caller: &Caller) -> BoxStream<'static, String> {
    let all: Map<String, Value> =
        Change::ALL.iter().map(|change| (change.wanted().to_owned(), true.into())).collect();
    let changes = changes(desk, caller, desk.told(&Value::Object(all)));
    changes.map(|change| notification(change.notification(), &json!({}))).boxed()
}

/// The same for a request `subscriptions/listen` with this id: first what is told, then that.
pub(super) fn subscribed(
    desk: &Desk,
    caller: &Caller,
    (id, params): (&Value, &Map<String, Value>),
) -> Result<BoxStream<'static, String>, RpcError> {
    let wanted = params.get("notifications").filter(|wanted| wanted.is_object());
    let wanted = wanted.ok_or_else(|| {
        RpcError::wrong_params("`notifications` must say what you want to be told of")
    })?;
    let told = desk.told(wanted);
    let granted: Map<String, Value> =
        told.iter().map(|change| (change.wanted().to_owned(), true.into())).collect();
    let meta = json!({SUBSCRIPTION: id});
    let first = notification(
        "notifications/subscriptions/acknowledged",
        &json!({"_meta": meta, "notifications": granted}),
    );
    let changes = changes(desk, caller, told);
    let later =
        changes.map(move |change| notification(change.notification(), &json!({"_meta": meta})));
    Ok(stream::once(std::future::ready(first)).chain(later).boxed())
}

/// What becomes different, of what somebody is told.
fn changes(desk: &Desk, caller: &Caller, told: Vec<Change>) -> BoxStream<'static, Change> {
    let changes = desk.offer.changes(caller);
    changes.filter(move |change| std::future::ready(told.contains(change))).boxed()
}

/// What ends a subscription from our side.
pub(super) fn ended(id: &Value) -> Map<String, Value> {
    crate::events::fields(json!({"_meta": {SUBSCRIPTION: id}}))
}

fn notification(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}
