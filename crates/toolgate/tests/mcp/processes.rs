//! `toolgate mcp` as a process: what it is given, how it ends, and what else works on the same data.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{
    person::{Person, Surface},
    site::PATIENCE,
};

/// One that a client has started; ends with the test.
struct Process {
    child: Child,
    to: Option<ChildStdin>,
    from: Receiver<Value>,
}

/// What a request of the stateless revision says of a client that shows forms.
fn stateless() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    })
}

impl Process {
    /// With a session.
    fn new(person: &Person) -> Self {
        Self::with(person, &[], &json!({}))
    }

    /// With a session of a client that has these capabilities.
    fn with(person: &Person, args: &[&str], capabilities: &Value) -> Self {
        let mut command = person.command();
        command.arg("mcp").args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let (send, from) = mpsc::channel();
        thread::spawn(move || {
            lines
                .map(|line| serde_json::from_str(&line).unwrap())
                .try_for_each(|said| send.send(said))
        });
        let mut process = Self { to: child.stdin.take(), child, from };
        let begin = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities});
        assert!(process.ask("begin", "initialize", &begin)["result"].is_object());
        process
    }

    fn write(&mut self, bytes: &[u8]) {
        let to = self.to.as_mut().unwrap();
        to.write_all(bytes).and_then(|()| to.write_all(b"\n")).unwrap();
    }

    fn next(&self) -> Value {
        self.from.recv_timeout(PATIENCE).unwrap()
    }

    fn send(&mut self, id: &str, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(message.to_string().as_bytes());
    }

    fn ask(&mut self, id: &str, method: &str, params: &Value) -> Value {
        self.send(id, method, params);
        let answer = self.next();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask("call", "tools/call", &json!({"name": tool, "arguments": arguments}));
        answer["result"].clone()
    }

    /// Begins a command that does not end, and gives it back once it runs.
    fn endless(&mut self, person: &Person, name: &str) -> String {
        let command = format!("echo {name} has begun; sleep 600");
        let params = json!({
            "name": "exec", "arguments": {"command": command}, "_meta": {"progressToken": 1},
        });
        self.send("endless", "tools/call", &params);
        person.answer(&command, Surface::CommandLine, "allow");
        assert_eq!(self.next()["method"], "notifications/progress");
        command
    }

    /// Waits until it has ended.
    fn ended(mut self, person: &Person) {
        person.until("the process to end", || self.child.try_wait().unwrap());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn what_is_wrong_is_answered_and_the_next_message_is_read() {
    let person = Person::alone();
    let mut process = Process::new(&person);
    let huge = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(12_000_000));
    let deep = "[".repeat(100_000);
    for (line, code) in [
        (&b"garbage"[..], json!(-32700)),
        (b"{\"jsonrpc\":\"2.0\"", json!(-32700)),
        (b"\xff\xfe\x00", json!(-32700)),
        (b"\"\xc3\x28\"", json!(-32700)),
        (huge.as_bytes(), json!(-32602)),
        (deep.as_bytes(), json!(-32700)),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, json!(-32600)),
        (b"[]", json!(-32600)),
        (b"7", json!(-32600)),
        (br#"{"jsonrpc":"2.0","id":1,"method":"nonesuch"}"#, json!(-32601)),
        (br#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#, json!(-32601)),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, json!(-32602)),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#, json!(-32602)),
        (br#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#, json!(-32602)),
        (br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, json!(-32600)),
        // Not answered: empty lines, notifications, answers that nobody waits for.
        (b"", Value::Null),
        (b"\r", Value::Null),
        (br#"{"jsonrpc":"2.0","method":"notifications/nonesuch"}"#, Value::Null),
        (br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#, Value::Null),
        (br#"{"jsonrpc":"2.0","id":99,"result":{}}"#, Value::Null),
    ] {
        process.write(line);
        if !code.is_null() {
            let answer = process.next();
            let shown: String = String::from_utf8_lossy(line).chars().take(80).collect();
            assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
            assert_ne!(answer.get("id"), Some(&Value::Null), "{shown}: {answer}");
        }
        assert!(process.ask("alive", "ping", &json!({}))["result"].is_object());
    }
    let time = process.call("get_current_time", &json!({"timezone": "UTC"}));
    assert_eq!(time["isError"], false, "{time}");
}

#[test]
fn several_processes_and_a_server_share_the_data_and_one_may_be_killed() {
    let person = Person::new();
    let mut processes = [Process::new(&person), Process::new(&person)];
    for (process, title) in processes.iter_mut().zip(["one", "two"]) {
        assert_eq!(process.call("add_task", &json!({"title": title}))["isError"], false);
    }
    let [mut killed, mut left] = processes;
    let command = killed.endless(&person, "killed");
    // As `kill -9` does it.
    killed.child.kill().unwrap();
    killed.ended(&person);
    person.wait_for(&command, "interrupted");
    let tasks = left.call("list_tasks", &json!({}))["structuredContent"].to_string();
    assert!(tasks.contains("one") && tasks.contains("two"), "{tasks}");
    assert!(person.printed(&["audit", "verify"]).starts_with("ok"), "the journal is not whole");
}

#[test]
fn when_the_client_is_gone_its_calls_end_and_the_process_with_them() {
    let person = Person::new();
    let mut closed = Process::new(&person);
    let command = closed.endless(&person, "closed");
    drop(closed.to.take());
    closed.ended(&person);
    person.wait_for(&command, "cancelled");

    let mut asked_to_end = Process::new(&person);
    let command = asked_to_end.endless(&person, "terminated");
    let id = Pid::from_raw(i32::try_from(asked_to_end.child.id()).unwrap()).unwrap();
    kill_process(id, Signal::TERM).unwrap();
    asked_to_end.ended(&person);
    person.wait_for(&command, "cancelled");

    // Nobody has answered yet.
    let mut waiting = Process::new(&person);
    let command = "echo never";
    waiting.send("asks", "tools/call", &json!({"name": "exec", "arguments": {"command": command}}));
    person.question(command);
    drop(waiting.to.take());
    waiting.ended(&person);
    person.wait_for(command, "cancelled");
    assert!(person.printed(&["audit", "verify"]).starts_with("ok"), "the journal is not whole");
}

#[test]
fn a_question_ends_with_the_process_whose_client_was_to_come_back_with_the_answer() {
    let person = Person::new();
    for by_signal in [false, true] {
        let mut process = Process::new(&person);
        let command = format!("echo nobody comes back {by_signal}");
        let params =
            json!({"name": "exec", "arguments": {"command": command}, "_meta": stateless()});
        let asked = process.ask("asks", "tools/call", &params);
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        person.question(&command);
        if by_signal {
            let id = Pid::from_raw(i32::try_from(process.child.id()).unwrap()).unwrap();
            kill_process(id, Signal::TERM).unwrap();
        } else {
            drop(process.to.take());
        }
        process.ended(&person);
        let list = person.printed(&["approvals", "list", "--json"]);
        let list: Value = serde_json::from_str(&list).unwrap();
        assert_eq!(list["pending"], json!([]), "{by_signal}");
    }
}

#[test]
fn a_form_is_taken_back_when_somebody_answers_elsewhere() {
    let person = Person::new();
    let mut process = Process::with(&person, &[], &json!({"elicitation": {}}));
    let command = "echo answered elsewhere";
    process.send("asks", "tools/call", &json!({"name": "exec", "arguments": {"command": command}}));
    let asked = process.next();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    person.answer(command, Surface::CommandLine, "allow");
    let told = process.next();
    assert_eq!(told["method"], "notifications/cancelled", "{told}");
    assert_eq!(told["params"]["requestId"], asked["id"]);
    let done = process.next();
    assert_eq!(done["result"]["structuredContent"]["stdout"], "answered elsewhere\n", "{done}");
}

#[test]
fn whoever_writes_a_few_messages_and_closes_gets_the_answers() {
    let person = Person::alone();
    let mut process = Process::new(&person);
    for number in 0..10 {
        process.send(&format!("list {number}"), "tools/list", &json!({}));
    }
    drop(process.to.take());
    let mut answered: Vec<_> =
        (0..10).map(|_| process.next()["id"].as_str().unwrap().to_owned()).collect();
    answered.sort();
    assert_eq!(answered, (0..10).map(|number| format!("list {number}")).collect::<Vec<_>>());
    process.ended(&person);
}

#[test]
fn a_whole_disk_or_a_whole_home_is_no_workspace() {
    let person = Person::alone();
    for place in ["/".into(), person.workspace()] {
        let mut command = person.command();
        command.arg("mcp").current_dir(&place).env("HOME", person.workspace());
        let refused = command.output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{}: {said}", place.display());
        for part in ["too much for an agent", "--workspace DIR", &place.display().to_string()] {
            assert!(said.contains(part), "{part}: {said}");
        }
        command.arg("--workspace").arg(person.workspace());
        let taken = command.output().unwrap();
        assert!(taken.status.success(), "{}", String::from_utf8_lossy(&taken.stderr));
    }
    // One that was made may have a folder of its own.
    let own = person.workspace().display().to_string();
    person.printed(&["agents", "add", "scribe", "--workspace", &own]);
    let mut command = person.command();
    let taken = command.args(["mcp", "--agent=scribe"]).current_dir("/").output().unwrap();
    assert!(taken.status.success(), "{}", String::from_utf8_lossy(&taken.stderr));
}

#[test]
fn an_agent_that_is_removed_meanwhile_can_do_nothing() {
    let person = Person::alone();
    let own = person.workspace().display().to_string();
    person.printed(&["agents", "add", "scribe", "--workspace", &own]);
    for args in [&["--agent=scribe"][..], &["--agent=scribe", "--workspace", &own]] {
        let mut process = Process::with(&person, args, &json!({}));
        assert_eq!(process.call("get_current_time", &json!({}))["isError"], false);
        person.printed(&["agents", "remove", "scribe"]);
        let call = json!({"name": "get_current_time", "arguments": {}});
        let refused = person.until("the agent to be gone", || {
            process.send("call", "tools/call", &call);
            // It may be told meanwhile that there are other tools.
            let mut answer = process.next();
            while answer["id"] != "call" {
                answer = process.next();
            }
            answer["error"]["message"].as_str().map(str::to_owned)
        });
        assert!(
            refused.starts_with("agent `scribe` was removed, or cannot work any more"),
            "{refused}"
        );
        person.printed(&["agents", "add", "scribe", "--workspace", &own]);
    }
}
