//! One provider, which says what a test wants.

use std::collections::BTreeMap;

use agent::{Choice, ModelError, Models};
use config::{Config, SecretValue, parse, resolve_secrets};
use provider::{Assembled, Definitions, Format, Message, Options, Prompt};
use scripted::{Reply, ScriptedModel};
use tokio_util::sync::CancellationToken;
use tool::ToolInfo;

/// What the provider takes for a key.
pub(crate) const KEY: &str = "sk-hunter2-hunter2";

/// The formats models speak.
pub(crate) const FORMATS: [Format; 4] =
    [Format::OpenAi, Format::OpenAiResponses, Format::Anthropic, Format::Gemini];

/// A provider called `mine`, the way to it, and what a person has seen of its answers.
pub(crate) struct Setup {
    pub(crate) models: Models,
    pub(crate) choice: Choice,
    pub(crate) cancel: CancellationToken,
}

impl Setup {
    /// With this in the table of the provider besides where it is.
    pub(crate) fn new(server: &ScriptedModel, format: Format, more: &str) -> Self {
        let base_url = server.base_url(format);
        let text = format!(
            "[providers.mine]\nformat = '{format}'\nbase_url = '{base_url}'\nkey = 'mine'\n{more}\n\
             [secrets]\nmine = 'env:MINE'"
        );
        let config = configuration(&text);
        let environment = |name: &str| (name == "MINE").then(|| KEY.to_owned());
        let secrets = resolve_secrets(&config, environment).unwrap();
        let models = Models::new(&config, environment, &secrets);
        let choice = models.pick(None, Some("mine/some-model")).unwrap();
        Self { models, choice, cancel: CancellationToken::new() }
    }

    /// Says `hello`, with one tool; gives the answer, and the pieces of text as they came.
    pub(crate) async fn ask(&self) -> (Result<Assembled, ModelError>, Vec<String>) {
        let read = ToolInfo::new("read", "Reads a file.", serde_json::json!({"type": "object"}));
        let tools = Definitions::default().list(self.choice.format, &[read.into()]);
        let messages = [Message::user("hello")];
        let options = Options::default();
        let prompt = Prompt {
            provider: "",
            model: "",
            system: Some("be brief"),
            messages: &messages,
            tools: Some(&tools),
            options: &options,
        };
        let mut pieces = Vec::new();
        let mut on_text = |text: &str| pieces.push(text.to_owned());
        let answer = self.models.stream(&self.choice, &prompt, &self.cancel, &mut on_text).await;
        (answer, pieces)
    }
}

/// Says `hello` to a provider that gives these replies; the answer, or the error in words.
pub(crate) async fn outcome(
    format: Format,
    replies: impl IntoIterator<Item = Reply>,
    more: &str,
) -> (String, usize) {
    let server = ScriptedModel::new(replies).await;
    let (answer, _) = Setup::new(&server, format, more).ask().await;
    let said = match answer {
        Ok(answer) => answer.text,
        Err(error) => error.to_string(),
    };
    (said, server.requests().len())
}

pub(crate) fn configuration(text: &str) -> Config {
    parse(text, "toolgate.toml").unwrap()
}

/// Models with this configuration and these variables; every secret that is named is `KEY`.
pub(crate) fn models(text: &str, variables: &'static [(&'static str, &'static str)]) -> Models {
    let config = configuration(text);
    let secrets: BTreeMap<_, _> = config
        .secrets
        .keys()
        .map(|name| (name.clone(), SecretValue::from(KEY.to_owned())))
        .collect();
    let environment = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    Models::new(&config, environment, &secrets)
}
