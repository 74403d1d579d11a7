//! Whether commands can be held here.

use config::{Config, Minimum};
use sandbox::{Feature, Found, Level, Report, Sandbox, SandboxSettings};

use super::finding::{Finding, ok, problem, warning};

const NAME: &str = "sandbox";

/// What the kernel offers to hold a command, tried out.
pub(super) async fn isolation(config: &Config) -> Vec<Finding> {
    let sandbox = Sandbox::new(SandboxSettings::default());
    let found = match sandbox.report().await {
        Ok(report) => findings(report, config),
        Err(error) => vec![problem(NAME, error.to_string())],
    };
    sandbox.shutdown().await;
    found
}

fn findings(report: &Report, config: &Config) -> Vec<Finding> {
    let missing = report.features.iter().filter_map(missing);
    let mut found = vec![summary(report.level, config)];
    found.extend(missing);
    found
}

fn missing(feature: &Feature) -> Option<Finding> {
    match &feature.found {
        Found::Yes(_) | Found::NotNeeded(_) => None,
        Found::No { reason, fix } => {
            let Feature { name, purpose, .. } = feature;
            Some(warning(NAME, format!("{name} ({purpose}): {reason}")).fix(fix))
        }
    }
}

fn summary(level: Level, config: &Config) -> Finding {
    match (level, config.tools.isolation.minimum.value) {
        (Level::Full, _) => ok(NAME, "commands are isolated, and the kernel counts what they use"),
        (Level::Reduced, Minimum::Reduced) => {
            ok(NAME, "commands are isolated; limits are approximate (`reduced`)")
        }
        (Level::Reduced, Minimum::Full) => {
            problem(NAME, "no cgroup is writable, so commands are refused").fix(
                "make one writable, or accept approximate limits with `tools.sandbox.minimum = \
                 \"reduced\"`",
            )
        }
        (Level::None, _) => problem(NAME, "commands cannot be isolated here, so none runs"),
    }
}
