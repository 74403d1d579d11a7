//! What a call leaves behind of untrusted content: in its session, and in files.

use std::sync::Arc;

use serde_json::Value;
use store::Db;
use tool::{
    ArtifactRef, CallId, Caller, ChangeKind, Changed, Live, Need, PathFact, Reach, ToolError,
    ToolOutput, ToolResult,
};

use crate::{
    call::{Call, Learning, Learnt, Origin},
    shared::Shared,
    trust::Suspect,
};

/// A source is named, not told whole.
const MAX_SOURCE: usize = 500;
/// So many links of one output are looked for.
const MAX_LINKS: usize = 10_000;

/// A call, as far as it matters here.
#[derive(Debug)]
pub(crate) struct Trail {
    call: CallId,
    caller: Arc<Caller>,
    live: Arc<Live>,
    learnt: Arc<Learning>,
    origin: Origin,
}

impl Trail {
    pub(crate) fn of(call: &Call) -> Self {
        Self {
            call: call.id,
            caller: call.caller.clone(),
            live: call.live.clone(),
            learnt: call.learnt.clone(),
            origin: call.origin,
        }
    }

    /// Remembers what the session has read and where it wrote, before anybody sees the result. What
    /// cannot be remembered is not given out. A result that shows something of what nobody
    /// vouches for says so from here on.
    pub(crate) async fn keep(&self, shared: &Shared, result: ToolResult) -> ToolResult {
        if self.is_empty(&result) {
            return result;
        }
        // Boxed, so that calls which leave nothing behind do not carry it along.
        let kept = Box::pin(self.try_keep(shared, &result)).await;
        match (result, kept) {
            (Ok(output), Ok(shown)) => Ok(suspected(shared, output, &shown)),
            (Ok(_), Err(error)) | (Err(error), Ok(_)) => Err(error),
            (Err(error), Err(problem)) => {
                tracing::error!(call = %self.call, error = %problem, "untrusted content was not recorded");
                Err(error)
            }
        }
    }

    /// Whether there is nothing to remember. What people do themselves is not read by a session.
    fn is_empty(&self, result: &ToolResult) -> bool {
        let learnt = self.learnt.now();
        let nothing = untrusted(result).is_none()
            && reached(&learnt).is_none()
            && learnt.suspects.is_empty()
            && self.live.changed().is_empty();
        nothing || self.origin == Origin::Person
    }

    /// Gives back what nobody vouches for that the result shows something of: files, and whom its command reached.
    async fn try_keep(
        &self,
        shared: &Shared,
        result: &ToolResult,
    ) -> Result<Vec<String>, ToolError> {
        let (suspects, reached, command) = {
            let mut learnt = self.learnt.now();
            let run = learnt.plan.as_ref().and_then(|plan| plan.command());
            let command = run.map(|run| run.command.clone()).unwrap_or_default();
            (std::mem::take(&mut learnt.suspects), reached(&learnt), command)
        };
        let (untrusted, changed) = (untrusted(result), self.live.changed());
        let mut sources: Vec<_> = untrusted.into_iter().map(|source| short(source)).collect();
        let mut shown: Vec<_> = reached.as_deref().map(short).into_iter().collect();
        shown.extend(self::shown(&suspects, &command, result));
        sources.extend_from_slice(&shown);
        self.remember(shared, &sources).await?;
        if let (Some(source), Ok(output)) = (untrusted, result) {
            let links = policy::url::links(&all_text(output), source, MAX_LINKS);
            shared.trust.add_links(&self.caller, &links);
        }
        if !changed.is_empty() {
            self.mark(shared, changed).await?;
        }
        Ok(shown)
    }

    async fn remember(&self, shared: &Shared, sources: &[String]) -> Result<(), ToolError> {
        if sources.is_empty() {
            return Ok(());
        }
        let (db, now) = (shared.db.get().await?, shared.world.clock().now());
        for source in sources {
            db.remember_source(&self.caller, source, self.call, now).await?;
        }
        shared.trust.forget_sources(&self.caller);
        Ok(())
    }

    /// What a session writes after it has read untrusted content may come from there. What another
    /// one writes does not.
    async fn mark(&self, shared: &Shared, changed: Vec<Changed>) -> Result<(), ToolError> {
        let db = shared.db.get().await?;
        let version = shared.permissions.version().map_or_else(|| db.version(), Ok)?;
        let sources = shared.trust.sources_at(&shared.db, &self.caller, Some(version)).await?;
        let Some(source) = sources.last() else {
            return self.unmark(shared, db, version, changed).await;
        };
        let (gone, there): (Vec<_>, Vec<_>) = self
            .resolved(shared, changed)
            .await?
            .into_iter()
            .partition(|(kind, _)| *kind == ChangeKind::Deleted);
        let paths = |found: Vec<Found>| found.into_iter().map(|(_, fact)| fact.resolved).collect();
        let (gone, there): (Vec<_>, Vec<_>) = (paths(gone), paths(there));
        let now = shared.world.clock().now();
        db.mark_files(&there, source, self.call, now).await?;
        db.unmark_files(&gone).await?;
        Ok(())
    }

