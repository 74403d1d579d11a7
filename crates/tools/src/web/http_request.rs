//! `http_request`.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{
    Answer, Capability, Effect, Fetch, Info, Method, Plan, Redact, Section, Tool, ToolContext,
    ToolOutput, ToolResult, schema_of,
};

use super::text;

/// What is left out at the end of a body that was cut, of a short one an eighth: half a secret there could not be told
/// from other text.
const CUT_MARGIN_BYTES: usize = 4_096;

/// Send an HTTP request and get the answer: status, headers and body as the server sent them. A
/// status such as 404 or 500 is an answer, not an error. Redirects are followed, without your headers
/// where they lead to another host. Only public hosts can be reached, unless the operator opened
/// others. Anything but a plain GET or HEAD may have to be approved by a person first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HttpRequest {
    /// Where to send it, beginning with `https://` or `http://`. Credentials go into `headers`, not
    /// into the URL.
    url: String,
    /// What to ask of the server.
    #[serde(default)]
    method: Method,
    /// Headers to send, by name, such as `{"Accept": "application/json"}`.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// What to send along, as it is; give its type as the header `Content-Type`.
    body: Option<String>,
}

/// What came back.
#[derive(Serialize, JsonSchema)]
struct Answered {
    /// Status of the answer, such as 200.
    status: u16,
    /// Where the answer came from, after all redirects.
    url: String,
    /// Headers of the answer, names in lower case; several of one name are joined by a comma.
    headers: BTreeMap<String, String>,
    /// The body as text, as much of it as the operator allows (1 MB by default); empty if it is not text.
    body: String,
    /// How many bytes of the body were read.
    bytes: u64,
    /// Whether the body goes on after what is here.
    truncated: bool,
    /// What is missing of the body, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Tool for HttpRequest {
    const NAME: &'static str = "http_request";
    const EFFECTS: &'static [Effect] = &[Effect::Fetch, Effect::Act];
    const INFO: Info = Info {
        label: "HTTP request",
        section: Section::Web,
        large: &["body"],
        uses: &[Capability::Network],
        ..Info::DEFAULT
    };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Answered>())
    }

    fn plan(&self) -> Plan {
        self.fetch().needs().into_iter().collect()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let answer = ctx.net().fetch(self.fetch()).await?;
        let answered = Answered::new(answer, ctx.redact().as_ref());
        let (text, source) = (answered.to_string(), answered.url.clone());
        let output = ToolOutput::json(answered).with_text(text);
        Ok(ToolOutput { untrusted: Some(source), ..output })
    }
}

impl HttpRequest {
    fn fetch(&self) -> Fetch {
        Fetch {
            url: self.url.clone(),
            method: self.method,
            headers: self.headers.clone(),
            body: self.body.clone().map(String::into_bytes),
            // As much as `tools.web.fetch.max_bytes` says.
            max_bytes: None,
        }
    }
}

impl Answered {
    fn new(answer: Answer, redact: &dyn Redact) -> Self {
        let decoded = text::decode(&answer.body, answer.header("content-type"));
        let is_text = decoded.is_some();
        let mut body = decoded.map(Cow::into_owned).unwrap_or_default();
        if answer.truncated {
            body = redact.redact(&body).into_owned();
            let margin = CUT_MARGIN_BYTES.min(body.len() / 8);
            let kept = body.len() - margin;
            body.truncate(body.floor_char_boundary(kept));
        }
        let note = note(&answer, is_text.then_some(body.len()));
        let Answer { url, status, headers: pairs, body: bytes, truncated } = answer;
        let mut headers = BTreeMap::<String, String>::new();
        for (name, value) in pairs {
            let known = headers.entry(name).or_default();
            let comma = if known.is_empty() { "" } else { ", " };
            *known = format!("{known}{comma}{value}");
        }
        Self { status, url, headers, body, bytes: bytes.len() as u64, truncated, note }
    }
}

/// What a model should know that the body does not say. `shown` is how much of it is there as text.
fn note(answer: &Answer, shown: Option<usize>) -> Option<String> {
    let (bytes, kind) = (answer.body.len(), answer.header("content-type").unwrap_or("no type"));
    match (shown, answer.truncated) {
        (None, false) => Some(format!("{bytes} bytes that are not text ({kind}) are not shown")),
        (None, true) => Some(format!("more than {bytes} bytes that are not text ({kind})")),
        (Some(shown), true) => Some(format!("truncated after {shown} bytes; ask for a part of it")),
        (Some(_), false) => None,
    }
}

/// As a server would have written it, which models know.
impl fmt::Display for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", self.status, self.url)?;
        for (name, value) in &self.headers {
            writeln!(f, "{name}: {value}")?;
        }
        write!(f, "\n{}", self.body)?;
        self.note.as_ref().map_or(Ok(()), |note| write!(f, "\n[{note}]"))
    }
}
