//! Bounds what goes out.

use std::sync::Arc;

use tool::{ArtifactId, Block, CallId, Caller, ToolError, ToolOutput, ToolResult, Unfinished};

use crate::{
    call::Call,
    json_size::{fitted, text_bytes},
    pipeline::{Next, Stage},
    registry::Entry,
    settings::Settings,
    shared::Shared,
    trail::Trail,
};

/// An error longer than this is cut; nobody reads more of it.
const MAX_ERROR: usize = 10_000;

/// Text for a model is cut at the end of a line, unless more than this would be lost by it.
const MAX_LOST_TO_LINE_END: usize = 4_000;

/// Less text than this cannot be too long as JSON, and is not measured.
const MAX_UNMEASURED: usize = 64 * 1024;

/// Cuts text for the model and keeps the rest as an artifact, checks results and images.
#[derive(Debug)]
pub(crate) struct Shape(pub(crate) Arc<Shared>);

impl Stage for Shape {
    const NAME: &'static str = "shape";

    async fn handle(&self, call: Box<Call>, next: Next<'_>) -> ToolResult {
        let (id, caller, learnt) = (call.id, call.caller.clone(), call.learnt.clone());
        let settings = self.0.settings.load_full();
        let trail = Trail::of(&call);
        // The output of a call that was ended is bounded and marked like any other.
        let (result, ended) = match next.run(call).await {
            Err(ToolError::Unfinished(unfinished)) => {
                let Unfinished { timed_out, message, output } = *unfinished;
                (Ok(output), Some((timed_out, cut_error(&message))))
            }
            result => (result, None),
        };
        let mut output = match trail.keep(&self.0, result).await {
            Ok(output) => output,
            Err(error) => return Err(error.map_text(&|text| cut_error(text))),
        };
        let name = learnt.now().tool.clone();
        let snapshot = self.0.registry.snapshot();
        if let Some(entry) = name.and_then(|name| snapshot.find(&name).cloned()) {
            check_value(&entry, &output)?;
        }
        output.blocks = output.blocks.into_iter().map(|block| image(block, &settings)).collect();
        output = bounded(output, settings.output_bytes()).await?;
        self.spill(&mut output, id, &caller, &settings).await?;
        if !output.artifacts.is_empty() {
            let kept = trail.keep_artifacts(&self.0, output.untrusted.as_ref(), &output.artifacts);
            Box::pin(kept).await?;
        }
        mark_untrusted(id, &mut output);
        match ended {
            Some((timed_out, message)) => Err(ToolError::unfinished(timed_out, message, output)),
            None => Ok(output),
        }
    }
}

impl Shape {
    /// Text beyond what a model gets becomes an artifact that `read` can page through.
    async fn spill(
        &self,
        output: &mut ToolOutput,
        call: CallId,
        caller: &Arc<Caller>,
        settings: &Settings,
    ) -> Result<(), ToolError> {
        let (model, most) = (settings.model_output_bytes(), settings.output_bytes());
        let (mut text, mime) = match &output.value {
            Some(value) if output.text_bytes() == 0 => (value.to_string(), "application/json"),
            _ if output.text_bytes() <= model => return Ok(()),
            _ => (output.take_text(), "text/plain"),
        };
        if text.len() <= model {
            return Ok(());
        }
        let total = text.len();
        let head = text.get(..cut_for_model(&text, model)).unwrap_or_default().to_owned();
        // There may be megabytes of it: kept as it is, and no longer in the output.
        text.truncate(text.floor_char_boundary(most));
        output.take_text();
        let artifact = {
            let (store, caller) = (self.0.world.artifacts(), caller.clone());
            let id = ArtifactId::new(call, output.artifacts.len());
            let put = move || store.put(&caller, id, mime, text.as_bytes());
            tokio::task::spawn_blocking(put).await.map_err(ToolError::internal)??
        };
        let lost =
            if total > most { format!(" (of {total}; the rest is lost)") } else { String::new() };
        // Where `read` goes on: a line, and a byte within it.
        let line = head.matches('\n').count() + 1;
        let byte = head.len() - head.rfind('\n').map_or(0, |newline| newline + 1);
        let notice = format!(
            "[cut after {} bytes; all {} bytes{lost} are in `artifact:{id}`: continue with `read`, path \
             `artifact:{id}`, offset {line}{}]",
            head.len(),
            artifact.bytes,
            if byte > 0 { format!(", fromByte {byte}") } else { String::new() },
            id = artifact.id,
        );
        let gap = if head.ends_with('\n') { "" } else { "\n" };
        output.blocks.insert(0, Block::Text(format!("{head}{gap}{notice}")));
        output.artifacts.push(artifact);
        Ok(())
    }
}

