//! One attempt to get an answer.

use std::collections::BTreeMap;

use bytes::Bytes;
use provider::{Assembled, Assembler, Prompt, ProviderError};
use world::{Outlet, OutletAnswer, OutletError, OutletRequest};

use super::{
    Choice, ModelError,
    endpoint::{Endpoint, Reach},
    refusal::{self, Refusal},
    retry::Failure,
    vendor::{self, vendor},
};

/// A request that is ready to be sent, as often as need be.
pub(super) struct Attempt<'a> {
    outlet: &'a Outlet,
    endpoint: &'a Endpoint,
    reach: &'a Reach,
    pub(super) choice: &'a Choice,
    request: OutletRequest,
}

/// What takes the pieces of what a model says.
type OnText<'a> = &'a mut (dyn FnMut(&str) + Send);

impl<'a> Attempt<'a> {
    pub(super) fn new(
        outlet: &'a Outlet,
        (endpoint, reach): (&'a Endpoint, &'a Reach),
        choice: &'a Choice,
        prompt: &Prompt<'_>,
    ) -> Result<Self, ModelError> {
        let body = provider::request(reach.format, prompt)?.to_string();
        let url = vendor::url(reach, &choice.model);
        let mut request = OutletRequest::post(url, Bytes::from(body));
        request.headers = headers(reach);
        request.idle = reach.idle;
        Ok(Self { outlet, endpoint, reach, choice, request })
    }

    /// Sends it once.
    pub(super) async fn make(&self, on_text: OnText<'_>) -> Result<Assembled, Failure> {
        let answer = self.outlet.send(self.request.clone()).await;
        let answer = answer.map_err(|error| self.unsent(&error))?;
        if answer.status / 100 == 2 {
            self.read(answer, on_text).await
        } else {
            Err(self.refused(answer).await)
        }
    }

    /// Puts the stream together, and passes on what the model says.
    async fn read(&self, answer: OutletAnswer, on_text: OnText<'_>) -> Result<Assembled, Failure> {
        let mut body = answer.body;
        let (mut assembler, mut passed) = (Assembler::new(self.reach.format), 0);
        let mut pass = |text: &str| {
            if let Some(new) = text.get(passed..).filter(|new| !new.is_empty()) {
                on_text(new);
                passed = text.len();
            }
        };
        let ended = loop {
            match body.chunk().await {
                Ok(Some(bytes)) => {
                    let pushed = assembler.push(&bytes);
                    pass(assembler.text());
                    pushed.map_err(|error| self.unread(&error))?;
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        let whole = assembler.finish().inspect(|answer| pass(&answer.text));
        match (whole, ended) {
            // An answer that is whole counts, even if its connection then broke.
            (Ok(answer), _) => Ok(answer),
            (Err(_), Err(broken)) => Err(self.unsent(&broken)),
            (Err(error), Ok(())) => Err(self.unread(&error)),
        }
    }

    /// What an answer that is none says.
    async fn refused(&self, mut answer: OutletAnswer) -> Failure {
        let retry_after =
            refusal::retry_after(answer.header("retry-after-ms"), answer.header("retry-after"));
        let mut body = Vec::new();
        while body.len() < refusal::MAX_BYTES
            && let Ok(Some(bytes)) = answer.body.chunk().await
        {
            body.extend_from_slice(&bytes);
        }
        body.truncate(refusal::MAX_BYTES);
        let Self { endpoint, reach, choice, .. } = self;
        Refusal { endpoint, reach, choice, status: answer.status, retry_after, body: &body }
            .failure()
    }

    /// What went wrong on the way.
    fn unsent(&self, error: &OutletError) -> Failure {
        let (provider, said) =
            (self.choice.provider.clone(), refusal::shown(&error.to_string(), self.reach));
        match error {
            OutletError::Connect { .. } => {
                Failure::for_now(ModelError::Unreachable { provider, said }, None)
            }
            OutletError::Silent { .. } | OutletError::Broken { .. } => {
                Failure::for_now(ModelError::Broken { provider, said }, None)
            }
            OutletError::TooLarge { .. } => {
                Failure::for_good(ModelError::Broken { provider, said })
            }
            OutletError::Url(_) | OutletError::Header(_) | OutletError::Redirected { .. } => {
                Failure::for_good(ModelError::Unreachable { provider, said })
            }
        }
    }

    /// What is wrong with an answer.
    fn unread(&self, error: &ProviderError) -> Failure {
        if let ProviderError::Remote(message) = error {
            return refusal::in_stream(message, self.choice, self.reach);
        }
        let (provider, said) =
            (self.choice.provider.clone(), refusal::shown(&error.to_string(), self.reach));
        let broken = ModelError::Broken { provider, said };
        if matches!(error, ProviderError::TooLarge { .. }) {
            return Failure::for_good(broken);
        }
        Failure::for_now(broken, None)
    }
}

/// What goes along with every request; the operator's own headers win, except over the key.
fn headers(reach: &Reach) -> BTreeMap<String, String> {
    let vendor = vendor(reach.format);
    let ours = [("accept", "text/event-stream"), ("content-type", "application/json")];
    let ours = ours.iter().chain(vendor.headers);
    let ours = ours.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let theirs =
        reach.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
    let key = reach.key.as_ref().map(|key| (vendor.auth)(key.reveal()));
    let key = key.map(|(name, value)| (name.to_owned(), value));
    ours.chain(theirs).chain(key).collect()
}
