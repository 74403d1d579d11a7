//! The tools that the suite calls, in the gate.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate::{
    AnyTool, BoxFuture, Plan, Prepared, ToolContext, ToolError, ToolInfo, ToolOutput, ToolResult,
};

use crate::{
    fixture::defined,
    script::{Script, Step, ask, form, roots, sample, text_block},
};

/// The smallest image there is: one pixel.
pub(crate) const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGMAAQAABQABDQottAAAAABJRU5ErkJggg==";
pub(crate) const PIXEL_BYTES: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0x1f, 0x15, 0xc4,
    0x89, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x00, 0x01, 0x00, 0x00,
    0x05, 0x00, 0x01, 0x0d, 0x0a, 0x2d, 0xb4, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae,
    0x42, 0x60, 0x82,
];
/// A sound of one sample.
const SOUND: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

/// The tools that are for tasks, an extension that is not offered.
const FOR_TASKS: [&str; 7] = [
    "confirm_delete",
    "failing_job",
    "greet",
    "multi_input",
    "protocol_error_job",
    "slow_compute",
    "test_tool_with_task",
];

/// A tool as the suite defines it.
struct Defined(Arc<ToolInfo>);

/// One call of it.
struct Made {
    name: Arc<str>,
    args: Value,
}

/// Every tool of the suite.
pub(crate) fn all() -> Vec<Arc<dyn AnyTool>> {
    let tools = defined()["tools"].as_array().unwrap();
    let text = |tool: &Value, field: &str| tool[field].as_str().unwrap().to_owned();
    let infos = tools.iter().map(|tool| {
        ToolInfo::new(&text(tool, "name"), &text(tool, "description"), tool["inputSchema"].clone())
    });
    infos.filter(|info| !FOR_TASKS.contains(&&*info.name)).map(added).collect()
}

/// One that comes and goes.
pub(crate) fn another() -> Arc<dyn AnyTool> {
    let parameters = json!({"type": "object", "properties": {}});
    added(ToolInfo::new("test_another", "Is there for a while", parameters))
}

fn added(info: ToolInfo) -> Arc<dyn AnyTool> {
    Arc::new(Defined(Arc::new(info)))
}

impl AnyTool for Defined {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.0
    }

    fn prepare(&self, args: Value) -> Result<Box<dyn Prepared>, ToolError> {
        Ok(Box::new(Made { name: self.0.name.clone(), args }))
    }
}

impl Prepared for Made {
    fn plan(&self) -> Plan {
        Plan::default()
    }

    fn run(self: Box<Self>, ctx: &ToolContext) -> BoxFuture<'_, ToolResult> {
        Box::pin(async move {
            match &*self.name {
                "test_simple_text" => {
                    Ok(ToolOutput::text("This is a simple text response for testing."))
                }
                "test_image_content" => {
                    Ok(ToolOutput::default().with_image("image/png", PIXEL_BYTES.to_vec()))
                }
                "test_error_handling" => {
                    Err(ToolError::failed("This tool intentionally returns an error for testing"))
                }
                "test_tool_with_progress" => {
                    // Long enough that some of each piece gets through before the next one comes.
                    for percent in [0, 50, 100] {
                        ctx.update(&format!("{percent} of 100 things are done\n")).await;
                    }
                    Ok(ToolOutput::text("All of it is done."))
                }
                name => Ok(ToolOutput::json(script(name, &self.args))),
            }
        })
    }
}

