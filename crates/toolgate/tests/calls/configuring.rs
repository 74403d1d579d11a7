//! Agents look at the configuration and change a little of it.

use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolgate::{Caller, Gate, builtin};

use crate::helper::{Person, line};

const FILE: &str = r#"# Ours.
[tools]
deny = ["write"] # never

[agents.main]
model = "local/small" # cheap

[agents.reviewer]
description = "reviews"

[providers.local]
format = "openai"
base_url = "http://127.0.0.1:1/v1"
"#;

/// A gate with a configuration file.
struct Setup {
    gate: Gate,
    folder: TempDir,
    file: PathBuf,
}

impl Setup {
    fn new(person: Person, name: &str, text: Option<&str>) -> Self {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("config").join(name);
        if let Some(text) = text {
            fs::create_dir(folder.path().join("config")).unwrap();
            fs::write(&file, text).unwrap();
        }
        fs::create_dir(folder.path().join("ws")).unwrap();
        let gate = Gate::builder()
            .config(config::parse(text.unwrap_or_default(), name).unwrap())
            .configuration_file(&file)
            .data(folder.path().join("data"))
            .workspace(folder.path().join("ws"))
            .approver(Arc::new(person))
            .tools(builtin())
            .build()
            .unwrap();
        Self { gate, folder, file }
    }

    async fn call(&self, args: Value) -> Result<Value, String> {
        self.call_as(&Caller::owner("main"), args).await
    }

    /// The result, or the error in one line, without the folder.
    async fn call_as(&self, caller: &Caller, args: Value) -> Result<Value, String> {
        let outcome = self.gate.call(caller, "gateway", args).await;
        let line = line(&outcome).replace(&*self.folder.path().to_string_lossy(), "");
        if outcome.status() == "success" {
            return Ok(serde_json::from_str(&line).unwrap());
        }
        Err(line)
    }

    async fn patch(&self, path: &str, value: &str) -> Result<Value, String> {
        self.call(json!({"action": "config.patch", "path": path, "value": value})).await
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.file).unwrap()
    }

    fn model(&self) -> Option<String> {
        self.gate.config().agents["main"].model.as_ref().map(|model| model.value.clone())
    }
}

#[tokio::test]
async fn a_change_holds_at_once_and_comments_stay() {
    let setup = Setup::new(Person::Agrees, "toolgate.toml", Some(FILE));
    let changed = setup.patch("agents.main.model", "local/large").await.unwrap();
    let file = "/config/toolgate.toml";
    assert_eq!(
        changed,
        json!({"changed": {
            "file": file, "created": false, "path": "agents.main.model",
            "was": "local/small", "now": "local/large",
        }})
    );
    assert_eq!(setup.text(), FILE.replace("small", "large"));
    assert_eq!(setup.model().as_deref(), Some("local/large"));
    let got = setup.call(json!({"action": "config.get", "path": "agents"})).await.unwrap();
    assert_eq!(
        got,
        json!({"config": {"file": file, "exists": true, "path": "agents", "value": {
            "main": {"model": "local/large"}, "reviewer": {"description": "reviews"},
        }}})
    );
    let removed = setup.patch("agents.main.model", "null").await.unwrap();
    assert_eq!(removed["changed"]["was"], "local/large");
    assert_eq!(removed["changed"].get("now"), None);
    assert_eq!(setup.model(), None);
    assert_eq!(setup.text(), FILE.replace("model = \"local/small\" # cheap\n", ""));
    // Another agent that is there may be changed, and a number is a number.
    setup
        .call(json!({"action": "config.patch", "path": "agents.reviewer.maxTokens", "value": 99}))
        .await
        .unwrap();
    assert_eq!(setup.gate.config().agents["reviewer"].max_tokens.as_deref(), Some(&99));
}

