//! Which URLs a tool may use. Pure: names are resolved elsewhere, and every address comes back here.
//!
//! What passes is a [`CheckedUrl`], already normalised: what was checked is what is used.
//!
//! Start from [`check`] and [`CheckedUrl::check_address`]; [`explain`] is both, for people.

mod address;
mod checked;
mod host;
mod links;
mod passage;
mod refusal;
mod rules;
mod written;

use std::net::IpAddr;

pub use checked::CheckedUrl;
pub use links::links;
pub use passage::Passage;
pub use refusal::UrlRefusal;
pub use rules::UrlRules;

use crate::{Decision, Verdict};

/// Checks everything about `url` that can be known before its name is resolved.
pub fn check(url: &str, rules: &UrlRules) -> Result<CheckedUrl, UrlRefusal> {
    CheckedUrl::new(url, rules)
}

/// Says what the network door would do with `url`. Without `resolved`, a name is judged as a name.
pub fn explain(url: &str, resolved: Option<&[IpAddr]>, rules: &UrlRules) -> Decision {
    match judge(url, resolved, rules) {
        Ok(reason) => Decision::new(Verdict::Allow, "network.allow", reason),
        Err(UrlRefusal { rule, reason }) => Decision::new(Verdict::Deny, rule, reason),
    }
}

fn judge(url: &str, resolved: Option<&[IpAddr]>, rules: &UrlRules) -> Result<String, UrlRefusal> {
    let url = check(url, rules)?;
    if url.address().is_some() {
        return Ok(format!("`{}` may be reached", url.host()));
    }
    let Some(addresses) = resolved else {
        return Ok(format!(
            "`{}` may be reached, if every address it resolves to may be",
            url.host()
        ));
    };
    url.check_addresses(addresses, rules)?;
    Ok(format!("`{}` and every address of it may be reached", url.host()))
}