    async fn unmark(
        &self,
        shared: &Shared,
        db: &Db,
        version: i64,
        changed: Vec<Changed>,
    ) -> Result<(), ToolError> {
        let files = shared.trust.files(db, version).await?;
        let (input, runs) = {
            let learnt = self.learnt.now();
            let runs = learnt.plan.as_ref().is_some_and(|plan| plan.command().is_some());
            (learnt.input.clone(), runs)
        };
        // A command may have made the new content of the old.
        if files.is_empty() || runs {
            return Ok(());
        }
        let found = self.resolved(shared, changed).await?.into_iter();
        let marked = found.filter(|(_, fact)| files.contains_key(&fact.resolved));
        let rewritten = marked.filter(|(kind, fact)| match kind {
            ChangeKind::Created | ChangeKind::Deleted => true,
            ChangeKind::Modified => is_all_of(&input, fact.bytes),
        });
        let paths: Vec<_> = rewritten.map(|(_, fact)| fact.resolved).collect();
        if !paths.is_empty() {
            db.unmark_files(&paths).await?;
        }
        Ok(())
    }

    /// Where the changed files really are. What cannot be looked at is not read by anybody either.
    async fn resolved(
        &self,
        shared: &Shared,
        changed: Vec<Changed>,
    ) -> Result<Vec<Found>, ToolError> {
        let disk = shared.world.disk(&self.caller)?;
        let look = move || {
            let found = changed.into_iter().filter_map(|Changed { path, change }| {
                Some((change, disk.look(&Need::Read(path)).ok()?))
            });
            found.collect()
        };
        tokio::task::spawn_blocking(look).await.map_err(ToolError::internal)
    }

    /// The same for what was too long to be shown.
    pub(crate) async fn keep_artifacts(
        &self,
        shared: &Shared,
        source: Option<&String>,
        artifacts: &[ArtifactRef],
    ) -> Result<(), ToolError> {
        let Some(source) = source else { return Ok(()) };
        let paths: Vec<_> =
            artifacts.iter().map(|artifact| format!("artifact:{}", artifact.id)).collect();
        let (db, now) = (shared.db.get().await?, shared.world.clock().now());
        Ok(db.mark_files(&paths, &short(source), self.call, now).await?)
    }
}

/// Where what a call brought comes from, if nobody vouches for it.
fn untrusted(result: &ToolResult) -> Option<&String> {
    result.as_ref().ok().and_then(|output| output.untrusted.as_ref())
}

/// Whom the command of a call could ask for anything, if it ran.
fn reached(learnt: &Learnt) -> Option<String> {
    learnt.place?;
    match &learnt.plan.as_ref()?.command()?.reach {
        Reach::Nobody => None,
        Reach::Hosts(hosts) => Some(format!("a command that reached {}", hosts.join(", "))),
        Reach::Everybody => Some("a command that reached the whole network".to_owned()),
    }
}

/// A changed file, where it is.
type Found = (ChangeKind, PathFact);

/// The sources among `suspects` that the result shows something of, or that the command names.
fn shown(suspects: &[Suspect], command: &str, result: &ToolResult) -> Vec<String> {
    if suspects.is_empty() {
        return Vec::new();
    }
    let text = match result {
        Ok(output) => all_text(output),
        Err(error) => error.to_string(),
    };
    let text = format!("{command}\n{text}");
    suspects
        .iter()
        .filter_map(|suspect| suspect.source(&text))
        .map(|source| short(&source))
        .collect()
}

/// An output that shows something of these is vouched for by nobody either.
fn suspected(shared: &Shared, mut output: ToolOutput, shown: &[String]) -> ToolOutput {
    if output.untrusted.is_none() && !shown.is_empty() {
        // Names of files and hosts have not passed `redact`.
        let settings = shared.settings.load();
        output.untrusted = Some(short(&settings.redactor.text(&shown.join(", "))));
    }
    output
}

/// What a model is given, or a program.
fn all_text(output: &ToolOutput) -> String {
    let text = output.joined_text();
    match &output.value {
        Some(value) if text.is_empty() => value.to_string(),
        _ => text,
    }
}

fn short(source: &str) -> String {
    source.get(..source.floor_char_boundary(MAX_SOURCE)).unwrap_or_default().to_owned()
}

/// Whether some text of the arguments is as long as the file is now: then nothing of what was there is
/// left, while an edit leaves the rest.
fn is_all_of(input: &Value, bytes: u64) -> bool {
    match input {
        Value::String(text) => text.len() as u64 == bytes,
        Value::Array(items) => items.iter().any(|item| is_all_of(item, bytes)),
        Value::Object(fields) => fields.values().any(|value| is_all_of(value, bytes)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
