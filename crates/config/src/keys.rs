//! Every key, once. The parser, error messages and the reference read this list.

use std::{collections::BTreeMap, sync::LazyLock};

use crate::{Agent, Config, Hook, Key, Layer, Provider, SafeBin, User, key::FindSlot};

/// Every key, by section.
pub fn keys() -> &'static [Key] {
    &KEYS
}

/// The lists of a layer.
macro_rules! lists {
    ($path:literal, $who:literal, |$config:ident, $names:tt| $layer:expr) => {
        [
            key(
                concat!($path, ".allow"),
                "",
                concat!("Only these tools ", $who, ". Unset is no opinion, `[]` is nothing."),
                |$config, $names| &mut $layer.allow,
            ),
            key(
                concat!($path, ".also_allow"),
                "",
                concat!("These tools too ", $who, ", besides what the rest of this table allows."),
                |$config, $names| &mut $layer.also_allow,
            ),
            key(
                concat!($path, ".deny"),
                "",
                concat!("Never these tools ", $who, "; stronger than any `allow`."),
                |$config, $names| &mut $layer.deny,
            ),
        ]
    };
}

/// The profile and the lists of a layer.
macro_rules! layer {
    ($path:literal, $who:literal, |$config:ident, $names:tt| $layer:expr) => {{
        let profile = key(
            concat!($path, ".profile"),
            "",
            concat!("Only the tools of this set ", $who, "."),
            |$config, $names| &mut $layer.profile,
        );
        let [allow, also_allow, deny] = lists!($path, $who, |$config, $names| $layer);
        [profile, allow, also_allow, deny]
    }};
}

static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    [
        TOOLS,
        &layer!(
            "tools.by_provider.<provider>",
            "when a model of this provider asks",
            |c, names| named(&mut c.tools.by_provider, names)
        ),
        &layer!("tools.by_channel.<channel>", "on this channel", |c, names| named(
            &mut c.tools.by_channel,
            names
        )),
        &layer!("tools.by_sender.<sender>", "for this sender", |c, names| named(
            &mut c.tools.by_sender,
            names
        )),
        &lists!("tools.sandbox", "in a sandbox", |c, _| c.tools.sandbox),
        &lists!("tools.subagents", "for an agent that another one started", |c, _| c
            .tools
            .subagents),
        SUBAGENTS,
        EXEC,
        WEB,
        AGENTS,
        &lists!("agents.<id>.tools", "for this agent", |c, names| agent(c, names).tools),
        &layer!(
            "agents.<id>.tools.by_provider.<provider>",
            "for this agent when a model of this provider asks",
            |c, names| named(&mut agent(c, names).tools.by_provider, names)
        ),
        USERS,
        REST,
        SERVER,
    ]
    .concat()
});

