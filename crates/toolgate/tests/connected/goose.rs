//! goose itself, with a scripted model behind it, offers that model our tools.

use std::{
    fs,
    net::SocketAddr,
    path::Path,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use scripted::{Reply, ScriptedModel};

use crate::{
    install::Installed,
    person::{Person, TOKEN, printed},
};

const FILE: &str = ".config/goose/config.yaml";
/// Longer than a server takes to start, also on a machine that does much else.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) async fn goose_offers_it(installed: &Installed) {
    let (person, goose) = (Person::new(), installed.goose());
    person.file(
        FILE,
        "# mine\nextensions:\n  developer:\n    enabled: true\n    type: builtin\n    name: developer\n",
    );
    let has_ours = |tools: &[String]| tools.iter().any(|name| name == "toolgate__read");
    person.toolgate(&["connect", "goose", "--yes"]);
    let tools = offered(&person, &goose, TOKEN.1).await;
    assert!(has_ours(&tools), "{tools:?}");
    let _server = serving(&person);
    let said = person.toolgate(&["connect", "goose", "--http", "--yes"]);
    let token = said.lines().find(|line| line.starts_with("tg_")).unwrap();
    let text = person.text(FILE);
    assert!(text.contains("streamable_http") && !text.contains("cmd"), "{text}");
    let tools = offered(&person, &goose, token).await;
    assert!(has_ours(&tools), "{text}\n{tools:?}");
    assert!(!has_ours(&offered(&person, &goose, TOKEN.1).await), "it came without a token");
    person.toolgate(&["connect", "goose", "--remove", "--yes"]);
    let tools = offered(&person, &goose, token).await;
    assert!(!tools.is_empty() && !has_ours(&tools), "{tools:?}");
}

/// The names of the tools that the model of a new session is offered.
async fn offered(person: &Person, goose: &Path, token: &str) -> Vec<String> {
    let model = ScriptedModel::answering(|_| Reply::text("All done.")).await;
    let host = model.base_url(provider::Format::OpenAi);
    let mut run = person.command(goose);
    run.args(["run", "--no-session", "--text", "Say hello."])
        .env(TOKEN.0, token)
        .env("GOOSE_PROVIDER", "openai")
        .env("GOOSE_MODEL", "gpt-4o")
        .env("GOOSE_DISABLE_KEYRING", "1")
        .env("GOOSE_TELEMETRY_ENABLED", "false")
        .env("OPENAI_HOST", host.trim_end_matches("/v1"))
        .env("OPENAI_API_KEY", "sk-test");
    let said = tokio::task::spawn_blocking(move || printed(&mut run)).await.unwrap();
    assert!(said.contains("All done."), "{said}");
    let requests = model.requests();
    let tools = requests.iter().flat_map(|one| one.body["tools"].as_array().into_iter().flatten());
    tools.filter_map(|tool| tool["function"]["name"].as_str().map(str::to_owned)).collect()
}

/// A server that ends with it.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serving(person: &Person) -> Server {
    let mut serve = person.command(Path::new(env!("CARGO_BIN_EXE_toolgate")));
    serve.args(["serve", "--listen", "127.0.0.1:0"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut server = Server(serve.spawn().unwrap());
    let place = person.path(".local/share/toolgate/listening");
    // It is there before it says where.
    let listens =
        || fs::read_to_string(&place).is_ok_and(|text| text.parse::<SocketAddr>().is_ok());
    let begin = Instant::now();
    while !listens() {
        assert!(server.0.try_wait().unwrap().is_none(), "it ended by itself");
        assert!(begin.elapsed() < PATIENCE, "never: `{}` says where it listens", place.display());
        thread::sleep(Duration::from_millis(50));
    }
    server
}