/// Where text for a model ends: behind a line, unless the line is long.
fn cut_for_model(text: &str, max: usize) -> usize {
    let end = text.floor_char_boundary(max);
    let newline = text.get(..end).and_then(|head| head.rfind('\n'));
    newline
        .map(|newline| newline + 1)
        .filter(|cut| end - cut <= MAX_LOST_TO_LINE_END)
        .unwrap_or(end)
}

/// The output with a value that is no longer than `max` bytes as JSON.
async fn bounded(output: ToolOutput, max: usize) -> Result<ToolOutput, ToolError> {
    if output.value.as_ref().is_none_or(|value| text_bytes(value) <= MAX_UNMEASURED.min(max / 6)) {
        return Ok(output);
    }
    let work = move || ToolOutput { value: output.value.and_then(|it| fitted(it, max)), ..output };
    tokio::task::spawn_blocking(work).await.map_err(ToolError::internal)
}

fn cut_error(text: &str) -> String {
    match text.get(..text.floor_char_boundary(MAX_ERROR)) {
        Some(head) if head.len() < text.len() => format!("{head} … (cut)"),
        _ => text.to_owned(),
    }
}

/// A result that does not fit what the tool itself promised is not passed on as if it did.
fn check_value(entry: &Entry, output: &ToolOutput) -> Result<(), ToolError> {
    let (Ok(compiled), Some(value), None) = (entry.compiled(), &output.value, &output.answered_by)
    else {
        return Ok(());
    };
    compiled.output(value).map_err(|problem| {
        ToolError::failed_by("the tool's result does not fit its own output schema", problem)
    })
}

/// An image that a model would refuse becomes a sentence about it.
fn image(block: Block, settings: &Settings) -> Block {
    let Block::Image { mime, data } = block else { return block };
    let limits = &settings.config.limits;
    let (max_bytes, max_pixels) = (limits.image_bytes.value, limits.image_pixels.value as usize);
    let size = imagesize::blob_size(&data).map(|size| (size.width, size.height));
    let problem = match size {
        _ if data.len() as u64 > max_bytes => format!("{} bytes, at most {max_bytes}", data.len()),
        Ok((width, height)) if width.max(height) > max_pixels => {
            format!("{width} × {height} pixels, at most {max_pixels} a side")
        }
        Err(_) => "it cannot be read as an image".to_owned(),
        Ok(_) => return Block::Image { mime, data },
    };
    Block::Text(format!("[an image ({mime}) that cannot be shown to a model: {problem}]"))
}

/// Content nobody vouches for is fenced, so that a model does not take it for instructions.
fn mark_untrusted(call: CallId, output: &mut ToolOutput) {
    let Some(source) = output.untrusted.clone() else { return };
    // A value without a text of its own becomes one later, and would not be fenced then.
    if let Some(value) = output.value.as_ref().filter(|_| output.text_bytes() == 0) {
        output.blocks.insert(0, Block::Text(value.to_string()));
    }
    let kept = output.transcript.iter_mut().flatten();
    for block in output.blocks.iter_mut().chain(kept) {
        if let Block::Text(text) = block {
            *text = ToolOutput::fenced(call, &source, text);
        }
    }
}