const TOOLS: &[Key] = &[
    key(
        "tools.profile",
        "",
        "The set of tools to start from. Unset is `full` for the owner, `gateway` for anybody else.",
        |c, _| &mut c.tools.profile,
    ),
    key(
        "tools.allow",
        "",
        "Only these tools, or groups such as `group:fs`; `*` is all. Unset is no opinion, `[]` is nothing.",
        |c, _| &mut c.tools.allow,
    ),
    key(
        "tools.also_allow",
        "",
        "These tools too, besides those of `tools.profile` or `tools.allow`.",
        |c, _| &mut c.tools.also_allow,
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
        "tools.approvers",
        "[]",
        "Users who may answer questions besides the owner, by their ids; never about calls on their own behalf.",
        |c, _| &mut c.tools.approvers,
    ),
    key(
        "tools.apply_patch.models",
        "",
        "Only these models are offered `apply_patch`: `gpt-*`, or with its provider `openai/*`. Unset is every model; calls that no model makes are not concerned.",
        |c, _| &mut c.tools.apply_patch.models,
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
];

const SUBAGENTS: &[Key] = &[
    key(
        "tools.subagents.agents",
        "",
        "Agents that an agent may start; `*` is any. Unset is only itself.",
        |c, _| &mut c.tools.agents,
    ),
    key(
        "tools.subagents.max_depth",
        "3",
        "How deep agents may start agents; the deepest may start none.",
        |c, _| &mut c.tools.max_depth,
    ),
];

const EXEC: &[Key] = &[
    key(
        "tools.exec.host",
        r#""sandbox""#,
        "Where commands run unless a call says otherwise. A call can ask for `host` only if this says so.",
        |c, _| &mut c.tools.exec.host,
    ),
    key(
        "tools.exec.security",
        r#""full""#,
        "Which commands run: `full` any, `safe-bin` what is known to be harmless and the rest if a person agrees, `paranoid` only what is known to be harmless. That runs without a shell, and in the sandbox without network and on a workspace that it cannot change.",
        |c, _| &mut c.tools.exec.security,
    ),
    key(
        "tools.exec.ask",
        "",
        "When a person is asked about a command. Unset is as `tools.ask`; the stricter of the two holds.",
        |c, _| &mut c.tools.exec.ask,
    ),
    key("tools.exec.timeout", r#""30m""#, "How long a command may run.", |c, _| {
        &mut c.tools.exec.timeout
    }),
    key(
        "tools.exec.env",
        "[]",
        "Variables of Toolgate's own environment that commands get, by name.",
        |c, _| &mut c.tools.exec.env,
    ),
    key(
        "tools.exec.network.allow",
        "[]",
        "Hosts that commands reach, through a proxy that lets nothing else pass. A command that reaches somebody asks before it runs.",
        |c, _| &mut c.tools.exec.network.allow,
    ),
    key(
        "tools.exec.network.access",
        r#""ask""#,
        "`ask` asks about commands that are known to need the network, such as `git push`, and lets them reach public hosts if a person agrees, or the hosts of `allow` if there are any; `listed` lets them reach the hosts of `allow` and never any other; `full` gives commands the whole network of this machine, without a proxy.",
        |c, _| &mut c.tools.exec.network.access,
    ),
    key(
        "tools.exec.trusted_folders",
        "[]",
        "Folders whose programs can be harmless besides `/usr/bin` and `/bin`. Nobody but you may be able to change what is in them.",
        |c, _| &mut c.tools.exec.trusted_folders,
    ),
    key(
        "tools.exec.safe_bins.<number>.program",
        "",
        "A program that is harmless with the options and operands below, besides the built-in list; a subcommand stands after a space: `cargo tree`.",
        |c, names| &mut safe_bin(c, names).program,
    ),
    key(
        "tools.exec.safe_bins.<number>.options",
        "[]",
        "The options it may have: `-v`, `--depth:text` with a value, `--file:path` with a path in the workspace, `--color?text` with one that may be left out. Any other is not harmless.",
        |c, names| &mut safe_bin(c, names).options,
    ),
    key(
        "tools.exec.safe_bins.<number>.operands",
        r#""none""#,
        "What may stand besides options. Paths stay within the workspace.",
        |c, names| &mut safe_bin(c, names).operands,
    ),
    key(
        "tools.exec.safe_bins.<number>.max_operands",
        "",
        "The most there may be of them. Unset is any number.",
        |c, names| &mut safe_bin(c, names).max_operands,
    ),
    key(
        "tools.exec.safe_bins.<number>.matches",
        "[]",
        "Lines that this makes harmless, at least one; checked when the file is read.",
        |c, names| &mut safe_bin(c, names).matches,
    ),
    key(
        "tools.exec.safe_bins.<number>.refuses",
        "[]",
        "Lines of the same program that are not harmless, at least one; checked when the file is read.",
        |c, names| &mut safe_bin(c, names).refuses,
    ),
    key(
        "tools.sandbox.minimum",
        r#""auto""#,
        "The least isolation a machine must offer. `auto` takes the best there is, and says so where that is not full. `full` refuses commands where namespaces are forbidden. `reduced` accepts Landlock and seccomp alone without a warning.",
        |c, _| &mut c.tools.isolation.minimum,
    ),
    key(
        "tools.sandbox.read",
        "[]",
        "Folders that commands can read besides the system's own and the usual toolchains in your home folder.",
        |c, _| &mut c.tools.isolation.read,
    ),
    key(
        "tools.sandbox.memory",
        "",
        "Memory of a command with all its processes. Unset is a quarter of the machine's, at least 2 GB.",
        |c, _| &mut c.tools.isolation.memory,
    ),
    key(
        "tools.sandbox.processes",
        "",
        "Processes and threads of a command. Unset is 2048.",
        |c, _| &mut c.tools.isolation.processes,
    ),
    key(
        "tools.sandbox.open_files",
        "",
        "Files that one process of a command may have open. Unset is 1024.",
        |c, _| &mut c.tools.isolation.open_files,
    ),
    key(
        "tools.sandbox.written",
        "",
        "What a command may write to disk in all. Unset is 10 GB.",
        |c, _| &mut c.tools.isolation.written,
    ),
    key(
        "tools.sandbox.cpu_percent",
        "",
        "Processor time of a command, in per cent of one core. Unset is all there is.",
        |c, _| &mut c.tools.isolation.cpu_percent,
    ),
    key(
        "tools.elevated.enabled",
        "false",
        "Whether a call may ask to run one command outside the sandbox. A person is always asked.",
        |c, _| &mut c.tools.elevated.enabled,
    ),
    key(
        "tools.elevated.allow_from",
        "[]",
        "Senders whose calls may ask for that: a name, `CHANNEL:NAME`, `CHANNEL:*` or `*`. Where a request names no sender, its user is meant.",
        |c, _| &mut c.tools.elevated.allow_from,
    ),
];

