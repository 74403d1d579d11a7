//! Somebody who runs Toolgate, and answers questions.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{http, served::Served, site::PATIENCE};

/// Where a question is answered.
#[derive(Clone, Copy)]
pub(crate) enum Surface {
    CommandLine,
    /// With another token than the call was made with.
    Http,
}

pub(crate) struct Person(Served);

impl Person {
    /// With a server.
    pub(crate) fn new() -> Self {
        Self(Served::new(""))
    }

    /// With nothing that runs.
    pub(crate) fn alone() -> Self {
        let mut served = Served::new("");
        served.kill();
        Self(served)
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/mcp", self.0.base)
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.0.workspace()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.data()
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.0.data().join("toolgate.toml")
    }

    pub(crate) fn command(&self) -> Command {
        self.0.command()
    }

    /// What a command printed that must succeed.
    pub(crate) fn printed(&self, args: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.command().args(args).output().unwrap();
        let wrong = String::from_utf8_lossy(&stderr);
        assert!(status.success(), "{args:?}: {status}\n{wrong}");
        String::from_utf8(stdout).unwrap().trim().to_owned()
    }

    /// A token with these scopes.
    pub(crate) fn token(&self, scopes: &[&str]) -> String {
        let scopes = scopes.iter().flat_map(|scope| ["--scope", scope]);
        let args: Vec<_> =
            ["tokens", "add", "--name", "client"].into_iter().chain(scopes).collect();
        self.printed(&args)
    }

    /// `toolgate mcp`, for clients that start it themselves.
    pub(crate) fn own_process(&self, args: &[&str]) -> Value {
        let command = self.command();
        let given = command.get_args().map(|arg| arg.to_str().unwrap());
        let program = command.get_program().to_str().unwrap();
        let all: Vec<_> =
            [program].into_iter().chain(given).chain(["mcp"]).chain(args.iter().copied()).collect();
        json!({"command": all, "cwd": self.workspace()})
    }

    /// Waits for the question about a command, and gives its id.
    pub(crate) fn question(&self, command: &str) -> String {
        self.until(&format!("a question about `{command}`"), || {
            let list: Value =
                serde_json::from_str(&self.printed(&["approvals", "list", "--json"])).unwrap();
            let pending = list["pending"].as_array().unwrap();
            let about = pending.iter().find(|one| one.to_string().contains(command))?;
            Some(about["id"].as_str().unwrap().to_owned())
        })
    }

    /// Waits for the question about a command, and answers it.
    pub(crate) fn answer(&self, command: &str, surface: Surface, answer: &str) {
        let id = self.question(command);
        match surface {
            Surface::CommandLine => drop(self.printed(&["approvals", answer, &id])),
            Surface::Http => {
                let path = format!("/v1/approvals/{id}");
                let decision = if answer == "allow" { "allow_once" } else { answer };
                let body = json!({"decision": decision}).to_string();
                let to = (&*self.0.base, &*self.0.token);
                let answered = http::send(to, ("POST", &path), &[], &body).unwrap();
                assert_eq!(answered.status, 200, "{}", answered.body);
            }
        }
    }

    /// Waits until the call with this command has a status.
    pub(crate) fn wait_for(&self, command: &str, status: &str) {
        self.until(&format!("`{command}` to be {status}"), || {
            let all: Value = serde_json::from_str(&self.printed(&["history", "--json"])).unwrap();
            let call =
                all.as_array().unwrap().iter().find(|call| call["input"]["command"] == command)?;
            [&call["status"], &call["error_type"]].iter().any(|is| **is == status).then_some(())
        });
    }

    /// Waits for something that comes by itself.
    pub(crate) fn until<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(begun.elapsed() < PATIENCE, "waited for {what}\n{}", self.0.log());
            sleep(Duration::from_millis(50));
        }
    }
}
