//! What came out, for people and for programs.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use crate::{
    Options,
    measure::{Cost, Load},
    output,
};

/// What the bare server is called that is built like Toolgate.
pub(crate) const RMCP_ALIKE: &str = "rmcp-alike";

/// One server.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) load: Load,
    pub(crate) answer_bytes: usize,
    pub(crate) costs: Vec<Cost>,
}

/// All servers.
#[derive(Debug)]
pub(crate) struct Report {
    rows: Vec<Row>,
    limit: f64,
    what: String,
    missing: Vec<&'static str>,
}

impl Report {
    pub(crate) fn new(options: &Options, rows: Vec<Row>) -> Self {
        let Options { tool, args, revision, connections, limit, .. } = options;
        let what = format!("`{tool}` {args}, MCP {}, {connections} connections", revision.name());
        let missing = ["toolgate", RMCP_ALIKE, "fastmcp"]
            .into_iter()
            .filter(|name| rows.iter().all(|row| row.name != *name))
            .collect();
        Self { rows, limit: *limit, what, missing }
    }

    /// Whether Toolgate stays within the limit; true if it was not measured.
    pub(crate) fn is_within(&self) -> bool {
        self.to("rmcp").is_none_or(|ratio| ratio <= self.limit)
    }

    /// The table for people.
    pub(crate) fn print_table(&self) {
        output::line(format_args!("CPU time of the server, µs a call: {}\n", self.what));
        let rounds = self.rows.first().map_or(0, |row| row.costs.len());
        let width = rounds * 8;
        output::line(format_args!(
            "{:<11}{:>width$}{:>9}{:>7}{:>9}{:>8}{:>8}",
            "", "each round", "median", "ratio", "calls/s", "calls", "bytes"
        ));
        for row in &self.rows {
            let rounds = row.costs.iter().map(|cost| format!("{:>8.1}", micros(cost.cpu)));
            let rounds = rounds.collect::<Vec<_>>().concat();
            output::line(format_args!(
                "{:<11}{rounds}{:>9.1}{:>7.2}{:>9.0}{:>8}{:>8}",
                row.name,
                row.cpu(),
                self.row("rmcp").map_or(f64::NAN, |rmcp| row.ratio(rmcp)),
                row.speed(),
                row.load.calls,
                row.answer_bytes
            ));
        }
        output::line("");
        for name in &self.missing {
            output::line(format_args!("{name} was not measured: give --{name}"));
        }
        for base in ["rmcp", RMCP_ALIKE] {
            self.print_ratio(base);
        }
    }

    /// How Toolgate compares with another, if both were measured.
    fn print_ratio(&self, base: &str) {
        let (Some(toolgate), Some(base)) = (self.row("toolgate"), self.row(base)) else { return };
        let verdict = match (base.name, self.is_within()) {
            ("rmcp", true) => format!("within the limit of {}", self.limit),
            ("rmcp", false) => format!("ABOVE the limit of {}", self.limit),
            _ => "without a limit".to_owned(),
        };
        let ratios = toolgate.ratios(base).into_iter().map(|ratio| format!("{ratio:.2}"));
        output::line(format_args!(
            "toolgate to {}: {:.2}, {verdict}; round by round {}",
            base.name,
            toolgate.ratio(base),
            ratios.collect::<Vec<_>>().join(", ")
        ));
    }

    /// The same for programs.
    pub(crate) fn print_json(&self) -> Result<()> {
        let servers: Vec<_> = self.rows.iter().map(|row| self.server(row)).collect();
        let report = json!({
            "what": self.what,
            "limit": self.limit,
            "ratio": self.to("rmcp"),
            "ratio_alike": self.to(RMCP_ALIKE),
            "ok": self.is_within(),
            "not_measured": self.missing,
            "servers": servers,
        });
        output::line(serde_json::to_string_pretty(&report)?);
        Ok(())
    }

    fn server(&self, row: &Row) -> Value {
        let rounds: Vec<_> = row.costs.iter().map(|cost| micros(cost.cpu)).collect();
        json!({
            "name": row.name,
            "cpu_us": rounds,
            "median_cpu_us": row.cpu(),
            "ratio": self.row("rmcp").map(|rmcp| row.ratio(rmcp)),
            "ratios": self.row("rmcp").map(|rmcp| row.ratios(rmcp)),
            "calls_per_second": row.speed(),
            "calls": row.load.calls,
            "answer_bytes": row.answer_bytes,
        })
    }

    fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// How many times as much as another Toolgate needs.
    fn to(&self, base: &str) -> Option<f64> {
        Some(self.row("toolgate")?.ratio(self.row(base)?))
    }
}

impl Row {
    /// Of the medians.
    fn ratio(&self, base: &Self) -> f64 {
        self.cpu() / base.cpu()
    }

    /// Of each round, which shows how far to trust the one above.
    fn ratios(&self, base: &Self) -> Vec<f64> {
        let pairs = self.costs.iter().zip(&base.costs);
        pairs.map(|(own, base)| own.cpu.div_duration_f64(base.cpu)).collect()
    }

    fn cpu(&self) -> f64 {
        median(self.costs.iter().map(|cost| micros(cost.cpu)).collect())
    }

    fn speed(&self) -> f64 {
        median(self.costs.iter().map(|cost| cost.calls_per_second).collect())
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// The one in the middle; of two, the greater.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
