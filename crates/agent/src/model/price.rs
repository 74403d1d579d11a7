//! What tokens cost.

use provider::Usage;

/// What a million tokens cost, in micro-dollars. An estimate: providers have discounts, and some ask for
/// more where a prompt is very long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Price {
    /// Read.
    pub input: u64,
    /// Read from the provider's cache.
    pub cached_input: u64,
    /// Written.
    pub output: u64,
}

impl Price {
    /// In thousandths of a dollar, which is how the table of known models has them.
    pub(crate) const fn mills(input: u64, cached_input: u64, output: u64) -> Self {
        Self { input: input * 1_000, cached_input: cached_input * 1_000, output: output * 1_000 }
    }

    /// What an answer cost, in micro-dollars, rounded up.
    pub fn cost_micros(&self, usage: &Usage) -> u64 {
        // What is written to the cache costs about as much as what is only read.
        let Usage { input, output, cache_read: cached, cache_write: _ } = *usage;
        let of = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let new = input.saturating_sub(cached);
        let sum = of(new, self.input)
            .saturating_add(of(cached.min(input), self.cached_input))
            .saturating_add(of(output, self.output));
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_paid_for_once() {
        let price = Price::mills(3_000, 300, 15_000);
        for (input, cached, output, expected) in [
            (0, 0, 0, 0),
            (1_000_000, 0, 0, 3_000_000),
            (1_000_000, 1_000_000, 0, 300_000),
            (1_000_000, 400_000, 100_000, 1_800_000 + 120_000 + 1_500_000),
            (1, 0, 0, 3),
            // A tenth of a micro-dollar is a micro-dollar.
            (1, 1, 0, 1),
            // More from the cache than was read at all is the provider's mistake.
            (1_000_000, 9_000_000, 0, 300_000),
            (u64::MAX, 0, u64::MAX, u64::MAX),
        ] {
            let usage = Usage { input, output, cache_read: cached, cache_write: 0 };
            assert_eq!(price.cost_micros(&usage), expected, "{input} {cached}");
        }
    }
}
