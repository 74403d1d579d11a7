//! As much HTTP as a test needs.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};
use tool::Format;

/// A request as the model got it.
#[derive(Debug, Clone)]
pub struct Request {
    /// `POST`, as a rule.
    pub method: String,
    /// With its query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, or `null` if it is no JSON.
    pub body: Value,
}

impl Request {
    /// The first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// What the path says is spoken.
    pub fn format(&self) -> Option<Format> {
        let path = self.path.split('?').next().unwrap_or_default();
        [
            ("/chat/completions", Format::OpenAi),
            ("/responses", Format::OpenAiResponses),
            ("/messages", Format::Anthropic),
            (":streamGenerateContent", Format::Gemini),
        ]
        .into_iter()
        .find(|(end, _)| path.ends_with(end))
        .map(|(_, format)| format)
    }

    /// The model, from the body or the path.
    pub fn model(&self) -> String {
        let named = self.body.get("model").and_then(Value::as_str);
        let path = self.path.split(':').next().unwrap_or_default();
        named.unwrap_or_else(|| path.rsplit('/').next().unwrap_or_default()).to_owned()
    }

    /// The next request of a connection.
    pub(crate) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Self> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut lines = head.lines();
        let mut first = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
        let (method, path) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
        let headers: Vec<_> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length.and_then(|(_, length)| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        let body = serde_json::from_slice(&body).unwrap_or_default();
        Ok(Self { method, path, headers, body })
    }
}