/// What a tool does that needs the client.
fn script(name: &str, args: &Value) -> Script {
    let arg = |name: &str| args[name].as_str().unwrap_or_default();
    let text = json!({"type": "string"});
    let flag = json!({"type": "boolean"});
    match name {
        "test_tool_with_logging" | "test_logging_tool" => {
            let logged =
                ["Tool execution started", "Tool processing data", "Tool execution completed"];
            Script::steps(logged.map(|text| Step::Log(text.to_owned())), "It was logged.")
        }
        "test_sampling" => {
            let step = ask([("sampled", sample(arg("prompt")))]);
            Script::steps([step], "LLM response:")
        }
        "test_elicitation" => {
            let fields = json!({
                "username": {"type": "string", "description": "User's response"},
                "email": {"type": "string", "description": "User's email address"},
            });
            Script::steps([ask([("user", form(arg("message"), &fields))])], "User response:")
        }
        "test_elicitation_sep1034_defaults" => asks(&defaults()),
        "test_elicitation_sep1330_enums" => asks(&choices()),
        "test_trigger_tool_change" => Script::steps([Step::ChangeTools], "The tools are others."),
        "test_trigger_prompt_change" => {
            Script::steps([Step::ChangePrompts], "The prompts are others.")
        }
        "test_missing_capability" => {
            Script::steps([Step::Needs("sampling".to_owned())], "The client has it.")
        }
        "test_streaming_elicitation" | "test_input_required_result_tampered_state" => {
            asks(&json!({"ok": flag}))
        }
        "test_input_required_result_elicitation" => {
            let step = ask([("user_name", form("What is your name?", &json!({"name": text})))]);
            Script::steps([step], "Hello!")
        }
        "test_input_required_result_sampling" => {
            let step = ask([("capital_question", sample("What is the capital of France?"))]);
            Script::steps([step], "The answer:")
        }
        "test_input_required_result_list_roots" => {
            Script::steps([ask([("client_roots", roots())])], "The roots:")
        }
        "test_input_required_result_request_state" => Script::steps(
            [ask([("confirm", form("Please confirm", &json!({"ok": flag})))])],
            "state-ok",
        ),
        "test_input_required_result_multiple_inputs"
        | "test_input_required_result_capabilities" => {
            let step = ask([
                ("user_name", form("What is your name?", &json!({"name": text}))),
                ("greeting", sample("Generate a greeting")),
                ("client_roots", roots()),
            ]);
            Script::steps([step], "All of it:")
        }
        "test_input_required_result_multi_round" => {
            let steps = [
                ask([("step1", form("Step 1: What is your name?", &json!({"name": text})))]),
                ask([(
                    "step2",
                    form("Step 2: What is your favorite color?", &json!({"color": text})),
                )]),
            ];
            Script::steps(steps, "Both:")
        }
        other => Script::content(content(other, args)),
    }
}

/// Kinds of content that no tool of ours returns.
fn content(name: &str, args: &Value) -> Vec<Value> {
    match name {
        "test_audio_content" => {
            vec![json!({"type": "audio", "data": SOUND, "mimeType": "audio/wav"})]
        }
        "test_embedded_resource" => vec![json!({"type": "resource", "resource": {
            "uri": "test://embedded-resource",
            "mimeType": "text/plain",
            "text": "This is an embedded resource content.",
        }})],
        "test_multiple_content_types" => vec![
            text_block("Multiple content types test:"),
            json!({"type": "image", "data": PIXEL, "mimeType": "image/png"}),
            json!({"type": "resource", "resource": {
                "uri": "test://mixed-content-resource",
                "mimeType": "application/json",
                "text": r#"{"test":"data","value":123}"#,
            }}),
        ],
        // The rest is only looked at, or called for the way it comes.
        other => vec![text_block(&format!("{other} was called with {args}"))],
    }
}

fn asks(fields: &Value) -> Script {
    Script::steps([ask([("form", form("Please fill this in", fields))])], "Elicitation completed:")
}

fn defaults() -> Value {
    json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": true},
    })
}

fn choices() -> Value {
    let titled = |titles: [&str; 3]| {
        let values = ["value1", "value2", "value3"].into_iter().zip(titles);
        values.map(|(value, title)| json!({"const": value, "title": title})).collect::<Vec<_>>()
    };
    let options = ["option1", "option2", "option3"];
    json!({
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {
            "type": "string",
            "oneOf": titled(["First Option", "Second Option", "Third Option"]),
        },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {
            "type": "array",
            "items": {"anyOf": titled(["First Choice", "Second Choice", "Third Choice"])},
        },
    })
}
