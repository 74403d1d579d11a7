//! Files that were written for `OpenClaw`.

use std::fs;

use config::{Loaded, load, load_with_warnings, parse_with_warnings};
use insta::assert_snapshot;

use crate::{read, read_json, refused, refused_json};

fn warnings(text: &str, file: &str) -> String {
    let Loaded { config: _, warnings } = parse_with_warnings(text, file).unwrap();
    warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

const FILE: &str = r#"{
  $schema: "https://example.com/openclaw.json",
  gateway: { port: 18789, auth: { token: "hunter2" } },
  canvasHost: { enabled: true },
  channels: { whatsapp: { allowFrom: ["+15550000000"] } },
  agents: {
    defaults: { workspace: "~/.openclaw/workspace" },
    list: [
      { id: "main", default: true, model: "anthropic/x" },
      { id: "family", workspace: "/srv/family", tools: { profile: "messaging", deny: ["exec"], loopDetection: {} } },
    ],
  },
  tools: {
    profile: "coding",
    alsoAllow: ["message"],
    byProvider: { "google/gemini": { profile: "minimal" } },
    exec: { timeoutSec: 1800 },
    elevated: { enabled: true },
    fs: { workspaceOnly: true },
    sandbox: { tools: { deny: ["browser"] } },
    subagents: { model: "small", tools: { allow: ["read"] } },
  },
}"#;

