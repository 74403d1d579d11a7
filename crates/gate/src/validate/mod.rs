//! Arguments as models write them, made into what a tool's schema says.

mod normalise;
mod problem;
mod shape;

use jsonschema::{Draft, Validator};
use serde_json::Value;
use tool::{Problem, ToolInfo};

use self::{normalise::Normalise, shape::ObjectShape};

/// How large arguments may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArgumentLimits {
    pub(crate) string_bytes: usize,
    pub(crate) large_string_bytes: usize,
    pub(crate) array_items: usize,
    pub(crate) depth: usize,
}

/// A tool's schema, taken apart and compiled once.
#[derive(Debug)]
pub(crate) struct Compiled {
    shape: ObjectShape,
    arguments: Validator,
    output: Option<Validator>,
}

impl Compiled {
    pub(crate) fn new(info: &ToolInfo) -> Result<Self, String> {
        let compile = |schema: &Value| {
            jsonschema::options()
                .with_draft(Draft::Draft202012)
                .build(schema)
                .map_err(|error| format!("its schema cannot be used: {error}"))
        };
        Ok(Self {
            shape: ObjectShape::new(&info.parameters, info),
            arguments: compile(&info.parameters)?,
            output: info.output.as_ref().map(compile).transpose()?,
        })
    }

    /// The arguments spelled and typed as the schema has them, or all that is wrong with them.
    pub(crate) fn arguments(
        &self,
        args: Value,
        limits: ArgumentLimits,
    ) -> Result<Value, Vec<Problem>> {
        let mut normalise = Normalise::new(limits);
        let args = normalise.arguments(args, &self.shape);
        let mut problems = normalise.into_problems();
        if !self.arguments.is_valid(&args) {
            // What was said in our own words is not said again.
            let said: Vec<_> = problems.iter().map(|problem| problem.path.clone()).collect();
            let more = self.arguments.iter_errors(&args).map(|error| problem::of(&error));
            problems.extend(more.filter(|problem| !said.contains(&problem.path)));
        }
        if problems.is_empty() { Ok(args) } else { Err(problems) }
    }

    /// What is wrong with a tool's own result, if it said what that looks like.
    pub(crate) fn output(&self, value: &Value) -> Result<(), String> {
        let Some(validator) = &self.output else { return Ok(()) };
        let mut problems =
            validator.iter_errors(value).map(|error| problem::of(&error).to_string());
        problems.next().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests;
