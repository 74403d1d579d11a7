//! Which tools there are.

use std::sync::Arc;

use insta::assert_snapshot;
use serde_json::{Value, json};
use toolgate::{
    AnyTool, BoxFuture, Info, Plan, Prepared, RegistryError, Requires, ToolContext, ToolError,
    ToolInfo, ToolOutput, ToolResult, builtin,
};

use crate::helper::Setup;

#[test]
fn every_tool_and_parameter_is_described_and_plain() {
    for tool in builtin() {
        let info = tool.info();
        assert!(!info.description.is_empty(), "`{}`", info.name);
        // Some tools take none.
        let parameters = info.parameters["properties"].as_object();
        for (parameter, schema) in parameters.into_iter().flatten() {
            assert!(schema["description"].is_string(), "`{}`: `{parameter}`", info.name);
        }
        let text = info.parameters.to_string();
        for keyword in ["anyOf", "oneOf", "allOf", "null", "$ref"] {
            assert!(!text.contains(&format!("\"{keyword}\"")), "`{}`: {keyword}", info.name);
        }
    }
}

/// What a plugin brings: a name and a schema known only at run time.
struct Plugin(Arc<ToolInfo>);

impl AnyTool for Plugin {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.0
    }
    fn prepare(&self, args: Value) -> Result<Box<dyn Prepared>, ToolError> {
        Ok(Box::new(Echo(args)))
    }
}

struct Echo(Value);

impl Prepared for Echo {
    fn plan(&self) -> Plan {
        Plan::default()
    }
    fn run(self: Box<Self>, _: &ToolContext) -> BoxFuture<'_, ToolResult> {
        Box::pin(async move { Ok(ToolOutput::text(self.0.to_string())) })
    }
}

fn plugin(name: &str, change: impl FnOnce(&mut ToolInfo)) -> Vec<Arc<dyn AnyTool>> {
    let parameters = json!({"type": "object", "additionalProperties": true});
    let mut info = ToolInfo::with(name, "Repeat the arguments.", parameters, Info::DEFAULT);
    change(&mut info);
    vec![Arc::new(Plugin(Arc::new(info)))]
}

#[tokio::test]
async fn tools_come_and_go_at_run_time() {
    let setup = Setup::new();
    let before = setup.gate.registry().snapshot();
    setup.gate.registry().add(plugin("echo", |info| info.aliases = vec!["repeat".into()])).unwrap();
    assert!(before.find("echo").is_none(), "a snapshot does not change");
    for name in ["echo", "Echo", "repeat"] {
        assert_eq!(setup.call(name, json!({"a": 1})).await, "{\"a\":1}");
    }
    setup.gate.registry().remove("echo").unwrap();
    let gone = setup.call("echo", json!({"a": 1})).await;
    assert_eq!(gone, "tool_not_available: Tool `echo` is not available");
}

#[test]
fn bad_definitions_are_refused_and_change_nothing() {
    let setup = Setup::new();
    let registry = setup.gate.registry();
    let many = |info: &mut ToolInfo| {
        let properties = (0..21).map(|n| (format!("p{n}"), json!({"type": "string"})));
        info.parameters["properties"] = Value::Object(properties.collect());
    };
    let deep = |info: &mut ToolInfo| {
        let inner = (0..6).fold(
            json!({"type": "string"}),
            |inner, _| json!({"type": "object", "properties": {"x": inner}}),
        );
        info.parameters = inner;
    };
    let mut report = vec![];
    for tool in [
        plugin("read", |_| {}),
        plugin("apply-patch", |_| {}),
        plugin("ReadFile", |_| {}),
        plugin("other", |info| info.aliases = vec!["readFile".into()]),
        plugin("echo", |info| info.description = " ".into()),
        plugin("echo", |info| info.parameters = json!({"type": "string"})),
        plugin("echo", many),
        plugin("echo", deep),
        plugin("echo", |info| info.depends = vec!["nothing".into()]),
        plugin("echo", |info| info.depends = vec!["echo".into()]),
    ] {
        let before = registry.snapshot().generation();
        let error: RegistryError = registry.add(tool).unwrap_err();
        assert_eq!(registry.snapshot().generation(), before);
        report.push(error.to_string());
    }
    assert_snapshot!(report.join("\n"));
}

#[tokio::test]
async fn what_cannot_work_here_is_listed_with_the_reason() {
    let setup = Setup::new();
    let registry = setup.gate.registry();
    let requires = Requires { platforms: &["plan9"], programs: &[] };
    registry.add(plugin("far", |info| info.requires = requires)).unwrap();
    registry.add(plugin("near", |info| info.depends = vec!["far".into()])).unwrap();
    let programs = Requires { platforms: &[], programs: &["no-such-program-anywhere"] };
    registry.add(plugin("helped", |info| info.requires = programs)).unwrap();
    let snapshot = registry.snapshot();
    assert_eq!(snapshot.unavailable("far"), Some("it works on plan9 only"));
    assert_eq!(snapshot.unavailable("near"), Some("it depends on `far`, which is not available"));
    assert!(snapshot.unavailable("helped").unwrap().contains("no-such-program-anywhere"));
    assert_eq!(setup.outcome("near", json!({})).await.status(), "tool_not_available");
}

#[tokio::test]
async fn a_schema_that_cannot_be_used_sets_only_its_tool_aside() {
    let setup = Setup::new();
    let broken = |info: &mut ToolInfo| {
        info.parameters = json!({"type": "object", "properties": {"x": {"type": "no such type"}}});
    };
    setup.gate.registry().add(plugin("broken", broken)).unwrap();
    assert_eq!(setup.outcome("broken", json!({})).await.status(), "tool_not_available");
    assert_eq!(setup.outcome("get_current_time", json!({})).await.status(), "success");
}
