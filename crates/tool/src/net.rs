//! The `network` capability.

use std::{collections::BTreeMap, fmt, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BoxFuture, Live, Need, Plan, ToolError};

/// What is asked of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Method {
    #[default]
    Get,
    Post,
    Put,
    Patch,
    Delete,
    Head,
}

impl Method {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Head => "HEAD",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What goes out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fetch {
    /// Where to.
    pub url: String,
    /// What is asked.
    pub method: Method,
    /// Headers besides those that every request has.
    pub headers: BTreeMap<String, String>,
    /// What is sent along.
    pub body: Option<Vec<u8>>,
    /// Read at most this much of the answer; unset is what the deployment allows.
    pub max_bytes: Option<u64>,
}

impl Fetch {
    /// A `GET` of `url`.
    pub fn get(url: impl Into<String>) -> Self {
        Self { url: url.into(), ..Self::default() }
    }

    /// What a plan must have for this: the answer, and if something may change there, that too.
    pub fn needs(&self) -> Vec<Need> {
        let bytes = self.body.as_ref().map_or(0, Vec::len);
        let asks_only = matches!(self.method, Method::Get | Method::Head) && self.body.is_none();
        let with = if bytes == 0 { String::new() } else { format!(" with {bytes} bytes") };
        let act = || Need::Act(format!("send a {}{with} to `{}`", self.method, self.url));
        let act = (!asks_only).then(act);
        std::iter::once(Need::Fetch(self.url.clone())).chain(act).collect()
    }
}

/// What came back. Any status is an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Where it came from, after all redirects.
    pub url: String,
    /// Such as 200.
    pub status: u16,
    /// Headers in the order they came, names in lower case; those of a compression that was undone
    /// are left out.
    pub headers: Vec<(String, String)>,
    /// The body, decompressed if the server used `gzip` or `deflate`.
    pub body: Vec<u8>,
    /// Whether there was more of it than may be read.
    pub truncated: bool,
}

impl Answer {
    /// The first header with this name, in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(found, _)| found == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// A door to the network that looks at every URL, address and redirect by itself.
pub trait Net: fmt::Debug + Send + Sync {
    /// Sends `fetch` and reads the answer. Dropping the future ends it.
    fn fetch(&self, fetch: Fetch) -> BoxFuture<'_, Result<Answer, ToolError>>;
}

/// The URLs one call planned to fetch; any other is refused. Where they redirect to is the door's
/// business.
#[derive(Debug, Clone)]
pub struct Web {
    pub(crate) plan: Arc<Plan>,
    pub(crate) live: Arc<Live>,
    pub(crate) net: Option<Arc<dyn Net>>,
}

impl Web {
    /// Sends `fetch` and reads the answer, unless the call is stopped before.
    pub async fn fetch(&self, fetch: Fetch) -> Result<Answer, ToolError> {
        fetch.needs().iter().try_for_each(|need| self.plan.require(need))?;
        let net = self.net.as_ref().ok_or_else(|| {
            ToolError::denied("plan", "uses", "this tool does not say that it uses the network")
        })?;
        self.live.check()?;
        tokio::select! {
            biased;
            () = self.live.cancellation().cancelled() => {
                self.live.check()?;
                Err(ToolError::Cancelled)
            }
            answer = net.fetch(fetch) => answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Echo;

    impl Net for Echo {
        fn fetch(&self, fetch: Fetch) -> BoxFuture<'_, Result<Answer, ToolError>> {
            let headers = Vec::new();
            let answer =
                Answer { url: fetch.url, status: 200, headers, body: Vec::new(), truncated: false };
            Box::pin(async move { Ok(answer) })
        }
    }

    fn web(plan: Vec<Need>, net: Option<Arc<dyn Net>>) -> Web {
        Web { plan: Arc::new(plan.into_iter().collect()), live: Arc::default(), net }
    }

    #[tokio::test]
    async fn only_what_was_planned_goes_out() {
        let get = Fetch::get("https://a.example/");
        let post = Fetch { method: Method::Post, body: Some(b"x".to_vec()), ..get.clone() };
        let longer = Fetch { body: Some(b"xyz".to_vec()), ..post.clone() };
        let elsewhere = Fetch::get("https://b.example/");
        for (plan, fetch, expected) in [
            (&get, &get, Ok(200)),
            (&post, &post, Ok(200)),
            (&post, &get, Ok(200)),
            (
                &get,
                &post,
                Err("this call did not plan to send a POST with 1 bytes to `https://a.example/`"),
            ),
            (
                &post,
                &longer,
                Err("this call did not plan to send a POST with 3 bytes to `https://a.example/`"),
            ),
            (&get, &elsewhere, Err("this call did not plan to fetch `https://b.example/`")),
        ] {
            let answer = web(plan.needs(), Some(Arc::new(Echo))).fetch(fetch.clone()).await;
            let answer = answer.map(|answer| answer.status).map_err(|error| error.to_string());
            assert_eq!(answer.as_ref().map_err(String::as_str).copied(), expected);
        }
    }

    #[tokio::test]
    async fn without_the_capability_or_after_the_end_nothing_goes_out() {
        let get = Fetch::get("https://a.example/");
        let error = web(get.needs(), None).fetch(get.clone()).await.unwrap_err();
        assert_eq!(error.kind(), "permission_denied");
        let web = web(get.needs(), Some(Arc::new(Echo)));
        web.live.end();
        assert_eq!(web.fetch(get).await.unwrap_err().kind(), "cancelled");
    }
}