#[test]
fn what_only_openclaw_has_is_a_warning() {
    let text = warnings(FILE, "openclaw.json");
    assert!(!text.contains("hunter2"), "{text}");
    assert_snapshot!(text, @r#"
    openclaw.json:2:3: `"$schema"` is a key of OpenClaw that Toolgate does not have; ignored
    openclaw.json:3:3: `gateway` is a key of OpenClaw that Toolgate does not have; ignored
    openclaw.json:4:3: `canvasHost` is a key of OpenClaw that Toolgate does not have; ignored
    openclaw.json:5:3: `channels` is a key of OpenClaw that Toolgate does not have; ignored
    openclaw.json:7:5: `agents.defaults` is a key of OpenClaw that Toolgate does not have; ignored
    openclaw.json:9:21: `agents.main.default` is a key of OpenClaw that Toolgate does not have; ignored
    openclaw.json:10:96: `agents.family.tools.loopDetection` is a key of OpenClaw that Toolgate does not have; ignored
    openclaw.json:21:18: `tools.subagents.model` is a key of OpenClaw that Toolgate does not have; ignored
    "#);
    assert_snapshot!(warnings("[channels]\nx = 1\n[tools]\nexec.node = 'x'", "t.toml"), @r#"
    t.toml:1:2: `channels` is a key of OpenClaw that Toolgate does not have; ignored
    t.toml:4:6: `tools.exec.node` is a key of OpenClaw that Toolgate does not have; ignored
    "#);
    assert_eq!(warnings("tools.deny = ['exec']", "t.toml"), "");
}

#[test]
fn what_takes_tools_away_is_read() {
    let expected = read(
        "[tools]
profile = 'coding'
also_allow = ['message']
by_provider.'google/gemini'.profile = 'minimal'
elevated.enabled = true
exec.timeout = 1800
sandbox.deny = ['browser']
subagents.allow = ['read']
[agents.main]
model = 'anthropic/x'
[agents.family]
workspace = '/srv/family'
tools.profile = 'messaging'
tools.deny = ['exec']",
    );
    assert_eq!(read_json(FILE), expected);
    let deny = read_json(FILE).agents["family"].tools.deny.clone().unwrap();
    assert_eq!(deny.at.unwrap().line, 10);
}

const MODELS: &str = r#"{
  models: {
    mode: "merge",
    providers: {
      local: {
        baseUrl: "http://127.0.0.1:8000/v1/", api: "openai-completions", apiKey: "hunter2",
        headers: { "x-team": "a" },
        models: [{ id: "qwen", name: "Qwen", contextWindow: 32000, cost: { input: 0.1, output: 0.4, cacheRead: 0 } }],
      },
      proxy: { baseUrl: "https://proxy.example", api: "anthropic-messages", apiKey: "${PROXY_KEY}", models: [] },
      odd: { api: "bedrock-converse-stream", auth: "aws-sdk" },
    },
  },
  agents: {
    defaults: { model: { primary: "local/qwen", fallbacks: ["proxy/x"] } },
    list: [
      { id: "main" },
      { id: "own", model: { primary: "proxy/x", fallbacks: [] }, subagents: { allowAgents: ["main"], model: "y" } },
      { id: "plain", model: "proxy/z", subagents: { model: "y" } },
    ],
  },
}"#;

#[test]
fn what_it_says_about_models_is_read_where_it_fits() {
    let expected = read(
        "[providers.local]
base_url = 'http://127.0.0.1:8000/v1'
format = 'openai'
headers.x-team = 'a'
model = 'qwen'
context_tokens = 32000
input_price = 0.1
output_price = 0.4
[providers.proxy]
base_url = 'https://proxy.example'
format = 'anthropic'
key = 'proxy_key'
[providers.odd]
[secrets]
proxy_key = 'env:PROXY_KEY'
[agents.main]
model = 'local/qwen'
[agents.own]
model = 'proxy/x'
subagents = ['main']
[agents.plain]
model = 'proxy/z'",
    );
    assert_eq!(read_json(MODELS), expected);
    let text = warnings(MODELS, "openclaw.json");
    assert!(!text.contains("hunter2"), "{text}");
    assert_snapshot!(text, @"
    openclaw.json:3:5: `models.mode` is a key of OpenClaw that Toolgate does not have; ignored
    openclaw.json:6:74: `models.providers.local.apiKey` is ignored; put the secret into an environment variable or a file, name that in `secrets`, and the secret in `providers.local.key`
    openclaw.json:10:101: `models.providers.proxy.models` is a key of OpenClaw that Toolgate does not have; ignored
    openclaw.json:11:14: `models.providers.odd.api` is a key of OpenClaw that Toolgate does not have; ignored
    openclaw.json:11:46: `models.providers.odd.auth` is a key of OpenClaw that Toolgate does not have; ignored
    openclaw.json:15:49: `agents.defaults.model.fallbacks` is a key of OpenClaw that Toolgate does not have; ignored
    openclaw.json:18:49: `agents.own.model.fallbacks` is a key of OpenClaw that Toolgate does not have; ignored
    openclaw.json:18:102: `agents.own.subagents.model` is a key of OpenClaw that Toolgate does not have; ignored
    openclaw.json:19:53: `agents.plain.subagents.model` is a key of OpenClaw that Toolgate does not have; ignored
    ");
    let alone = read_json("{agents: {defaults: {model: 'a/b'}}}");
    assert_eq!(alone, read("agents.main.model = 'a/b'"));
    let both = "{models: {providers: {a: {}}}, providers: {b: {format: 'openai'}, a: {}}}";
    assert!(refused_json(both).contains("`providers.a` stands in line 1 already"));
}

#[test]
fn the_list_of_agents_is_checked_like_any_other() {
    assert_snapshot!(refused_json("{agents: {\n list: [\n  {workspace: '/w'},\n  'main', {id: 7},\n  {id: 'a', tool: 1},\n  {id: 'a'},\n  {id: ' '},\n]}}"), @r#"
    toolgate.json5:3:3: `agents.list`: every item needs the `id` of its agent
    toolgate.json5:4:3: `agents.list`: every item needs the `id` of its agent
    toolgate.json5:4:11: `agents.list`: every item needs the `id` of its agent
    toolgate.json5:5:13: unknown key `agents.a.tool`; did you mean `agents.a.tools`?
    toolgate.json5:6:8: `agents.a` stands in line 5 already; keep one of them
    toolgate.json5:7:8: unknown key `agents." "`; known here: `<id>`
    "#);
    let agents = read_json("{agents: {list: {tools: {deny: ['x']}}}}").agents;
    assert!(agents.contains_key("list"), "an agent may be called that");
    assert_eq!(read("[[agents.list]]\nid = 'a'\n[[agents.list]]\nid = 'b'").agents.len(), 2);
}

#[test]
fn a_typo_is_still_an_error() {
    for text in
        ["tools.exce = {}", "chanels = {}", "agents.a.modle = 'x'", "tools.fs.workspaceonly = 1"]
    {
        assert!(refused(text).contains("unknown key"), "{text}");
    }
    let both = refused("tools.sandbox.deny = []\ntools.sandbox.tools.deny = []");
    assert_snapshot!(both, @r#"toolgate.toml:2:21: `tools.sandbox.deny` stands in line 1 already; keep one of them"#);
}

#[test]
fn those_who_do_not_ask_get_no_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("openclaw.json");
    fs::write(&path, FILE).unwrap();
    let Loaded { config, warnings } = load_with_warnings(&path).unwrap();
    assert_eq!(load(&path).unwrap(), config);
    assert_eq!(&*warnings[0].file, path.to_str().unwrap());
    assert_eq!((warnings[0].line, warnings[0].column, &*warnings[0].key), (2, 3, "\"$schema\""));
}

/// Every key of `OpenClaw` that limits, as it is read here.
#[test]
#[expect(clippy::too_many_lines, reason = "one row for each key")]
fn a_limit_is_taken_over() {
    for (theirs, ours) in [
        (
            "{tools: {elevated: {enabled: true, allowFrom: {whatsapp: ['+1555'], discord: [42, '*']}}}}",
            "tools.elevated = {enabled = true, allow_from = ['whatsapp:+1555', 'discord:42', 'discord:*']}",
        ),
        (
            "{tools: {exec: {security: 'deny'}}}",
            "tools.deny = ['exec', 'process']\ntools.exec = {}",
        ),
        ("{tools: {exec: {security: 'allowlist'}}}", "tools.exec.security = 'safe-bin'"),
        (
            "{tools: {exec: {security: 'allowlist', ask: 'on-miss'}}}",
            "tools.exec = {security = 'safe-bin', ask = 'smart'}",
        ),
        (
            "{tools: {exec: {security: 'allowlist', ask: 'always'}}}",
            "tools.exec = {security = 'safe-bin', ask = 'always'}",
        ),
        (
            "{tools: {exec: {security: 'allowlist', ask: 'off'}}}",
            "tools.exec = {security = 'paranoid', ask = 'auto'}",
        ),
        (
            "{tools: {exec: {security: 'full', ask: 'off'}}}",
            "tools.exec = {security = 'full', ask = 'auto'}",
        ),
        ("{tools: {exec: {timeoutSeconds: 60}}}", "tools.exec.timeout = 60"),
        ("{tools: {exec: {applyPatch: {enabled: false}}}}", "tools.deny = ['apply_patch']"),
        (
            "{tools: {exec: {applyPatch: {enabled: true, workspaceOnly: true, allowModels: ['gpt-*']}}}}",
            "tools.apply_patch.models = ['gpt-*']",
        ),
        ("{tools: {fs: {workspaceOnly: true}}}", ""),
        ("{tools: {web: {fetch: {enabled: false}}}}", "tools.deny = ['web_fetch', 'http_request']"),
        ("{tools: {web: {search: {enabled: false}}}}", "tools.deny = ['web_search']"),
        (
            "{tools: {web: {fetch: {maxChars: 20000, maxResponseBytes: 750000, timeoutSeconds: 10, maxRedirects: 3}}}}",
            "tools.web.fetch = {max_bytes = 20000, timeout = 10, max_redirects = 3}",
        ),
        (
            "{tools: {toolsBySender: {'*': {deny: ['exec']}, 'id:eve': {allow: []}, 'channel:discord:1': {deny: ['write']}}}}",
            "tools.by_sender = {'*' = {deny = ['exec']}, eve = {allow = []}, 'discord:1' = {deny = ['write']}}",
        ),
        ("{gateway: {tools: {deny: ['read']}}}", "tools.by_channel.http.deny = ['read']"),
        (
            "{agents: {list: [{id: 'a', sandbox: {workspaceAccess: 'ro'}, tools: {deny: ['ls']}}]}}",
            "agents.a.tools.deny = ['ls', 'write', 'edit', 'apply_patch', 'exec', 'process']",
        ),
        (
            "{agents: {entries: {a: {sandbox: {mode: 'all', workspaceAccess: 'ro'}}}}}",
            "agents.a.tools.deny = ['write', 'edit', 'apply_patch', 'exec', 'process']",
        ),
        (
            "{agents: {list: [{id: 'a', sandbox: {mode: 'all', workspaceAccess: 'rw', scope: 'agent'}}]}}",
            "[agents.a]",
        ),
        (
            "{agents: {list: [{id: 'a', tools: {exec: {security: 'deny'}}}]}}",
            "agents.a.tools.deny = ['exec', 'process']",
        ),
        (
            "{agents: {list: [{id: 'a', tools: {sandbox: {tools: {deny: ['exec']}}}}]}}",
            "agents.a.tools.deny = ['exec']",
        ),
        (
            "{agents: {defaults: {sandbox: {docker: {network: 'none', memory: '1g', pidsLimit: 256, cpus: 1.5, ulimits: {nofile: {soft: 64}}}}}}}",
            "tools.sandbox = {memory = 1073741824, processes = 256, cpu_percent = 150, open_files = 64}\ntools.exec.network.access = 'listed'",
        ),
        (
            "{agents: {defaults: {sandbox: {workspaceAccess: 'ro'}}}, tools: {deny: ['ls']}}",
            "tools.deny = ['ls', 'write', 'edit', 'apply_patch', 'exec', 'process']",
        ),
        (
            "{agents: {defaults: {subagents: {allowAgents: ['*'], maxSpawnDepth: 2}}}}",
            "tools.subagents = {agents = ['*'], max_depth = 2}",
        ),
    ] {
        assert_eq!(read_json(theirs), read(ours), "{theirs}");
    }
    let told =
        warnings("{agents: {list: [{id: 'a', sandbox: {workspaceAccess: 'ro'}}]}}", "o.json");
    assert!(
        told.contains("is kept by denying `write`, `edit`, `apply_patch`, `exec`, `process`"),
        "{told}"
    );
}

#[test]
fn a_limit_that_cannot_be_kept_is_an_error() {
    for (text, key) in [
        ("{tools: {sessions: {visibility: 'tree'}}}", "tools.sessions.visibility"),
        ("{tools: {exec: {strictInlineEval: true}}}", "tools.exec.strictInlineEval"),
        (
            "{agents: {list: [{id: 'a', sandbox: {workspaceAccess: 'none'}}]}}",
            "agents.a.sandbox.workspaceAccess",
        ),
        (
            "{agents: {list: [{id: 'a', sandbox: {workspaceAccess: 'r0'}}]}}",
            "agents.a.sandbox.workspaceAccess",
        ),
        ("{agents: {list: [{id: 'a', sandbox: {backend: 'ssh'}}]}}", "agents.a.sandbox.backend"),
        (
            "{agents: {list: [{id: 'a', sandbox: {docker: {network: 'none'}}}]}}",
            "agents.a.sandbox.docker.network",
        ),
        (
            "{agents: {list: [{id: 'a', sandbox: {docker: {memory: '1g'}}}]}}",
            "agents.a.sandbox.docker.memory",
        ),
        (
            "{agents: {defaults: {sandbox: {docker: {seccompProfile: '/x'}}}}}",
            "agents.defaults.sandbox.docker.seccompProfile",
        ),
        (
            "{agents: {defaults: {sandbox: {docker: {memory: 'lots'}}}}}",
            "agents.defaults.sandbox.docker.memory",
        ),
        ("{agents: {defaults: {tools: {deny: ['exec']}}}}", "agents.defaults.tools"),
        (
            "{agents: {list: [{id: 'a', tools: {exec: {security: 'allowlist'}}}]}}",
            "agents.a.tools.exec.security",
        ),
        (
            "{agents: {list: [{id: 'a', tools: {exec: {ask: 'always'}}}]}}",
            "agents.a.tools.exec.ask",
        ),
        (
            "{tools: {elevated: {enabled: true}}, agents: {list: [{id: 'a', tools: {elevated: {enabled: false}}}]}}",
            "agents.a.tools.elevated",
        ),
        (
            "{agents: {list: [{id: 'a', tools: {sandbox: {tools: {allow: ['read']}}}}]}}",
            "agents.a.tools.sandbox.tools.allow",
        ),
        (
            "{agents: {list: [{id: 'a', tools: {toolsBySender: {'*': {deny: ['exec']}}}}]}}",
            "agents.a.tools.toolsBySender",
        ),
        (
            "{channels: {slack: {groups: {x: {tools: {deny: ['exec']}}}}}}",
            "channels.slack.groups.x.tools",
        ),
        (
            "{channels: {slack: {toolsBySender: {'*': {deny: ['exec']}}}}}",
            "channels.slack.toolsBySender",
        ),
    ] {
        let refused = refused_json(text);
        let expected = format!("`{key}` limits agents in OpenClaw, and Toolgate cannot keep it; ");
        assert!(refused.contains(&expected), "{text}: {refused}");
    }
}
