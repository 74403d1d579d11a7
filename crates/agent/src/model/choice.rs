//! Which model is meant.

use std::fmt;

use provider::Format;
use tool::nearest;

use super::{
    ModelError, Price,
    endpoint::{Endpoint, Reach},
    known,
};

/// The name of the model that needs no provider, and of its provider.
pub(super) const DEMO: &str = "demo";

/// One model of one provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The provider's name, which policy looks at too.
    pub provider: String,
    /// The model, as the provider calls it.
    pub model: String,
    /// What the provider speaks.
    pub format: Format,
    /// Tokens it reads and writes at most; a guess if that is not known.
    pub context_tokens: u64,
    /// What its tokens cost, if that is known.
    pub price: Option<Price>,
}

impl Choice {
    /// The built-in model, which needs no network.
    pub fn demo() -> Self {
        let (provider, model) = (DEMO.to_owned(), DEMO.to_owned());
        let price = Some(Price::default());
        let context_tokens = u64::from(u32::MAX);
        Self { provider, model, format: Format::OpenAi, context_tokens, price }
    }

    /// Whether it is the built-in model.
    pub fn is_demo(&self) -> bool {
        self.provider == DEMO
    }

    fn of(endpoint: &Endpoint, model: &str) -> Result<Self, ModelError> {
        let reach = usable(endpoint)?;
        let known = known::model(model);
        let usual = endpoint.known.map_or(known::CONTEXT_TOKENS, |known| known.context_tokens);
        let context = reach.context_tokens.or(known.map(|known| known.context_tokens));
        Ok(Self {
            provider: endpoint.name.clone(),
            model: model.to_owned(),
            format: reach.format,
            context_tokens: context.unwrap_or(usual).into(),
            price: reach.price.or(known.map(|known| known.price)),
        })
    }
}

/// `provider/model`, as it can be asked for.
impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

/// The usual model of the first provider that can be used; without one, the demo.
pub(super) fn usual(endpoints: &[Endpoint]) -> Choice {
    let mut usual = endpoints.iter().filter_map(|endpoint| {
        let model = endpoint.model.as_deref()?;
        Choice::of(endpoint, model).ok()
    });
    usual.next().unwrap_or_else(Choice::demo)
}

/// `provider/model`, a provider, or a model.
pub(super) fn named(endpoints: &[Endpoint], wanted: &str) -> Result<Choice, ModelError> {
    let (first, rest) = wanted.split_once('/').map_or((wanted, None), |(a, b)| (a, Some(b)));
    let rest = rest.map(str::trim).filter(|rest| !rest.is_empty());
    if first.eq_ignore_ascii_case(DEMO) {
        return Ok(Choice::demo());
    }
    if let Some(endpoint) = find(endpoints, first) {
        let model = rest.or(endpoint.model.as_deref());
        return match model {
            Some(model) => Choice::of(endpoint, model),
            None => Err(ModelError::Unknown(format!(
                "`{first}` has no usual model; name one as `{first}/MODEL`, or set \
                 `providers.{first}.model`"
            ))),
        };
    }
    if let Some(missing) = missing(first) {
        return Err(missing);
    }
    if wanted.contains('/') {
        return Err(unknown_provider(endpoints, first, wanted));
    }
    bare(endpoints, wanted)
}

/// A model without its provider: one that is known to have it, else the default one.
fn bare(endpoints: &[Endpoint], model: &str) -> Result<Choice, ModelError> {
    let has = |endpoint: &&Endpoint| endpoint.known.is_some_and(|known| known.has(model));
    let usable = || endpoints.iter().filter(|endpoint| endpoint.reach.is_ok());
    if let Some(endpoint) = usable().find(has).or_else(|| usable().next()) {
        return Choice::of(endpoint, model);
    }
    let owner = known::known_providers().iter().find(|known| known.has(model));
    Err(owner.and_then(|known| missing(known.name)).unwrap_or_else(|| {
        let names =
            known::known_providers().iter().flat_map(|known| known.models).map(|model| model.name);
        let near =
            nearest(model, names.chain(known::known_providers().iter().map(|known| known.name)));
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        ModelError::Unknown(format!(
            "no provider for the model `{model}`; {near}{}",
            "write `provider/model`, and set a key such as `ANTHROPIC_API_KEY`"
        ))
    }))
}

fn find<'a>(endpoints: &'a [Endpoint], name: &str) -> Option<&'a Endpoint> {
    endpoints.iter().find(|endpoint| endpoint.name.eq_ignore_ascii_case(name.trim()))
}

/// Why a known provider is not there.
fn missing(name: &str) -> Option<ModelError> {
    let known = known::provider(name.trim())?;
    let variable = known.keys.first().or(known.base_variable.as_ref());
    let how = variable.map(|name| format!("set `{name}`, or ")).unwrap_or_default();
    let reason = format!("it is not configured; {how}add `[providers.{}]`", known.name);
    Some(ModelError::Unusable { provider: known.name.to_owned(), reason })
}

fn unknown_provider(endpoints: &[Endpoint], name: &str, wanted: &str) -> ModelError {
    let ours = endpoints.iter().map(|endpoint| endpoint.name.as_str());
    let names: Vec<_> =
        ours.chain(known::known_providers().iter().map(|known| known.name)).collect();
    let hint = nearest(name, names.iter().copied()).map_or_else(
        || {
            let mut there: Vec<_> =
                endpoints.iter().map(|endpoint| format!("`{}`", endpoint.name)).collect();
            there.push(format!("`{DEMO}`"));
            format!("there are {}", there.join(", "))
        },
        |near| format!("did you mean `{near}`?"),
    );
    ModelError::Unknown(format!("unknown provider `{name}` in `{wanted}`; {hint}"))
}

fn usable(endpoint: &Endpoint) -> Result<&Reach, ModelError> {
    endpoint.reach.as_ref().map_err(|reason| ModelError::Unusable {
        provider: endpoint.name.clone(),
        reason: reason.clone(),
    })
}

/// The provider of a choice that was made before.
pub(super) fn endpoint<'a>(
    endpoints: &'a [Endpoint],
    choice: &Choice,
) -> Result<(&'a Endpoint, &'a Reach), ModelError> {
    let endpoint = find(endpoints, &choice.provider)
        .ok_or_else(|| unknown_provider(endpoints, &choice.provider, &choice.model))?;
    Ok((endpoint, usable(endpoint)?))
}
