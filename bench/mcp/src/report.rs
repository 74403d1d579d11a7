//! What came out, for people and for programs.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use crate::{
    Options,
    measure::{Cost, Load},
    output,
};

/// One server.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) load: Load,
    pub(crate) answer_bytes: usize,
    pub(crate) costs: Vec<Cost>,
}

/// All servers; rmcp is the first.
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
        let missing = ["toolgate", "fastmcp"]
            .into_iter()
            .filter(|name| rows.iter().all(|row| row.name != *name))
            .collect();
        Self { rows, limit: *limit, what, missing }
    }

    /// Whether Toolgate stays within the limit; true if it was not measured.
    pub(crate) fn is_within(&self) -> bool {
        self.toolgate().is_none_or(|row| self.ratio(row) <= self.limit)
    }

    /// The table for people.
    pub(crate) fn print_table(&self) {
        output::line(format_args!("CPU time of the server, µs a call: {}\n", self.what));
        let rounds = self.rows.first().map_or(0, |row| row.costs.len());
        let width = rounds * 8;
        output::line(format_args!(
            "{:<9}{:>width$}{:>9}{:>7}{:>9}{:>8}{:>8}",
            "", "each round", "median", "ratio", "calls/s", "calls", "bytes"
        ));
        for row in &self.rows {
            let rounds = row.costs.iter().map(|cost| format!("{:>8.1}", micros(cost.cpu)));
            let rounds = rounds.collect::<Vec<_>>().concat();
            output::line(format_args!(
                "{:<9}{rounds}{:>9.1}{:>7.2}{:>9.0}{:>8}{:>8}",
                row.name,
                row.cpu(),
                self.ratio(row),
                row.speed(),
                row.load.calls,
                row.answer_bytes
            ));
        }
        output::line("");
        for name in &self.missing {
            output::line(format_args!("{name} was not measured: give --{name}"));
        }
        if let Some(toolgate) = self.toolgate() {
            let verdict = if self.is_within() { "within" } else { "ABOVE" };
            let ratios = self.ratios(toolgate).into_iter().map(|ratio| format!("{ratio:.2}"));
            output::line(format_args!(
                "toolgate to rmcp: {:.2} is {verdict} the limit of {}; round by round {}",
                self.ratio(toolgate),
                self.limit,
                ratios.collect::<Vec<_>>().join(", ")
            ));
        }
    }

    /// The same for programs.
    pub(crate) fn print_json(&self) -> Result<()> {
        let servers: Vec<_> = self.rows.iter().map(|row| self.server(row)).collect();
        let report = json!({
            "what": self.what,
            "limit": self.limit,
            "ratio": self.toolgate().map(|row| self.ratio(row)),
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
            "ratio": self.ratio(row),
            "ratios": self.ratios(row),
            "calls_per_second": row.speed(),
            "calls": row.load.calls,
            "answer_bytes": row.answer_bytes,
        })
    }

    fn toolgate(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == "toolgate")
    }

    /// Of the medians.
    fn ratio(&self, row: &Row) -> f64 {
        self.rows.first().map_or(f64::NAN, |rmcp| row.cpu() / rmcp.cpu())
    }

    /// Of each round, which shows how far to trust the one above.
    fn ratios(&self, row: &Row) -> Vec<f64> {
        let rmcp = self.rows.iter().take(1).flat_map(|rmcp| &rmcp.costs);
        row.costs.iter().zip(rmcp).map(|(row, rmcp)| row.cpu.div_duration_f64(rmcp.cpu)).collect()
    }
}

impl Row {
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
