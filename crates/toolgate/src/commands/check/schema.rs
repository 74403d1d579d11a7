//! `toolgate check schema`.

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use toolgate::Format;

use super::{Checker, Input, Shown};
use crate::{cli::Global, context};

/// Show what becomes of the JSON Schema of a tool's arguments on its way to a model.
#[derive(Debug, Args)]
pub(super) struct CheckSchema {
    #[command(flatten)]
    pub(super) input: Input,
    /// The wire format: `openai`, `openai-responses`, `anthropic`, `gemini`, `mcp`, or a provider of the
    /// configuration.
    #[arg(long, value_name = "F")]
    format: String,
}

impl CheckSchema {
    pub(super) fn checker(&self, global: &Global) -> Result<impl Checker> {
        Ok(Schemas(context::format(&context::configuration(global)?, &self.format)?))
    }
}

struct Schemas(Format);

impl Checker for Schemas {
    async fn one(&self, text: &str) -> Result<Shown> {
        match tool::parse_json(text) {
            Ok(input) => {
                let schema = provider::schema(self.0, &input);
                let words = serde_json::to_string_pretty(&schema)?;
                Ok(Shown { json: json!({"input": input, "schema": schema}), words })
            }
            Err(problem) => self.unreadable(text.into(), &format!("not JSON: {problem}")),
        }
    }

    fn unreadable(&self, input: Value, problem: &str) -> Result<Shown> {
        let json = json!({"input": input, "schema": null, "error": problem});
        Ok(Shown { json, words: problem.to_owned() })
    }
}