const WEB: &[Key] = &[
    key(
        "tools.web.network.allow",
        r#"["*"]"#,
        "Hosts that tools reach: `*` is every public host on the usual ports (80, 443, 8080, 8443). A private address, a name of a local network and another port must be named: `10.1.0.0/16`, `wiki.internal`, `example.org:9200`. `[]` is nobody.",
        |c, _| &mut c.tools.web.network.allow,
    ),
    key(
        "tools.web.network.deny",
        "[]",
        "Hosts that tools never reach, by name or by address; stronger than `allow`.",
        |c, _| &mut c.tools.web.network.deny,
    ),
    key(
        "tools.web.fetch.timeout",
        r#""30s""#,
        "How long a request may take, redirects and the whole answer included.",
        |c, _| &mut c.tools.web.fetch.timeout,
    ),
    key(
        "tools.web.fetch.max_bytes",
        r#""1MB""#,
        "What is read of an answer, decompressed; the rest is left out. A model gets `limits.model_output_bytes` of it, and the whole as an artifact.",
        |c, _| &mut c.tools.web.fetch.max_bytes,
    ),
    key("tools.web.fetch.max_redirects", "5", "How many redirects a request follows.", |c, _| {
        &mut c.tools.web.fetch.max_redirects
    }),
];

const AGENTS: &[Key] = &[
    key(
        "agents.<id>.description",
        "",
        "What this agent is for, as people and other agents are told.",
        |c, names| &mut agent(c, names).description,
    ),
    key(
        "agents.<id>.model",
        "",
        "The model: `provider/model`, a provider alone for its usual model, or a model of the default provider. Unset is the first provider that is configured or whose key is in the environment; if there is none, a small built-in demo.",
        |c, names| &mut agent(c, names).model,
    ),
    key(
        "agents.<id>.prompt",
        "",
        "What the model is told before anything else. A file is read anew for every run.",
        |c, names| &mut agent(c, names).prompt,
    ),
    key(
        "agents.<id>.max_tokens",
        "",
        "How long one answer of the model may be. Unset is as its provider likes.",
        |c, names| &mut agent(c, names).max_tokens,
    ),
    key(
        "agents.<id>.temperature",
        "",
        "How much the model leaves to chance; 0 is as little as it can.",
        |c, names| &mut agent(c, names).temperature,
    ),
    key(
        "agents.<id>.subagents",
        "",
        "Agents that this one may start; `*` is any. Unset is as `tools.subagents.agents`.",
        |c, names| &mut agent(c, names).subagents,
    ),
    key(
        "agents.<id>.sessions",
        "",
        "Agents whose sessions this one may see besides its own; `*` is any. Unset is none.",
        |c, names| &mut agent(c, names).sessions,
    ),
    key("agents.<id>.workspace", "", "The folder this agent's file tools work in.", |c, names| {
        &mut agent(c, names).workspace
    }),
    key(
        "agents.<id>.limits.calls",
        "",
        "Calls that one run may make. Unset is no limit: tokens, cost and time bound a run.",
        |c, names| &mut agent(c, names).limits.calls,
    ),
    key(
        "agents.<id>.limits.tokens",
        "2000000",
        "Tokens that the model may read and write in one run.",
        |c, names| &mut agent(c, names).limits.tokens,
    ),
    key(
        "agents.<id>.limits.cost",
        "",
        "US dollars that the model may cost in one run. Unset is no limit.",
        |c, names| &mut agent(c, names).limits.cost,
    ),
    key("agents.<id>.limits.time", r#""1h""#, "How long one run may take.", |c, names| {
        &mut agent(c, names).limits.time
    }),
    key(
        "agents.<id>.limits.at_once",
        "",
        "Calls of this agent that run at once for one user, instead of `limits.calls_per_agent`.",
        |c, names| &mut agent(c, names).limits.at_once,
    ),
    key(
        "agents.<id>.limits.rate",
        "",
        "How often one user may call tools through this agent; unset is no limit.",
        |c, names| &mut agent(c, names).limits.rate,
    ),
    key(
        "agents.<id>.tools.profile",
        "",
        "The set of tools to start from for this agent, instead of `tools.profile`.",
        |c, names| &mut agent(c, names).tools.profile,
    ),
];

