//! An agent that another one started does nothing that one cannot, by whatever door it is spoken to.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    client::send,
    helper::{Site, until},
};

/// As many policies are tried.
const POLICIES: u64 = 8;

/// Calls that ask nobody.
const CALLS: [(&str, &str); 8] = [
    ("get_current_time", "{}"),
    ("read", r#"{"path":"hello.txt"}"#),
    ("ls", r#"{"path":"."}"#),
    ("write", r#"{"path":"new.txt","content":"x"}"#),
    ("add_task", r#"{"title":"water the plants"}"#),
    ("list_tasks", "{}"),
    ("save_note", r#"{"title":"t","content":"c"}"#),
    ("sessions_list", "{}"),
];

/// What policies say something about.
const NAMES: [&str; 10] = [
    "get_current_time",
    "read",
    "ls",
    "write",
    "add_task",
    "list_tasks",
    "save_note",
    "group:fs",
    "group:tasks",
    "group:notes",
];

/// The same numbers for the same seed, so that a failure can be seen again.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }

    /// Some names, at most so many.
    fn names(&mut self, most: u64) -> Vec<&'static str> {
        let count = self.below(most + 1);
        (0..count).map(|_| NAMES[usize::try_from(self.below(10)).unwrap()]).collect()
    }

    /// One of two times a list of what is allowed, in which `sessions_spawn` always is.
    fn allowed(&mut self) -> Option<Vec<&'static str>> {
        let names = self.names(6);
        (self.below(2) == 0).then(|| [names, vec!["sessions_spawn", "sessions_list"]].concat())
    }

    fn policy(&mut self) -> String {
        let list = |names: &[&str]| json!(names).to_string();
        let agent = |random: &mut Self, id: &str| {
            let allow = random.allowed().map(|names| format!("tools.allow = {}\n", list(&names)));
            let deny = list(&random.names(2));
            format!("[agents.{id}]\n{}tools.deny = {deny}\n", allow.unwrap_or_default())
        };
        let main = agent(self, "main")
            .replace("[agents.main]\n", "[agents.main]\nsubagents = [\"other\"]\n");
        let (other, below) = (agent(self, "other"), list(&self.names(1)));
        format!(
            "tools.deny = {}\ntools.subagents.deny = {below}\n{main}{other}",
            list(&self.names(1))
        )
    }

    fn spawn(&mut self) -> Value {
        let mut spawn = json!({"task": "what time is it", "toolsDeny": self.names(2)});
        spawn["agentId"] = if self.below(2) == 0 { "main".into() } else { "other".into() };
        if let Some(allow) = self.allowed() {
            spawn["toolsAllow"] = json!(allow);
        }
        spawn
    }
}

impl Site {
    /// The tools that worked in a session, by the journal.
    fn worked(&self, session: &str) -> BTreeSet<String> {
        let entries = self.entries().into_iter().filter(|entry| entry.session == session);
        let worked = entries.filter(|entry| entry.status == store::Status::Success);
        worked.map(|entry| entry.tool_name).collect()
    }

    /// Says something in a session by every door there is.
    async fn say_everywhere(&self, agent: &str, session: &str, text: &str) {
        let messages = json!([{"role": "user", "content": text}]);
        let chat = json!({"model": agent, "max_tokens": 99, "messages": messages});
        let said = json!({"message": text});
        for (path, body) in [
            (format!("/v1/sessions/agent:{agent}:{session}/messages"), &said),
            ("/v1/chat/completions".to_owned(), &chat),
            ("/v1/messages".to_owned(), &chat),
        ] {
            let request = self.request("POST", &path).header("toolgate-session", session);
            let answer = send(request.json(body)).await;
            assert_eq!(answer.status, 200, "{path}: {answer:?}");
        }
        let mut socket = self.socket(&self.owner).await;
        let params = json!({"agent": agent, "session": session, "message": text});
        socket.get("sessions.send", params).await;
    }
}

/// multiuser-003, on every surface.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_can_do_nothing_that_its_parent_cannot_on_any_surface() {
    let (mut spawned, mut withheld, mut given) = (0, 0, 0);
    for seed in 1..=POLICIES {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (policy, spawn) = (random.policy(), random.spawn());
        let site = Site::with(&policy).await;
        site.say_everywhere("main", "main", "hello").await;
        for (tool, args) in CALLS {
            site.say_everywhere("main", "main", &format!("/{tool} {args}")).await;
        }
        let above = site.worked("main");
        let path = "/v1/sessions/agent:main:main/messages";
        site.post(path, json!({"message": format!("/sessions_spawn {spawn}")})).await;
        let children = site.get("/v1/sessions?kind=child").await.json();
        let Some(key) = children["sessions"][0]["sessionKey"].as_str() else { continue };
        let (_, key) = key.split_once(':').unwrap();
        let (agent, name) = key.split_once(':').unwrap();
        spawned += 1;
        for (tool, args) in CALLS {
            let text = format!("/{tool} {args}");
            site.say_everywhere(agent, name, &text).await;
            // By a message from its parent, which waits for the answer.
            let message = json!({"sessionKey": format!("agent:{agent}:{name}"), "message": text,
                "timeoutSeconds": 30});
            let send = format!("/sessions_send {message}");
            site.post(path, json!({"message": send})).await;
            // And nobody calls in its place.
            let call = site.request("POST", &format!("/v1/tools/{tool}"));
            let call = call.header("toolgate-agent", agent).header("toolgate-session", name);
            let answer = crate::client::send(call.json(&serde_json::from_str(args).unwrap())).await;
            assert!([400, 403].contains(&answer.status), "{answer:?}");
        }
        until("nothing goes on", async || {
            let list = site.get("/v1/sessions").await.json();
            let list = list["sessions"].as_array().unwrap();
            list.iter().all(|session| session["state"] != "running")
        })
        .await;
        let below = site.worked(name);
        let more: Vec<_> = below.difference(&above).collect();
        assert!(more.is_empty(), "seed {seed}: {more:?} {above:?}\n{policy}\n{spawn}");
        given += below.len();
        withheld += above.len() - below.len();
    }
    // Or nothing was tried.
    assert!(spawned > 3 && withheld > 5 && given > 5, "{spawned} {withheld} {given}");
}
