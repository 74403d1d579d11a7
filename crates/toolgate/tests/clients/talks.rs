//! Every client talks to every vendor's model.

use std::{fs, path::Path, process::Command};

use provider::Format;
use scripted::ScriptedModel;
use serde_json::Value;

use crate::{
    installed::Result,
    script::{END, NOTES, next},
    served::Served,
};

/// Whether the stream helpers of a client show what ran here: some make events of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shows {
    Calls,
    Nothing,
}

const CLIENTS: [(&str, Shows); 4] = [
    ("openai", Shows::Calls),
    ("responses", Shows::Calls),
    ("anthropic", Shows::Nothing),
    ("gemini", Shows::Nothing),
];

const VENDORS: [(&str, Format); 4] = [
    ("chat", Format::OpenAi),
    ("responses", Format::OpenAiResponses),
    ("anthropic", Format::Anthropic),
    ("gemini", Format::Gemini),
];

/// The smallest image there is: one pixel.
const PIXEL: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0x1f, 0x15, 0xc4,
    0x89, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x00, 0x01, 0x00, 0x00,
    0x05, 0x00, 0x01, 0x0d, 0x0a, 0x2d, 0xb4, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae,
    0x42, 0x60, 0x82,
];

pub(crate) async fn talks(python: &Path) -> Result<()> {
    let model = ScriptedModel::answering(next).await;
    let server = Served::new(&config(&model));
    fs::write(server.workspace().join("pixel.png"), PIXEL)?;
    fs::write(server.workspace().join(".env"), "COLOUR=green\n")?;
    let agents = VENDORS.map(|(name, _)| format!("via_{name}")).join(",");
    let added = server.command().args(["tokens", "add", "--name", "answers"]).output()?;
    let answering = String::from_utf8(added.stdout)?.trim().to_owned();
    for (client, shows) in CLIENTS {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/talk.py");
        let (base, token) = (server.base.clone(), server.token.clone());
        let mut command = Command::new(python);
        command.arg(script).args([&base, &token, &answering, client, &agents]);
        let done = tokio::task::spawn_blocking(move || command.output()).await??;
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        if !done.status.success() {
            let wrong = String::from_utf8_lossy(&done.stderr);
            return Err(format!("{client}: {wrong}\n{said}\n{}", server.log()).into());
        }
        let talks: Vec<_> = said.lines().collect();
        assert_eq!(talks.len(), VENDORS.len(), "{client}: {said}");
        for line in talks {
            check(client, shows, &serde_json::from_str(line)?);
        }
    }
    told(&model);
    Ok(())
}

/// What one conversation came to.
fn check(client: &str, shows: Shows, seen: &Value) {
    let text = seen["text"].as_str().unwrap_or_default();
    for part in ["Let me look around.", "Better:", END] {
        assert!(text.contains(part), "{client}: {part} in {text}");
    }
    assert!(seen["pieces"].as_u64() > Some(0), "{client} was not streamed");
    let mut answers: Vec<_> =
        seen["answers"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    answers.sort_unstable();
    assert_eq!(answers, ["allow_once", "allow_once", "deny"], "{client}");
    if shows == Shows::Calls {
        let expected: Vec<_> = NOTES.iter().map(|(tool, status)| [*tool, *status]).collect();
        assert_eq!(seen["notes"], serde_json::json!(expected), "{client}");
    }
}

/// What the models were told at the end of each conversation.
fn told(model: &ScriptedModel) {
    let requests = model.requests();
    let last: Vec<_> = requests
        .iter()
        .filter(|request| request.body.to_string().contains("sunny in Rome"))
        .collect();
    assert_eq!(last.len(), CLIENTS.len() * VENDORS.len());
    for request in last {
        let body = request.body.to_string();
        // The image, what was refused, what was denied and why, and results of both sides.
        for part in
            ["iVBORw0KGgo", "file_not_found", "not today", "COLOUR=green", "water the plants"]
        {
            assert!(body.contains(part), "{part} to {:?}", request.format());
        }
    }
}

fn config(model: &ScriptedModel) -> String {
    let one = |(name, format): (&str, Format)| {
        let url = model.base_url(format);
        format!(
            "[agents.via_{name}]\nmodel = \"{name}_script/m\"\n\
             [providers.{name}_script]\nformat = \"{format}\"\nbase_url = \"{url}\"\nmodel = \"m\"\n"
        )
    };
    VENDORS.map(one).concat()
}