const USERS: &[Key] = &[
    key(
        "users.<id>.limits.calls",
        "",
        "Calls of this user that run at once, instead of `limits.calls_per_user`.",
        |c, names| &mut user(c, names).limits.calls,
    ),
    key(
        "users.<id>.limits.rate",
        "",
        "How often this user may call tools, all together, instead of `limits.rate_per_user`.",
        |c, names| &mut user(c, names).limits.rate,
    ),
    key(
        "users.<id>.limits.connections",
        "",
        "WebSocket connections and open requests of this user at once, instead of `server.connections_per_user`.",
        |c, names| &mut user(c, names).limits.connections,
    ),
    key(
        "users.<id>.limits.runs",
        "",
        "Conversations of this user with agents that go on at once, instead of `server.runs`.",
        |c, names| &mut user(c, names).limits.runs,
    ),
];

const REST: &[Key] = &[
    key(
        "providers.<name>.format",
        "",
        "What this provider of models speaks. Unset is what is known about `openai`, `openai-responses`, `anthropic`, `gemini`, `openrouter`, `ollama` and `vllm`; one with a name of its own needs it. `--format` takes that name.",
        |c, names| &mut provider(c, names).format,
    ),
    key(
        "providers.<name>.base_url",
        "",
        "Where it is: what `/chat/completions`, `/responses`, `/v1/messages` or `/v1beta/models` follow, as its format has them. May be on this machine. Unset is the usual place of a known one.",
        |c, names| &mut provider(c, names).base_url,
    ),
    key(
        "providers.<name>.key",
        "",
        "Which of `secrets` is its key. Unset is the usual variable of a known one, such as `ANTHROPIC_API_KEY`, if it is set.",
        |c, names| &mut provider(c, names).key,
    ),
    key(
        "providers.<name>.model",
        "",
        "The model to use where nobody names one. Unset is the usual one of a known provider.",
        |c, names| &mut provider(c, names).model,
    ),
    key(
        "providers.<name>.timeout",
        r#""2m""#,
        "How long it may send nothing before a request has failed.",
        |c, names| &mut provider(c, names).timeout,
    ),
    key(
        "providers.<name>.retries",
        "3",
        "How often a request is tried again that could not be sent, came too soon, or met a server in trouble.",
        |c, names| &mut provider(c, names).retries,
    ),
    key(
        "providers.<name>.context_tokens",
        "",
        "Tokens that its models read and write at most. Unset is what is known about the model.",
        |c, names| &mut provider(c, names).context_tokens,
    ),
    key(
        "providers.<name>.input_price",
        "",
        "US dollars for a million tokens that its models read. Unset is what is known about the model.",
        |c, names| &mut provider(c, names).input_price,
    ),
    key(
        "providers.<name>.output_price",
        "",
        "US dollars for a million tokens that its models write. Unset is what is known about the model.",
        |c, names| &mut provider(c, names).output_price,
    ),
    key(
        "providers.<name>.headers.<header>",
        "",
        "A header that goes along with every request. Not for secrets.",
        |c, names| &mut provider(c, names).headers,
    ),
    key(
        "hooks.<number>.command",
        "",
        "A program and its arguments. It gets the call as JSON on standard input and answers with JSON on standard output.",
        |c, names| &mut hook(c, names).command,
    ),
    key(
        "hooks.<number>.on",
        "",
        "When it runs; unset is `before_tool_call`. Before a call it may change, block or answer it; `after_tool_call` only watches; `tool_result_persist` may replace what a session keeps of a result.",
        |c, names| &mut hook(c, names).on,
    ),
    key("hooks.<number>.tools", "", "For calls of these tools. Unset is all.", |c, names| {
        &mut hook(c, names).tools
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
    key(
        "limits.calls_per_agent",
        "10",
        "Calls of one agent that run at once for one user.",
        |c, _| &mut c.limits.calls_per_agent,
    ),
    key(
        "limits.waiting_per_agent",
        "100",
        "Calls of one agent that wait for their turn for one user; one more is refused.",
        |c, _| &mut c.limits.waiting_per_agent,
    ),
    key(
        "limits.calls_per_user",
        "32",
        "Calls of one member that run at once, whatever the agent; more wait. The owner is held back only by what `users.owner.limits` says.",
        |c, _| &mut c.limits.calls_per_user,
    ),
    key(
        "limits.rate_per_user",
        r#""600/min""#,
        "How often one member may call tools, all together. The owner is held back only by what `users.owner.limits` says.",
        |c, _| &mut c.limits.rate_per_user,
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
        "limits.open_questions_per_user",
        "20",
        "Questions to a person that one member may have open, in all sessions together.",
        |c, _| &mut c.limits.open_questions_per_user,
    ),
    key(
        "limits.questions_per_minute",
        "20",
        "Questions one session may put to people in a minute; who is asked more often no longer reads.",
        |c, _| &mut c.limits.questions_per_minute,
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
        "Disk space for undo data and artifacts; if it is more, the oldest of whoever has most goes first.",
        |c, _| &mut c.store.keep_bytes,
    ),
    key(
        "store.keep_days",
        "30",
        "Days for which undo data, artifacts, and sessions of single requests and of agents that other \
         agents started are kept.",
        |c, _| &mut c.store.keep_days,
    ),
    key(
        "store.payload_days",
        "",
        "Days for which the journal keeps arguments and outputs. Unset is for ever.",
        |c, _| &mut c.store.payload_days,
    ),
];

const SERVER: &[Key] = &[
    key(
        "server.listen",
        r#""127.0.0.1:7717""#,
        "Where `toolgate serve` listens. Any other address than a loopback one can be reached by others.",
        |c, _| &mut c.server.listen,
    ),
    key(
        "server.hosts",
        "[]",
        "Names the server is called by besides its address and those of this machine, such as the one of a reverse proxy. A request for another name is refused.",
        |c, _| &mut c.server.hosts,
    ),
    key(
        "server.origins",
        "[]",
        "Web pages besides its own that may use the server. A request that comes from another page is refused.",
        |c, _| &mut c.server.origins,
    ),
    key("server.body_bytes", r#""12MB""#, "The longest body of a request.", |c, _| {
        &mut c.server.body_bytes
    }),
    key(
        "server.request_timeout",
        r#""30s""#,
        "How long a client may take to send a request. How long a call takes is another matter.",
        |c, _| &mut c.server.request_timeout,
    ),
    key(
        "server.answer_timeout",
        r#""1m""#,
        "How long a client may take none of its answer; then its connection ends, and what it waits for.",
        |c, _| &mut c.server.answer_timeout,
    ),
    key(
        "server.shutdown_timeout",
        r#""10s""#,
        "How long calls that run may go on when the server is told to end; then they are cancelled.",
        |c, _| &mut c.server.shutdown_timeout,
    ),
    key(
        "server.connections",
        "1024",
        "Connections at once, WebSocket connections not counted.",
        |c, _| &mut c.server.connections,
    ),
    key(
        "server.connections_per_peer",
        "256",
        "Connections at once from one address, or from one IPv6 network (/64); this machine itself may have all of them.",
        |c, _| &mut c.server.connections_per_peer,
    ),
    key(
        "server.connections_per_user",
        "64",
        "WebSocket connections and open requests of one member at once; one more is refused. The owner is held back only by what `users.owner.limits` says.",
        |c, _| &mut c.server.connections_per_user,
    ),
    key("server.ws_connections", "10000", "WebSocket connections at once.", |c, _| {
        &mut c.server.ws_connections
    }),
    key(
        "server.ws_requests",
        "32",
        "Requests of one WebSocket connection that run at once; one more is refused.",
        |c, _| &mut c.server.ws_requests,
    ),
    key(
        "server.runs",
        "32",
        "Conversations of one member with agents that go on at once; one more is refused. The owner is held back only by what `users.owner.limits` says.",
        |c, _| &mut c.server.runs,
    ),
    key(
        "server.ws_ping",
        r#""30s""#,
        "How often a WebSocket connection is asked whether somebody is there; one that does not answer is closed.",
        |c, _| &mut c.server.ws_ping,
    ),
    key(
        "server.mcp_sessions",
        "1024",
        "Sessions of MCP clients at once, in revisions that have sessions; one more is refused if all are used.",
        |c, _| &mut c.server.mcp_sessions,
    ),
    key(
        "server.mcp_sessions_per_user",
        "64",
        "Sessions of one user's MCP clients at once; one more ends the one that was not used for longest, and is refused if all are in use.",
        |c, _| &mut c.server.mcp_sessions_per_user,
    ),
    key(
        "server.mcp_session_idle",
        r#""30m""#,
        "How long nobody must have used a session of an MCP client before it may be ended to make room.",
        |c, _| &mut c.server.mcp_session_idle,
    ),
];

const fn key(path: &'static str, default: &'static str, help: &'static str, slot: FindSlot) -> Key {
    Key { path, default, help, slot }
}

/// The agent that the first name names.
fn agent<'a>(config: &'a mut Config, names: &[String]) -> &'a mut Agent {
    config.agents.entry(names.first().cloned().unwrap_or_default()).or_default()
}

/// The user that the first name names.
fn user<'a>(config: &'a mut Config, names: &[String]) -> &'a mut User {
    config.users.entry(names.first().cloned().unwrap_or_default()).or_default()
}

/// The hook that the first name numbers.
fn hook<'a>(config: &'a mut Config, names: &[String]) -> &'a mut Hook {
    config.hooks.entry(names.first().cloned().unwrap_or_default()).or_default()
}

/// The program that the first name numbers.
fn safe_bin<'a>(config: &'a mut Config, names: &[String]) -> &'a mut SafeBin {
    config.tools.exec.safe_bins.entry(names.first().cloned().unwrap_or_default()).or_default()
}

/// The provider that the first name names.
fn provider<'a>(config: &'a mut Config, names: &[String]) -> &'a mut Provider {
    config.providers.entry(names.first().cloned().unwrap_or_default()).or_default()
}

/// The layer that the last name names.
fn named<'a>(layers: &'a mut BTreeMap<String, Layer>, names: &[String]) -> &'a mut Layer {
    layers.entry(names.last().cloned().unwrap_or_default()).or_default()
}
