//! Whether commands can be held here.

use config::{Config, Minimum};
use sandbox::{
    Feature, Found, IsolationMode, Level, LimitKeeper, Report, Sandbox, SandboxSettings,
};

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
    let mut found = vec![summary(report, config)];
    if let (None, Some(_)) = (cgroup(report), &config.tools.isolation.cpu_percent) {
        let message =
            "`tools.sandbox.cpu_percent` needs a writable cgroup, so commands are refused";
        found.push(problem(NAME, message).fix("make one writable, or remove the setting"));
    }
    // Why the level is not better. What needs user namespaces fails with them.
    if report.level != Level::Full {
        found.extend(report.features.iter().filter_map(missing).take(1));
        found.extend(report.lacks.iter().map(|lack| warning(NAME, format!("missing: {lack}"))));
    }
    found
}

fn cgroup(report: &Report) -> Option<IsolationMode> {
    report.mode.filter(|mode| mode.limits == LimitKeeper::Cgroup)
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

fn summary(report: &Report, config: &Config) -> Finding {
    let Report { level, mode, lacks, .. } = report;
    let fix = report.fix.as_deref();
    let Some(mode) = mode else {
        return with_fix(problem(NAME, "commands cannot be isolated here, so none runs"), fix);
    };
    match (level, config.tools.isolation.minimum.value) {
        (Level::Full, _) if mode.limits == LimitKeeper::Cgroup => {
            ok(NAME, format!("commands are isolated, and the kernel counts what they use ({mode})"))
        }
        (Level::Full, _) => {
            let lacks = lacks.join("; ");
            with_fix(ok(NAME, format!("commands are isolated ({mode}); missing: {lacks}")), fix)
        }
        (_, Minimum::Full) => {
            let message = format!(
                "isolation is only reduced here ({mode}), so `tools.sandbox.minimum = \"full\"` refuses \
                 all commands"
            );
            with_fix(problem(NAME, message), fix)
        }
        (_, Minimum::Auto | Minimum::Reduced) => {
            let message = format!("isolation of commands is reduced ({mode}), and they ask first");
            with_fix(warning(NAME, message), fix)
        }
    }
}

fn with_fix(finding: Finding, fix: Option<&str>) -> Finding {
    match fix {
        Some(fix) => finding.fix(format!("to change that: {fix}")),
        None => finding,
    }
}
