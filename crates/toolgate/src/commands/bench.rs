//! `toolgate bench`.

mod gates;
mod grep;
mod measure;
mod server;
mod spawn;
mod views;
mod wire;

use std::{borrow::Cow, process::ExitCode};

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use toolgate::Format;

use self::measure::Times;
use crate::output;

/// Measure what the gate itself costs on this machine.
///
/// Use a release build on an idle machine; compare ratios rather than times. A row about memory has
/// `bytes` in JSON, and no times.
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Only rows whose name contains this.
    #[arg(value_name = "NAME")]
    only: Option<String>,
    /// Print a JSON list.
    #[arg(long)]
    json: bool,
}

/// One measured thing.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    name: Cow<'static, str>,
    median_ns: u64,
    p99_ns: u64,
    /// Memory instead of time; the times are 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// What it is compared with.
    baseline: Option<&'static str>,
    /// Its median through that of the baseline.
    ratio: Option<f64>,
    /// What else there is to say, such as why there is no ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Bench {
    pub(crate) async fn run(self) -> Result<ExitCode> {
        // On one thread: waking an idle other one costs more than the gate, and says nothing of it.
        let measure = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(self.measure())
        };
        tokio::task::spawn_blocking(measure).await?
    }

    async fn measure(self) -> Result<ExitCode> {
        let wanted = |name: &str| self.only.as_deref().is_none_or(|only| name.contains(only));
        let mut rows = Vec::new();
        if wanted("gate.noop") || wanted("gate.noop.journal") {
            rows.extend(gates::noop().await?);
        }
        if wanted("gate.tools_10") || wanted("gate.tools_10000") {
            rows.extend(gates::many_tools().await?);
        }
        if wanted("registry.builtin") {
            rows.push(gates::builtin_registry()?);
        }
        if wanted("policy.view_10") || wanted("policy.view_10000") {
            rows.extend(views::lookups()?);
        }
        if Format::ALL.iter().any(|format| wire::NAMES.iter().any(|name| wanted(&name(*format)))) {
            rows.extend(wire::all());
        }
        if spawn::NAMES.iter().any(|name| wanted(name)) {
            rows.extend(spawn::all().await?);
        }
        if wanted(server::START) || wanted(server::IDLES) {
            rows.extend(server::all()?);
        }
        if wanted("grep.tree") {
            rows.push(grep::tree().await?);
        }
        if self.json {
            output::json(&rows)?;
        } else {
            output::table(
                &["name", "median", "p99", "baseline", "ratio"],
                rows.iter().map(Row::cells).collect(),
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Row {
    fn new(name: impl Into<Cow<'static, str>>, times: Times) -> Self {
        let (median_ns, p99_ns) = times.summary();
        Self {
            name: name.into(),
            median_ns,
            p99_ns,
            bytes: None,
            baseline: None,
            ratio: None,
            note: None,
        }
    }

    /// Compared with another row.
    fn against(self, name: &'static str, baseline: &Self) -> Self {
        let ratio = Some(measure::ratio(self.median_ns, baseline.median_ns));
        Self { baseline: Some(name), ratio, ..self }
    }

    fn cells(&self) -> Vec<String> {
        let (median, p99) = match self.bytes {
            Some(bytes) => (measure::shown_bytes(bytes), "-".to_owned()),
            None => (measure::shown(self.median_ns), measure::shown(self.p99_ns)),
        };
        vec![
            self.name.to_string(),
            median,
            p99,
            self.baseline.unwrap_or("-").to_owned(),
            self.ratio.map_or_else(
                || self.note.clone().unwrap_or_else(|| "-".to_owned()),
                |ratio| format!("{ratio:.2}"),
            ),
        ]
    }
}
