//! Conversations, as clients of model providers have them.

use std::time::UNIX_EPOCH;

use axum::{http::Method, response::Response};
use provider::{Format, Stream};
use serde_json::Value;
use store::Scope;

use super::{
    endpoint::{Asked, Endpoint, Given, Unknown},
    input::{AnyJson, Empty},
    openapi::Described,
    output::Answer,
};
use crate::{
    chat::{self, Pieces, Refused},
    problem::{Kind, Nothing},
    speaking,
};

/// Every status an answer can have besides those that all have.
const STATUSES: [(u16, &str); 6] = [
    (400, "The conversation makes no sense, or is too long for the model."),
    (404, "There is no such agent, session, response or model."),
    (429, "The provider, the session or the user has too much to do; see `retry-after`."),
    (499, "The run was stopped."),
    (502, "The model's provider failed, refused, or broke off."),
    (503, "The model of this agent is not set up, or its provider is in trouble."),
];

/// What the vendor's own clients read: an answer, events, or an error in the vendor's form.
#[derive(Debug)]
pub(crate) struct Spoken(Response);

impl Answer for Spoken {
    fn describe(described: &mut Described<'_>) {
        described
            .json::<Value>(200, "The answer, in the vendor's form, with `tool_calls` beside it.");
        described.text(200, "text/event-stream", "The same piece by piece, if it was asked for.");
        for (status, words) in STATUSES {
            described.json::<Value>(status, words);
        }
        for kind in Kind::EVERYWHERE.iter().chain(Kind::WITH_BODY) {
            described.json::<Value>(kind.status(), "An error, in the vendor's form.");
        }
    }

    fn respond(self) -> Response {
        self.0
    }
}

async fn speak(
    asked: Asked,
    format: Format,
    (path, pieces): (Option<(&str, Stream)>, Pieces),
    body: &Value,
) -> Result<Spoken, Nothing> {
    let (state, signed) = (&asked.state, &asked.signed);
    let now = state.now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let names = crate::auth::names(&asked.headers);
    let turn = match names {
        Ok(names) => {
            let request = chat::Asked { format, signed, names, path, body, now };
            request.decode(&state.agents, &state.gate.config()).await
        }
        Err(problem) => Err(Refused::Problem(problem)),
    };
    let refused = match turn {
        Ok(turn) => match speaking::begin(state, signed, turn.caller.clone()).await {
            Ok(speaking) => return Ok(Spoken(chat::answer(speaking, turn, pieces).await)),
            Err(problem) => Refused::Problem(problem),
        },
        Err(refused) => refused,
    };
    Ok(Spoken(refused.respond(format, &signed.person())))
}

/// What is spoken at a path, if an agent is spoken to there.
pub(crate) fn format_at(path: &str) -> Option<Format> {
    let fixed = SPOKEN.iter().find(|(own, _)| *own == path).map(|(_, format)| *format);
    let gemini = || GEMINI.iter().any(|own| path.starts_with(own.trim_end_matches("{call}")));
    fixed.or_else(|| gemini().then_some(Format::Gemini))
}

/// Makes an endpoint for a format whose path is fixed.
macro_rules! conversations {
    ($($name:ident, $path:literal, $format:ident, $summary:literal;)*) => {$(
        #[doc = concat!("`POST ", $path, "`.")]
        pub(crate) struct $name;

        impl Endpoint for $name {
            const METHOD: Method = Method::POST;
            const PATH: &'static str = $path;
            const SUMMARY: &'static str = $summary;
            const UNKNOWN: Unknown = Unknown::PassedOver;
            const NEEDS: Option<Scope> = Some(Scope::Call);
            type Path = ();
            type Query = Empty;
            type Body = AnyJson;
            type Answer = Spoken;
            type Refusal = Nothing;

            async fn handle(asked: Asked, given: Given<Self>) -> Result<Spoken, Nothing> {
                speak(asked, Format::$format, (None, Pieces::Events), &given.body.0).await
            }
        }
    )*

        /// What is spoken at paths that are fixed.
        const SPOKEN: &[(&str, Format)] = &[$(($path, Format::$format)),*];
    };
}

conversations! {
    Completions, "/v1/chat/completions", OpenAi, "Talk to an agent, as clients of OpenAI chat completions do.";
    Responses, "/v1/responses", OpenAiResponses, "Talk to an agent, as clients of OpenAI responses do.";
    Messages, "/v1/messages", Anthropic, "Talk to an agent, as clients of Anthropic do.";
}

/// What comes after the question mark of Gemini's clients.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Form {
    /// `sse`; without it a streamed answer is a list.
    alt: Option<String>,
    /// The same.
    #[serde(rename = "$alt")]
    system_alt: Option<String>,
}

impl Form {
    fn pieces(&self) -> Pieces {
        let alt = self.alt.as_deref().or(self.system_alt.as_deref());
        if alt == Some("sse") { Pieces::Events } else { Pieces::List }
    }
}

/// Makes an endpoint for Gemini, which has the model and what is asked of it in the path.
macro_rules! gemini {
    ($($name:ident, $path:literal;)*) => {$(
        #[doc = concat!("`POST ", $path, "`.")]
        pub(crate) struct $name;

        impl Endpoint for $name {
            const METHOD: Method = Method::POST;
            const PATH: &'static str = $path;
            const SUMMARY: &'static str = "Talk to an agent, as clients of Gemini do: `AGENT:generateContent` or `AGENT:streamGenerateContent`.";
            const UNKNOWN: Unknown = Unknown::PassedOver;
            const NEEDS: Option<Scope> = Some(Scope::Call);
            type Path = String;
            type Query = Form;
            type Body = AnyJson;
            type Answer = Spoken;
            type Refusal = Nothing;

            async fn handle(asked: Asked, given: Given<Self>) -> Result<Spoken, Nothing> {
                let (agent, action) = given.path.rsplit_once(':').unwrap_or((&given.path, ""));
                let stream = match action {
                    "generateContent" => Stream::No,
                    "streamGenerateContent" => Stream::Yes,
                    _ => {
                        let message = "only `generateContent` and `streamGenerateContent` are here";
                        let (format, kind) = (Format::Gemini, "not_found");
                        return Ok(Spoken(chat::refusal(format, 404, kind, message)));
                    }
                };
                let how = (Some((agent, stream)), given.query.pieces());
                speak(asked, Format::Gemini, how, &given.body.0).await
            }
        }
    )*

        /// Paths that end with an agent and what is asked of it.
        const GEMINI: &[&str] = &[$($path),*];
    };
}

gemini! {
    Generate, "/v1beta/models/{call}";
    GenerateV1, "/v1/models/{call}";
}
