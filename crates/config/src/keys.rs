//! Every key, once. The parser, error messages and the reference read this list.

use crate::{Agent, Config, Key, slot::Slot};

/// Every key, by section.
pub fn keys() -> &'static [Key] {
    KEYS
}

const KEYS: &[Key] = &[
    key(
        "tools.allow",
        "",
        "Only these tools, or groups such as `group:fs`; `*` is all. Unset is no opinion, `[]` is nothing.",
        |c, _| &mut c.tools.allow,
    ),
    key("tools.deny", "", "Never these tools; stronger than any `allow`.", |c, _| {
        &mut c.tools.deny
    }),
    key(
        "tools.ask",
        r#""smart""#,
        "When a person is asked: `auto` never, `smart` before what cannot be undone, `always` before any change.",
        |c, _| &mut c.tools.ask,
    ),
    key(
        "tools.fs.roots",
        "[]",
        "Folders that file tools can see besides the workspace.",
        |c, _| &mut c.tools.fs.roots,
    ),
    key(
        "tools.fs.protected",
        "[]",
        "Paths that no tool may write, besides those that are always protected.",
        |c, _| &mut c.tools.fs.protected,
    ),
    key("agents.<id>.workspace", "", "The folder this agent's file tools work in.", |c, id| {
        &mut agent(c, id).workspace
    }),
    key(
        "agents.<id>.tools.allow",
        "",
        "Only these of the tools that everybody has. Unset is no opinion, `[]` is nothing.",
        |c, id| &mut agent(c, id).tools.allow,
    ),
    key("agents.<id>.tools.deny", "", "Never these tools, for this agent.", |c, id| {
        &mut agent(c, id).tools.deny
    }),
    key(
        "limits.timeout",
        "",
        "How long a call may run. Unset is each tool's own time, 30s where it names none.",
        |c, _| &mut c.limits.timeout,
    ),
    key(
        "limits.timeouts.<tool>",
        "",
        "How long a call of this tool may run; stronger than `limits.timeout`.",
        |c, _| &mut c.limits.timeouts,
    ),
    key("limits.calls_per_agent", "10", "Calls of one agent that run at once.", |c, _| {
        &mut c.limits.calls_per_agent
    }),
    key(
        "limits.waiting_per_agent",
        "100",
        "Calls of one agent that wait for their turn; one more is refused.",
        |c, _| &mut c.limits.waiting_per_agent,
    ),
    key("limits.calls_total", "256", "Calls of all agents that run at once.", |c, _| {
        &mut c.limits.calls_total
    }),
    key(
        "limits.open_questions",
        "5",
        "Questions to a person that one session may have open.",
        |c, _| &mut c.limits.open_questions,
    ),
    key(
        "limits.approval_timeout",
        r#""30m""#,
        "How long a question waits for a person; after that the answer is no.",
        |c, _| &mut c.limits.approval_timeout,
    ),
    key(
        "limits.hook_timeout",
        r#""5s""#,
        "How long a hook may take; after that the call is refused.",
        |c, _| &mut c.limits.hook_timeout,
    ),
    key("limits.output_bytes", r#""10MB""#, "What is kept of the output of a call.", |c, _| {
        &mut c.limits.output_bytes
    }),
    key(
        "limits.model_output_bytes",
        r#""50KB""#,
        "What a model gets of the output; the rest is an artifact it can read in parts.",
        |c, _| &mut c.limits.model_output_bytes,
    ),
    key("limits.string_bytes", r#""100KB""#, "The longest text in the arguments.", |c, _| {
        &mut c.limits.string_bytes
    }),
    key(
        "limits.large_string_bytes",
        r#""10MB""#,
        "The longest text where a whole file is expected, such as the content of `write`.",
        |c, _| &mut c.limits.large_string_bytes,
    ),
    key("limits.array_items", "1000", "The longest list in the arguments.", |c, _| {
        &mut c.limits.array_items
    }),
    key("limits.depth", "5", "How deep the arguments may be nested.", |c, _| &mut c.limits.depth),
    key("limits.parameters", "20", "How many arguments a call may have.", |c, _| {
        &mut c.limits.parameters
    }),
    key(
        "limits.file_bytes",
        r#""100MB""#,
        "The largest file a tool may read or change.",
        |c, _| &mut c.limits.file_bytes,
    ),
    key(
        "limits.image_pixels",
        "8000",
        "The longest side of an image that goes to a model.",
        |c, _| &mut c.limits.image_pixels,
    ),
    key("limits.image_bytes", r#""5MB""#, "The largest image that goes to a model.", |c, _| {
        &mut c.limits.image_bytes
    }),
    key(
        "limits.cache_bytes",
        r#""64MB""#,
        "Memory for results that may be used again; 0 switches that off.",
        |c, _| &mut c.limits.cache_bytes,
    ),
    key(
        "limits.rates.<tool>",
        "",
        "How often one user may call this tool. Unset is the tool's own rate.",
        |c, _| &mut c.limits.rates,
    ),
    key(
        "secrets.<name>",
        "",
        "Where a secret is. Its value is removed from every output and from the journal.",
        |c, _| &mut c.secrets,
    ),
    key(
        "store.keep_bytes",
        r#""1GB""#,
        "Disk space for undo data and artifacts; the oldest go first.",
        |c, _| &mut c.store.keep_bytes,
    ),
    key("store.keep_days", "30", "Days for which undo data and artifacts are kept.", |c, _| {
        &mut c.store.keep_days
    }),
    key(
        "store.payload_days",
        "",
        "Days for which the journal keeps arguments and outputs. Unset is for ever.",
        |c, _| &mut c.store.payload_days,
    ),
];

const fn key(
    path: &'static str,
    default: &'static str,
    help: &'static str,
    slot: for<'a> fn(&'a mut Config, &str) -> &'a mut dyn Slot,
) -> Key {
    Key { path, default, help, slot }
}

fn agent<'a>(config: &'a mut Config, id: &str) -> &'a mut Agent {
    config.agents.entry(id.to_owned()).or_default()
}
