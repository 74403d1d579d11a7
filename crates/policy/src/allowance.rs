//! What a user may use up.

use std::num::NonZeroUsize;

use config::{Config, Spanned};
use tool::{Rate, Role};

/// What holds for a user; nothing is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Calls that run at once.
    pub calls: Option<usize>,
    /// How often tools are called.
    pub rate: Option<Rate>,
    /// WebSocket connections and open requests.
    pub connections: Option<usize>,
    /// Conversations that go on at once.
    pub runs: Option<usize>,
}

impl Allowance {
    /// Of a user: what is said about them, and for members what is said about all. Who owns the place is
    /// held back only by what is said about them by name.
    pub fn of(config: &Config, user: &str, role: Role) -> Self {
        let own = config.users.get(user).map(|user| &user.limits);
        let member = role == Role::Member;
        let count = |own: Option<NonZeroUsize>, all: NonZeroUsize| {
            own.or(member.then_some(all)).map(NonZeroUsize::get)
        };
        let value = |limit: &Option<Spanned<NonZeroUsize>>| limit.as_ref().map(|limit| limit.value);
        let (limits, server) = (&config.limits, &config.server);
        let rate = own.and_then(|own| Some(own.rate.as_ref()?.value));
        Self {
            calls: count(own.and_then(|own| value(&own.calls)), limits.calls_per_user.value),
            rate: rate.or(member.then_some(limits.rate_per_user.value)),
            connections: count(
                own.and_then(|own| value(&own.connections)),
                server.connections_per_user.value,
            ),
            runs: count(own.and_then(|own| value(&own.runs)), server.runs.value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_what_all_have_or_what_is_their_own_and_the_owner_only_the_latter() {
        let text = "limits.calls_per_user = 3\nlimits.rate_per_user = '5/min'\n\
                    server.connections_per_user = 4\nserver.runs = 6\n\
                    [users.ada.limits]\ncalls = 30\nrate = '50/min'\nconnections = 40\nruns = 60\n\
                    [users.owner.limits]\nconnections = 7";
        let config = config::parse(text, "toolgate.toml").unwrap();
        for (user, role, expected) in [
            ("bo", Role::Member, (Some(3), Some(5), Some(4), Some(6))),
            ("ada", Role::Member, (Some(30), Some(50), Some(40), Some(60))),
            ("owner", Role::Owner, (None, None, Some(7), None)),
        ] {
            let Allowance { calls, rate, connections, runs } = Allowance::of(&config, user, role);
            let found = (calls, rate.map(|rate| rate.calls), connections, runs);
            assert_eq!(found, expected, "{user}");
        }
    }
}
