//! Models: which there are, what they cost, and a conversation with one.
//!
//! What differs between providers stays in the file of its format.

mod answer;
mod anthropic;
mod choice;
mod demo;
mod endpoint;
mod error;
mod found;
mod gemini;
mod known;
mod openai;
mod price;
mod refusal;
mod retry;
mod vendor;

use std::{collections::BTreeMap, fmt};

use config::{Agent, Config, SecretValue};
use provider::{Assembled, Prompt};
use tokio_util::sync::CancellationToken;
use world::Outlet;

use self::{answer::Attempt, endpoint::Endpoint};
pub use self::{
    choice::Choice,
    error::ModelError,
    known::{KeyNeed, Known, KnownModel, known_providers, provider_names},
    price::Price,
};

/// The providers of models there are, and the way to them. `Debug` shows no keys.
pub struct Models {
    outlet: Outlet,
    endpoints: Vec<Endpoint>,
}

impl Models {
    /// Those of the configuration, then those whose keys are in the environment, and always `demo`.
    /// `environment` is [`config::environment`] except in tests; `secrets` are those that
    /// [`config::resolve_secrets`] found.
    pub fn new(
        config: &Config,
        environment: impl Fn(&str) -> Option<String>,
        secrets: &BTreeMap<String, SecretValue>,
    ) -> Self {
        let endpoints = found::endpoints(config, environment, secrets);
        for endpoint in &endpoints {
            if let Err(reason) = &endpoint.reach {
                tracing::warn!(provider = endpoint.name, "this provider cannot be used: {reason}");
            }
        }
        Self { outlet: Outlet::new(), endpoints }
    }

    /// The model that `wanted` names; if nothing is wanted that of `agent`; else the usual one of the
    /// first provider there is, which is the demo if there is no other.
    pub fn pick(&self, agent: Option<&Agent>, wanted: Option<&str>) -> Result<Choice, ModelError> {
        let configured = agent.and_then(|agent| agent.model.as_deref().map(String::as_str));
        match wanted.or(configured).map(str::trim).filter(|wanted| !wanted.is_empty()) {
            Some(wanted) => choice::named(&self.endpoints, wanted),
            None => Ok(choice::usual(&self.endpoints)),
        }
    }

    /// The names of the providers that can be used, in the order they are looked at.
    pub fn providers(&self) -> Vec<&str> {
        let usable = self.endpoints.iter().filter(|endpoint| endpoint.reach.is_ok());
        usable.map(|endpoint| endpoint.name.as_str()).chain([choice::DEMO]).collect()
    }

    /// Keys that were found in the environment, by variable, to be redacted like any secret.
    pub fn secrets(&self) -> BTreeMap<String, SecretValue> {
        let keys = self.endpoints.iter().filter_map(|endpoint| endpoint.reach.as_ref().ok());
        keys.filter_map(|reach| reach.key.as_ref()?.found()).collect()
    }

    /// Asks the model that was picked. `on_text` gets each piece of what it says, as it comes; what
    /// went wrong before the first of them is tried again.
    pub async fn stream(
        &self,
        choice: &Choice,
        prompt: &Prompt<'_>,
        cancel: &CancellationToken,
        on_text: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Assembled, ModelError> {
        let prompt = Prompt { provider: &choice.provider, model: &choice.model, ..*prompt };
        let work = async {
            if choice.is_demo() {
                return Ok(demo::stream(&prompt, on_text).await);
            }
            let (endpoint, reach) = choice::endpoint(&self.endpoints, choice)?;
            let attempt = Attempt::new(&self.outlet, (endpoint, reach), choice, &prompt)?;
            retry::until_answered(&attempt, reach.retries, on_text).await
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(ModelError::Cancelled),
            answer = work => answer,
        }
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Models").field("providers", &self.providers()).finish_non_exhaustive()
    }
}
