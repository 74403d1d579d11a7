//! Programs of the operator's that see calls.

use std::{sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use config::{Config, HookEvent};
use gate::{Before, Hook, HookCall, HookRewrite, PersistedBlocks};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use services::Runner;
use tool::{Block, BoxFuture, ToolOutput, ToolResult};

/// The hooks of the configuration, in order. Each gets a call as JSON on standard input.
#[derive(Debug)]
pub(crate) struct Programs {
    runner: Arc<Runner>,
    programs: ArcSwap<Vec<Program>>,
}

#[derive(Debug)]
struct Program {
    argv: Vec<String>,
    on: HookEvent,
    /// Patterns of tool names; none is all of them.
    tools: Option<Vec<String>>,
    timeout: Duration,
}

/// What a program wants done with a call.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", tag = "action", deny_unknown_fields)]
enum Wish {
    // With braces, because only then is anything else in it refused.
    Continue {},
    Rewrite { arguments: Value },
    Block { reason: String },
    Answer { result: Value },
}

/// What a program wants a transcript to keep of a result.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", tag = "action", deny_unknown_fields)]
enum Keeping {
    Continue {},
    Replace { text: String },
}

impl Programs {
    pub(crate) fn new(runner: Arc<Runner>, config: &Config) -> Self {
        Self { runner, programs: ArcSwap::from_pointee(programs(config)) }
    }

    /// Takes over changed settings.
    pub(crate) fn configure(&self, config: &Config) {
        self.programs.store(Arc::new(programs(config)));
    }

    async fn before(&self, call: HookCall<'_>) -> Result<Before, String> {
        let mut rewrites: Vec<HookRewrite> = Vec::new();
        for program in self.programs.load_full().iter().filter(|p| p.sees(call, HookEvent::Before))
        {
            let asked = json!({
                "event": HookEvent::Before.name(),
                "call": described(call, rewrites.last().map_or(call.args, |last| &last.arguments)),
            });
            match self.ask(program, &asked).await?.unwrap_or(Wish::Continue {}) {
                Wish::Continue {} => {}
                Wish::Rewrite { arguments } => {
                    rewrites.push(HookRewrite { by: program.name().to_owned(), arguments });
                }
                Wish::Block { reason } => return Ok(Before::Block(reason)),
                Wish::Answer { result: Value::String(text) } => {
                    return Ok(Before::Answer(ToolOutput::text(text)));
                }
                Wish::Answer { result } => return Ok(Before::Answer(ToolOutput::json(result))),
            }
        }
        if rewrites.is_empty() {
            return Ok(Before::Continue);
        }
        Ok(Before::Rewrites(rewrites))
    }

    async fn persist(
        &self,
        call: HookCall<'_>,
        output: &ToolOutput,
    ) -> Result<PersistedBlocks, String> {
        let mut kept = None;
        let programs = self.programs.load_full();
        for program in programs.iter().filter(|program| program.sees(call, HookEvent::Persist)) {
            let asked = json!({
                "event": HookEvent::Persist.name(),
                "call": described(call, call.args),
                "outcome": succeeded(output),
            });
            match self.ask(program, &asked).await?.unwrap_or(Keeping::Continue {}) {
                Keeping::Continue {} => {}
                Keeping::Replace { text } => kept = Some(vec![Block::Text(text)]),
            }
        }
        Ok(kept)
    }

    /// What the program answers; `None` if it says nothing.
    async fn ask<T: DeserializeOwned>(
        &self,
        program: &Program,
        asked: &Value,
    ) -> Result<Option<T>, String> {
        let input = asked.to_string();
        let named = |problem: String| format!("hook `{}`: {problem}", program.name());
        let answer = self.runner.filter(&program.argv, input.as_bytes(), program.timeout).await;
        let answer = answer.map_err(named)?;
        if answer.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        let read = serde_json::from_slice(&answer);
        read.map(Some).map_err(|error| named(format!("unreadable answer: {error}")))
    }
}

impl Program {
    /// The program itself, which is how people know it.
    fn name(&self) -> &str {
        self.argv.first().map(String::as_str).unwrap_or_default()
    }

    fn sees(&self, call: HookCall<'_>, on: HookEvent) -> bool {
        let named =
            |tools: &Vec<String>| tools.iter().any(|pattern| policy::matches(pattern, call.tool));
        self.on == on && self.tools.as_ref().is_none_or(named)
    }
}

fn programs(config: &Config) -> Vec<Program> {
    let mut numbered: Vec<_> = config.hooks.iter().collect();
    numbered.sort_by_key(|(number, _)| number.parse().unwrap_or(usize::MAX));
    let program = |(_, hook): (&String, &config::Hook)| Program {
        argv: hook.command.value.iter().map(|word| word.value.clone()).collect(),
        on: hook.on.value,
        tools: hook
            .tools
            .as_ref()
            .map(|names| names.value.iter().map(|name| name.value.clone()).collect()),
        timeout: config.limits.hook_timeout.value,
    };
    numbered.into_iter().map(program).collect()
}

/// A call, as programs see it.
fn described(call: HookCall<'_>, args: &Value) -> Value {
    let HookCall { id, caller, tool, args: _ } = call;
    json!({
        "id": id,
        "tool": tool.name,
        "arguments": args,
        "user": caller.user,
        "agent": caller.agent,
        "session": caller.session,
        "sender": caller.sender,
        "channel": caller.channel,
        "provider": caller.provider,
    })
}

/// A result, as programs see it: as text, as a model reads it, and as JSON if it is that.
fn succeeded(output: &ToolOutput) -> Value {
    let text = match &output.value {
        Some(value) if output.joined_text().is_empty() => value.to_string(),
        _ => output.joined_text(),
    };
    let mut outcome = json!({"status": "success", "text": text});
    if let (Some(fields), Some(value)) = (outcome.as_object_mut(), &output.value) {
        fields.insert("result".to_owned(), value.clone());
    }
    outcome
}

impl Hook for Programs {
    fn name(&self) -> &'static str {
        "hooks"
    }

    fn is_idle(&self) -> bool {
        self.programs.load().is_empty()
    }

    fn patience(&self, each: Duration) -> Duration {
        // Some time on top, so that each can say by itself that it took too long.
        let programs = u32::try_from(self.programs.load().len()).unwrap_or(u32::MAX);
        each.saturating_mul(programs).saturating_add(Duration::from_secs(1))
    }

    fn before_tool_call<'a>(&'a self, call: HookCall<'a>) -> BoxFuture<'a, Result<Before, String>> {
        Box::pin(self.before(call))
    }

    fn tool_result_persist<'a>(
        &'a self,
        call: HookCall<'a>,
        output: &'a ToolOutput,
    ) -> BoxFuture<'a, Result<PersistedBlocks, String>> {
        Box::pin(self.persist(call, output))
    }

    fn after_tool_call<'a>(
        &'a self,
        call: HookCall<'a>,
        result: &'a ToolResult,
        took: Duration,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let programs = self.programs.load_full();
            for program in programs.iter().filter(|program| program.sees(call, HookEvent::After)) {
                let told = json!({
                    "event": HookEvent::After.name(),
                    "call": described(call, call.args),
                    "duration_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
                    "outcome": match result {
                        Ok(output) => succeeded(output),
                        Err(error) => json!({
                            "status": "error",
                            "error_type": error.kind(),
                            "message": error.to_string(),
                        }),
                    },
                });
                if let Err(problem) = self.ask::<Value>(program, &told).await {
                    tracing::warn!(call = %call.id, problem, "a hook failed");
                }
            }
        })
    }
}
