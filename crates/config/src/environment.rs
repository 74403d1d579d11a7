//! The one door to the environment.

/// The value of an environment variable, if it is set and text. Everybody asks here.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