#[tokio::test]
async fn people_are_asked_about_changes_and_see_all_of_them() {
    let setup = Setup::new(Person::Refuses, "toolgate.toml", Some(FILE));
    for (args, asked) in [
        (json!({"action": "config.get"}), None),
        (json!({"action": "config.schema", "path": "agents"}), None),
        (
            json!({"action": "config.patch", "path": "agents.main.prompt", "value": "a\n\"b\""}),
            Some(r#"change `agents.main.prompt` in the configuration to "a\n\"b\"""#),
        ),
        (
            json!({"action": "config.patch", "path": "agents.main.model", "value": "null"}),
            Some("remove `agents.main.model` from the configuration"),
        ),
        (json!({"action": "reload"}), Some("take over what the configuration file says now")),
        (json!({"action": "restart"}), Some("restart the server")),
    ] {
        let check = setup.gate.check(&Caller::owner("main"), "gateway", &args).await;
        let outcome = setup.call(args.clone()).await;
        match asked {
            None => assert!(outcome.is_ok(), "{args}: {outcome:?}"),
            Some(asked) => {
                assert!(outcome.unwrap_err().starts_with("permission_denied"), "{args}");
                let plan = check.plan.unwrap();
                assert_eq!(plan.needs().iter().map(ToString::to_string).collect::<String>(), asked);
            }
        }
    }
    assert_eq!(setup.text(), FILE);
}

/// The whole table is in `crates/tool/src/config_change`; here nobody is asked either.
#[tokio::test]
async fn what_limits_or_feeds_agents_is_refused_without_asking() {
    let setup = Setup::new(Person::Silent, "toolgate.toml", Some(FILE));
    for (path, value, expected) in [
        ("tools.deny", "x", "it says which tools agents have, and when people are asked"),
        ("agents.main.tools.allow", "*", "it says which tools an agent has"),
        ("agents.main", "{ tools = { allow = ['*'] } }", "is a table"),
        ("agents.main.limits.cost", "9", "it says what a run may use up"),
        ("agents.main.prompt", "file:/etc/passwd", "as text only"),
        ("providers.local.base_url", "http://evil", "where what agents say is sent"),
        ("secrets.x", "env:X", "it says where secrets are"),
        ("hooks.1.command", "true", "which programs see calls"),
        ("", "x", "say which key with `path`"),
    ] {
        let refused = setup.patch(path, value).await.unwrap_err();
        assert!(refused.starts_with("validation_error"), "{path}: {refused}");
        assert!(refused.contains(expected), "{path}: {refused}");
    }
    let missing = setup.call(json!({"action": "config.patch", "path": "agents.main.model"})).await;
    assert!(missing.unwrap_err().contains("`value`: is missing"));
    assert_eq!(setup.text(), FILE);
}

#[tokio::test]
async fn what_cannot_hold_is_not_written() {
    let setup = Setup::new(Person::Agrees, "toolgate.toml", Some(FILE));
    for (path, value, expected) in [
        ("agents.other.model", "x", "has no agent \"other\", and only a person may add one"),
        ("agents.reviwer.model", "x", "did you mean `reviewer`?"),
        ("agents.defaults.model", "x", "has no agent \"defaults\""),
        ("agents.list.model", "x", "has no agent \"list\""),
        ("agents.__proto__.model", "x", "has no agent \"__proto__\""),
        (r#"agents."main.tools".model"#, "x", "has no agent \"main.tools\""),
        (r#"agents."main\"\n[tools]".model"#, "x", "has no agent"),
        ("agents.main.temperature", "1000001", "expected a number from 0 to 1000000"),
        ("agents.main.prompt", "null", "`agents.main.prompt` is not set"),
    ] {
        let refused = setup.patch(path, value).await.unwrap_err();
        assert!(refused.contains(expected), "{path}: {refused}");
    }
    assert_eq!(setup.text(), FILE);
    // A person broke it meanwhile.
    let broken = FILE.replace("[tools]", "[tools");
    fs::write(&setup.file, &broken).unwrap();
    for args in [
        json!({"action": "config.patch", "path": "agents.main.model", "value": "x"}),
        json!({"action": "config.get"}),
        json!({"action": "reload"}),
    ] {
        let refused = setup.call(args).await.unwrap_err();
        assert!(refused.contains("/config/toolgate.toml:2:"), "{refused}");
    }
    assert_eq!(setup.text(), broken);
    assert_eq!(setup.model().as_deref(), Some("local/small"));
    // A secret that is not there would keep the whole from holding.
    let secret = format!("{FILE}\n[secrets]\nx = \"env:TOOLGATE_TEST_IS_NOT_SET\"\n");
    fs::write(&setup.file, &secret).unwrap();
    let refused = setup.patch("agents.main.model", "x").await.unwrap_err();
    assert!(refused.contains("TOOLGATE_TEST_IS_NOT_SET"), "{refused}");
    assert_eq!(setup.text(), secret);
}

#[tokio::test]
async fn a_file_that_is_not_there_is_made_where_it_would_be() {
    let setup = Setup::new(Person::Agrees, "toolgate.toml", None);
    let file = "/config/toolgate.toml";
    let got = setup.call(json!({"action": "config.get"})).await.unwrap();
    assert_eq!(got["config"], json!({"file": file, "exists": false, "path": "", "value": {}}));
    let refused = setup.call(json!({"action": "reload"})).await.unwrap_err();
    assert!(refused.contains("there is no file at `/config/toolgate.toml`"), "{refused}");
    let changed = setup.patch("agents.main.description", "helps").await.unwrap();
    assert_eq!(
        changed["changed"],
        json!({"file": file, "created": true, "path": "agents.main.description", "now": "helps"})
    );
    assert_eq!(setup.text(), "[agents.main]\ndescription = \"helps\"\n");
    assert_eq!(
        setup.gate.config().agents["main"].description.as_deref().map(|text| &**text),
        Some("helps")
    );
}

#[tokio::test]
async fn a_file_that_is_gone_is_not_begun_anew() {
    let setup = Setup::new(Person::Agrees, "toolgate.toml", Some(FILE));
    fs::remove_file(&setup.file).unwrap();
    let refused = setup.patch("agents.main.model", "local/large").await.unwrap_err();
    assert!(refused.contains("there is no file at `/config/toolgate.toml`"), "{refused}");
    let refused = setup.call(json!({"action": "reload"})).await.unwrap_err();
    assert!(refused.contains("the old configuration stays"), "{refused}");
    assert!(!setup.file.exists());
    assert_eq!(setup.model().as_deref(), Some("local/small"));
    assert!(setup.gate.config().tools.deny.is_some());
}

#[tokio::test]
async fn json5_is_shown_and_left_to_people() {
    let text = "{ agents: { main: { model: 'a' } } } // mine";
    let setup = Setup::new(Person::Agrees, "toolgate.json5", Some(text));
    let got = setup.call(json!({"action": "config.get", "path": "agents.main.model"})).await;
    assert_eq!(got.unwrap()["config"]["value"], "a");
    let refused = setup.patch("agents.main.model", "b").await.unwrap_err();
    assert!(refused.contains("change `agents.main.model` in it by hand"), "{refused}");
    assert_eq!(setup.text(), text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_at_once_all_stay() {
    let agents: Vec<_> = (0..20).map(|number| format!("[agents.a{number}]\n")).collect();
    let agents = agents.concat();
    let setup = Setup::new(Person::Agrees, "toolgate.toml", Some(&agents));
    // As another process would: a gate of its own on the same file.
    let other = Gate::builder()
        .config(config::parse(&agents, "t.toml").unwrap())
        .configuration_file(&setup.file)
        .data(setup.folder.path().join("other"))
        .workspace(setup.folder.path().join("ws"))
        .approver(Arc::new(Person::Agrees))
        .tools(builtin())
        .build()
        .unwrap();
    let patches = (0..20).map(|number| {
        let gate = if number % 2 == 0 { &setup.gate } else { &other };
        let args = json!({
            "action": "config.patch",
            "path": format!("agents.a{number}.model"),
            "value": format!("m{number}"),
        });
        async move {
            let caller = Caller { session: format!("s{number}").into(), ..Caller::owner("main") };
            let outcome = gate.call(&caller, "gateway", args).await;
            assert_eq!(outcome.status(), "success", "{outcome:?}");
        }
    });
    futures_util::future::join_all(patches).await;
    let config = config::load(&setup.file).unwrap();
    for number in 0..20 {
        let model = config.agents[&format!("a{number}")].model.as_deref().cloned();
        assert_eq!(model, Some(format!("m{number}")));
    }
}

#[tokio::test]
async fn what_a_person_wrote_is_taken_over() {
    let setup = Setup::new(Person::Agrees, "toolgate.toml", Some(FILE));
    fs::write(&setup.file, FILE.replace("small", "by-hand")).unwrap();
    assert_eq!(setup.model().as_deref(), Some("local/small"));
    let reloaded = setup.call(json!({"action": "reload"})).await.unwrap();
    assert_eq!(reloaded, json!({"reloaded": "/config/toolgate.toml"}));
    assert_eq!(setup.model().as_deref(), Some("local/by-hand"));
}

#[tokio::test]
async fn only_a_server_can_be_restarted() {
    let setup = Setup::new(Person::Agrees, "toolgate.toml", Some(FILE));
    let refused = setup.call(json!({"action": "restart"})).await.unwrap_err();
    assert!(refused.contains("there is nothing to restart here"), "{refused}");
    let wanted = Arc::new(AtomicUsize::new(0));
    let counts = wanted.clone();
    setup.gate.on_restart(move || {
        counts.fetch_add(1, Ordering::SeqCst);
    });
    let restarting = setup.call(json!({"action": "restart"})).await.unwrap();
    assert_eq!(restarting, json!({"restarting": true}));
    assert_eq!(wanted.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn only_the_owner_has_it_and_no_child() {
    let all = "tools.profile = \"full\"\n";
    let setup = Setup::new(Person::Agrees, "toolgate.toml", Some(all));
    let owner = Caller::owner("main");
    let child = Caller { parent: Some(Arc::new(owner.clone())), ..Caller::owner("main") };
    let passed_on = Caller { sender: Some("bob".into()), ..owner };
    let restricted = "permission_denied: Tool restricted to owner senders.";
    for (caller, expected) in [
        (Caller::member("bob", "main"), restricted),
        (passed_on, restricted),
        (child, "tool_not_available: Tool `gateway` is not available"),
    ] {
        let args = json!({"action": "config.get"});
        assert_eq!(setup.call_as(&caller, args).await.unwrap_err(), expected);
        assert!(setup.gate.view(&caller).tools().all(|tool| &*tool.info().name != "gateway"));
    }
}

#[tokio::test]
async fn the_schema_says_what_may_be_changed() {
    let setup = Setup::new(Person::Absent, "toolgate.toml", Some(FILE));
    let asked = json!({"action": "config.schema", "path": "agents.main"});
    let keys = setup.call(asked).await.unwrap();
    let keys = keys["keys"].as_array().unwrap().clone();
    let changeable = keys.iter().filter(|key| key["changeable"] == true);
    let changeable: Vec<_> = changeable.map(|key| key["path"].as_str().unwrap()).collect();
    assert_eq!(
        changeable.join(" "),
        "agents.<id>.description agents.<id>.model agents.<id>.prompt agents.<id>.max_tokens \
         agents.<id>.temperature"
    );
    assert!(keys.len() > changeable.len());
    let wrong = setup.call(json!({"action": "config.schema", "path": "agent"})).await;
    assert!(wrong.unwrap_err().contains("did you mean `agents`?"));
}
