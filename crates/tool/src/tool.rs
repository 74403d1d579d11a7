//! What a tool is: a struct of arguments that can say what it needs, and run.

use std::{fmt, future::Future, marker::PhantomData, pin::Pin, sync::Arc};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Effect, Effects, Info, Plan, ToolContext, ToolError, ToolInfo, ToolOutput, schema_of};

/// What a tool and every stage around it return.
pub type ToolResult = Result<ToolOutput, ToolError>;

/// A future behind a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A tool, written as the struct of its arguments.
///
/// The `///` comment on the struct is the description the model reads, the `///` on each field
/// describes that parameter. There is no second place to write either.
pub trait Tool: DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// Name the model calls: `snake_case`, unique in a registry.
    const NAME: &'static str;
    /// The most any call can do; a plan beyond it is refused.
    const EFFECTS: &'static [Effect] = &[];
    /// Everything else that is known beforehand.
    const INFO: Info = Info::DEFAULT;

    /// JSON Schema of the structured result, if it has one.
    fn output_schema() -> Option<Value> {
        None
    }

    /// What this call needs. No I/O here: people and policy look at it before anything happens.
    fn plan(&self) -> Plan {
        Plan::default()
    }

    /// Runs the call with what `ctx` offers, which is what was planned.
    fn run(self, ctx: &ToolContext) -> impl Future<Output = ToolResult> + Send;
}

/// A tool with its argument type erased, as the registry keeps it.
///
/// Implement [`Tool`] instead; tools that are not Rust (MCP, WebAssembly) are the exception.
pub trait AnyTool: Send + Sync {
    /// Describes the tool.
    fn info(&self) -> &Arc<ToolInfo>;
    /// Decodes the arguments, once.
    fn prepare(&self, args: Value) -> Result<Box<dyn Prepared>, ToolError>;
}

/// One decoded call. The object that was looked at is the object that runs.
pub trait Prepared: Send + Sync {
    /// What the call needs.
    fn plan(&self) -> Plan;
    /// Runs it, once.
    fn run(self: Box<Self>, ctx: &ToolContext) -> BoxFuture<'_, ToolResult>;
}

impl<T: Tool> Prepared for T {
    fn plan(&self) -> Plan {
        Tool::plan(self)
    }
    fn run(self: Box<Self>, ctx: &ToolContext) -> BoxFuture<'_, ToolResult> {
        Box::pin(Tool::run(*self, ctx))
    }
}

/// A [`Tool`] as an [`AnyTool`].
pub struct Typed<T>(Arc<ToolInfo>, PhantomData<fn() -> T>);

impl<T: Tool> Typed<T> {
    /// Erases `T`.
    pub fn erased() -> Arc<dyn AnyTool> {
        let mut parameters = schema_of::<T>();
        let description = parameters
            .as_object_mut()
            .and_then(|schema| schema.remove("description"))
            .and_then(|text| text.as_str().map(str::to_owned))
            .unwrap_or_default();
        let mut info = ToolInfo::with(T::NAME, &description, parameters, T::INFO);
        info.effects = Effects::of(T::EFFECTS);
        info.output = T::output_schema();
        Arc::new(Self(Arc::new(info), PhantomData))
    }
}

impl<T: Tool> AnyTool for Typed<T> {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.0
    }
    fn prepare(&self, args: Value) -> Result<Box<dyn Prepared>, ToolError> {
        match serde_json::from_value::<T>(args) {
            Ok(call) => Ok(Box::new(call)),
            Err(problem) => Err(ToolError::invalid(T::NAME, "", problem.to_string())),
        }
    }
}

impl<T> fmt::Debug for Typed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tool {}", self.0.name)
    }
}

impl fmt::Debug for dyn AnyTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.info().name)
    }
}
