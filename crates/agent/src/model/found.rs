//! Which providers there are.

use std::collections::BTreeMap;

use config::{BaseUrl, Config, Decimal, Provider, SecretValue};
use provider::Format;

use super::{
    Price,
    endpoint::{Endpoint, Key, Reach},
    known::{self, KeyNeed, Known},
};

/// What the environment says; an empty variable says nothing.
type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;
type Secrets = BTreeMap<String, SecretValue>;

/// Those of the configuration by name, then those of the environment in the order of the table.
pub(super) fn endpoints(
    config: &Config,
    environment: impl Fn(&str) -> Option<String>,
    secrets: &Secrets,
) -> Vec<Endpoint> {
    let environment = |name: &str| environment(name).filter(|value| !value.trim().is_empty());
    let configured =
        config.providers.iter().map(|(name, provider)| of(name, provider, &environment, secrets));
    let is_new =
        |known: &&Known| !config.providers.keys().any(|name| name.eq_ignore_ascii_case(known.name));
    let found = known::known_providers().iter().filter(is_new).filter(|known| {
        let named = |variable: &&str| environment(variable).is_some();
        // Where a provider is says that it is meant only if it has no key to say so.
        let keyless = known.base_variable.filter(|_| known.keys.is_empty());
        known.keys.iter().any(named) || keyless.as_ref().is_some_and(named)
    });
    let none = Provider::default();
    configured.chain(found.map(|known| of(known.name, &none, &environment, secrets))).collect()
}

fn of(
    name: &str,
    provider: &Provider,
    environment: Environment<'_>,
    secrets: &Secrets,
) -> Endpoint {
    let known = known::provider(name);
    let usual = known.and_then(|known| known.model).map(str::to_owned);
    let model = provider.model.as_ref().map(|model| model.value.clone()).or(usual);
    let reach = reach(name, provider, environment, secrets);
    Endpoint { name: name.to_owned(), known, model, reach }
}

fn reach(
    name: &str,
    provider: &Provider,
    environment: Environment<'_>,
    secrets: &Secrets,
) -> Result<Reach, String> {
    let known = known::provider(name);
    let format = provider.format.as_ref().map(|format| format.value);
    let format = format
        .or(known.map(|known| known.format))
        .ok_or_else(|| format!("`providers.{name}.format` is missing; say what it speaks"))?;
    if format == Format::Mcp {
        return Err("its format is `mcp`, which is for tools and not for models".to_owned());
    }
    let key = key(name, provider, environment, secrets)?;
    let given = provider.base_url.as_ref().map(|url| url.as_str().to_owned());
    if let Some(known) = known
        && (key.is_none() && given.is_none() && known.key == KeyNeed::Required)
    {
        let variables: Vec<_> = known.keys.iter().map(|name| format!("`{name}`")).collect();
        return Err(format!(
            "it has no key; set {}, or name a secret as `providers.{name}.key`",
            variables.join(" or ")
        ));
    }
    let base_url = match (given, known) {
        (Some(url), _) => url,
        (None, Some(known)) => usual_place(known, environment)?,
        (None, None) => {
            return Err(format!("`providers.{name}.base_url` is missing; say where it is"));
        }
    };
    let header = |(name, value): (&String, &config::Spanned<config::Text>)| {
        (name.clone(), value.value.to_string())
    };
    Ok(Reach {
        format,
        base_url,
        key,
        headers: provider.headers.iter().map(header).collect(),
        idle: provider.timeout.value,
        retries: provider.retries.value,
        context_tokens: provider.context_tokens.as_ref().map(|tokens| tokens.value),
        price: price(provider),
    })
}

fn key(
    name: &str,
    provider: &Provider,
    environment: Environment<'_>,
    secrets: &Secrets,
) -> Result<Option<Key>, String> {
    let Some(secret) = &provider.key else {
        let keys = known::provider(name).map(|known| known.keys).unwrap_or_default();
        let found = |variable: &&str| Some(Key::variable(variable, environment(variable)?));
        return Ok(keys.iter().find_map(found));
    };
    let value = secrets.get(secret.as_str());
    // What stands there is not repeated: it may be the key itself.
    value.map(|value| Some(Key::secret(secret.as_str(), value.clone()))).ok_or_else(|| {
        let names: Vec<_> = secrets.keys().map(|name| format!("`{name}`")).collect();
        let there = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        format!("`providers.{name}.key` does not name one of `secrets`, which has {there}")
    })
}

/// Where a known provider is, unless its variable says otherwise.
fn usual_place(known: &Known, environment: Environment<'_>) -> Result<String, String> {
    let Some((variable, value)) =
        known.base_variable.and_then(|name| Some((name, environment(name)?)))
    else {
        return Ok(known.base_url.to_owned());
    };
    let written = if variable == "OLLAMA_HOST" { ollama(&value) } else { value };
    let url = written.parse::<BaseUrl>();
    let url = url.map_err(|expected| format!("`{variable}` must be {expected}"))?;
    Ok(url.as_str().to_owned())
}

/// `OLLAMA_HOST` is written for the server, which takes a host, a port or both, and listens everywhere
/// on `0.0.0.0`.
fn ollama(written: &str) -> String {
    let written = written.trim().trim_end_matches('/');
    let (scheme, rest) = written.split_once("://").unwrap_or(("http", written));
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| {
        !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    });
    let host = host.replacen("0.0.0.0", "127.0.0.1", 1);
    let host = if host.starts_with(':') { format!("127.0.0.1{host}") } else { host };
    let port = if has_port || scheme == "https" { "" } else { ":11434" };
    let path = if path.is_empty() || path == "v1" { "" } else { path };
    let slash = if path.is_empty() { "" } else { "/" };
    format!("{scheme}://{host}{port}{slash}{path}/v1")
}

/// What the configuration says; what it leaves out costs nothing, and what comes from a cache as much
/// as the rest.
fn price(provider: &Provider) -> Option<Price> {
    let Provider { input_price, output_price, .. } = provider;
    if input_price.is_none() && output_price.is_none() {
        return None;
    }
    let micros = |price: &Option<config::Spanned<Decimal>>| {
        price.as_ref().map_or(0, |price| price.millionths())
    };
    let input = micros(input_price);
    Some(Price { input, cached_input: input, output: micros(output_price) })
}

#[cfg(test)]
mod tests {
    use super::ollama;

    #[test]
    fn the_servers_own_variable_says_where_it_is() {
        for (written, expected) in [
            ("127.0.0.1", "http://127.0.0.1:11434/v1"),
            ("0.0.0.0:11434", "http://127.0.0.1:11434/v1"),
            (":8080", "http://127.0.0.1:8080/v1"),
            ("gpu", "http://gpu:11434/v1"),
            ("http://gpu:80/", "http://gpu:80/v1"),
            ("https://ollama.example", "https://ollama.example/v1"),
            ("https://ollama.example/v1", "https://ollama.example/v1"),
            ("http://gpu/ollama", "http://gpu:11434/ollama/v1"),
            ("[::1]", "http://[::1]:11434/v1"),
        ] {
            assert_eq!(ollama(written), expected, "{written}");
        }
    }
}
