//! Takes secrets out of everything that leaves a call.

use std::sync::Arc;

use tokio::sync::Mutex;
use tool::{Block, BoxFuture, ToolError, ToolOutput, ToolResult, UpdateSink, Updates};

use crate::{
    call::Call,
    pipeline::{Next, Stage},
    redactor::Redactor,
    settings::Settings,
    shared::Shared,
    stream::Held,
};

/// Beyond the output limit this much is looked at too, so that the cut hides no half of a secret.
const SLACK: usize = 16 * 1024;

/// Large text is worked on where it holds up no other call.
const LARGE: usize = 64 * 1024;

/// Redacts results, errors and partial results.
#[derive(Debug)]
pub(crate) struct Redact(pub(crate) Arc<Shared>);

impl Stage for Redact {
    const NAME: &'static str = "redact";

    async fn handle(&self, mut call: Box<Call>, next: Next<'_>) -> ToolResult {
        let settings = self.0.settings.load_full();
        let updates = RedactingSink::around(&mut call.updates, &settings);
        let result = next.run(call).await;
        if let Some(updates) = updates {
            updates.flush().await;
        }
        match result {
            Ok(output) => clean_output(output, settings).await,
            Err(ToolError::Unfinished(mut unfinished)) => {
                unfinished.message = settings.redactor.text(&unfinished.message).into_owned();
                unfinished.output = clean_output(unfinished.output, settings).await?;
                Err(ToolError::Unfinished(unfinished))
            }
            Err(error) => Err(error.map_text(&|text| settings.redactor.text(text).into_owned())),
        }
    }
}

async fn clean_output(output: ToolOutput, settings: Arc<Settings>) -> ToolResult {
    if weight(&output) <= LARGE {
        return Ok(redacted(output, &settings));
    }
    let work = move || redacted(output, &settings);
    tokio::task::spawn_blocking(work).await.map_err(ToolError::internal)
}

fn weight(output: &ToolOutput) -> usize {
    let texts = output.blocks.iter().map(|block| match block {
        Block::Text(text) => text.len(),
        Block::Image { .. } => 0,
    });
    texts.sum::<usize>() + if output.value.is_some() { LARGE / 2 } else { 0 }
}

fn redacted(output: ToolOutput, settings: &Settings) -> ToolOutput {
    let Settings { redactor, .. } = settings;
    let max = settings.output_bytes().saturating_add(SLACK);
    let blocks = |blocks: Vec<Block>| blocks.into_iter().map(|b| block(b, redactor, max)).collect();
    ToolOutput {
        blocks: blocks(output.blocks),
        value: output.value.map(|value| redactor.cleaned(value)),
        transcript: output.transcript.map(blocks),
        artifacts: output.artifacts,
        usage: output.usage,
        untrusted: output.untrusted.map(|source| redactor.text(&source).into_owned()),
        answered_by: output.answered_by,
    }
}

fn block(block: Block, redactor: &Redactor, max: usize) -> Block {
    match block {
        Block::Text(mut text) => {
            text.truncate(text.floor_char_boundary(max));
            Block::Text(redactor.clean(text))
        }
        image @ Block::Image { .. } => image,
    }
}

/// Passes partial results on without the secrets in them, also those cut in two.
#[derive(Debug)]
struct RedactingSink {
    to: Updates,
    settings: Arc<Settings>,
    held: Mutex<Held>,
}

impl RedactingSink {
    fn around(updates: &mut Updates, settings: &Arc<Settings>) -> Option<Arc<Self>> {
        if !updates.is_heard() {
            return None;
        }
        let (to, settings) = (updates.clone(), settings.clone());
        let sink = Arc::new(Self { to, settings, held: Mutex::new(Held::default()) });
        *updates = Updates::to(sink.clone());
        Some(sink)
    }

    async fn flush(&self) {
        let rest = self.held.lock().await.take_all(&self.settings.redactor);
        if !rest.is_empty() {
            self.to.send(&rest).await;
        }
    }
}

impl UpdateSink for RedactingSink {
    fn send<'a>(&'a self, text: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let ready = self.held.lock().await.push(text, &self.settings.redactor);
            if !ready.is_empty() {
                self.to.send(&ready).await;
            }
        })
    }
}
