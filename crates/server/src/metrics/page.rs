//! The page that Prometheus reads.

use std::{fmt::Write as _, sync::atomic::Ordering, time::Duration};

use gate::Stats;
use services::RunnerStats;

use super::{BUCKETS, Metrics, lock};

/// What is looked up when somebody reads the page.
#[derive(Debug)]
pub(crate) struct Now {
    pub(crate) gate: Stats,
    pub(crate) runner: RunnerStats,
    pub(crate) connections: usize,
    pub(crate) ws_connections: usize,
    /// Sessions of MCP clients, and requests of theirs that wait for them to come back.
    pub(crate) mcp: (usize, usize),
    pub(crate) uptime: Duration,
    pub(crate) version: &'static str,
}

/// Everything that is counted.
pub(crate) fn page(metrics: &Metrics, now: &Now) -> String {
    let mut page = Page::default();
    page.head("toolgate_info", "gauge", "The version of the server.");
    page.line("toolgate_info", &[("version", now.version)], 1);
    page.gauge(
        "toolgate_uptime_seconds",
        "Seconds since the server started.",
        now.uptime.as_secs(),
    );
    of_calls(&mut page, metrics);
    of_gate(&mut page, &now.gate);
    of_questions(&mut page, metrics, &now.gate);
    of_agents(&mut page, metrics);
    of_runner(&mut page, &now.runner);
    of_clients(&mut page, metrics, now);
    page.0
}

fn of_calls(page: &mut Page, metrics: &Metrics) {
    let tools = lock(&metrics.tools);
    page.head("toolgate_calls_total", "counter", "Calls by tool, status and stage that refused.");
    for (tool, of_tool) in &*tools {
        for ((status, stage), count) in &of_tool.calls {
            let labels = [("tool", tool.as_str()), ("status", status), ("stage", stage)];
            page.line("toolgate_calls_total", &labels, count);
        }
    }
    let name = "toolgate_call_duration_seconds";
    page.head(name, "histogram", "How long calls took, waiting included.");
    for (tool, of_tool) in &*tools {
        let tool = ("tool", tool.as_str());
        let bucket = format!("{name}_bucket");
        for (end, count) in BUCKETS.iter().zip(of_tool.buckets) {
            page.line(&bucket, &[tool, ("le", &end.to_string())], count);
        }
        page.line(&bucket, &[tool, ("le", "+Inf")], of_tool.count);
        page.line(&format!("{name}_sum"), &[tool], of_tool.seconds);
        page.line(&format!("{name}_count"), &[tool], of_tool.count);
    }
}

fn of_gate(page: &mut Page, gate: &Stats) {
    page.gauge("toolgate_calls_running", "Calls that have a slot.", gate.running);
    page.gauge("toolgate_calls_waiting", "Calls that wait for a slot.", gate.waiting);
    let unrecorded = "Calls refused without a record, because so many of their user's were.";
    page.counter("toolgate_calls_unrecorded_total", unrecorded, gate.unrecorded);
    page.gauge("toolgate_cache_entries", "Results that are kept.", gate.cache_entries);
    page.counter(
        "toolgate_cache_hits_total",
        "Calls answered with a kept result.",
        gate.cache_hits,
    );
    let misses = "Calls that could have been answered with a kept result and were not.";
    page.counter("toolgate_cache_misses_total", misses, gate.cache_misses);
}

fn of_questions(page: &mut Page, metrics: &Metrics, gate: &Stats) {
    let asked = metrics.asked.load(Ordering::Relaxed);
    page.counter("toolgate_approvals_asked_total", "Questions put to people.", asked);
    let name = "toolgate_approvals_resolved_total";
    page.head(name, "counter", "Questions that are over, by how they ended.");
    for (status, count) in &*lock(&metrics.resolved) {
        page.line(name, &[("status", status)], count);
    }
    page.gauge("toolgate_approvals_open", "Questions that wait.", gate.open_questions);
}

fn of_agents(page: &mut Page, metrics: &Metrics) {
    let runs = lock(&metrics.runs);
    page.gauge("toolgate_runs_open", "Agents that answer somebody, or each other.", runs.open);
    let name = "toolgate_runs_total";
    page.head(name, "counter", "Answers of agents, by how they ended.");
    for (how, count) in &runs.ended {
        page.line(name, &[("how", how)], count);
    }
    let name = "toolgate_model_tokens_total";
    page.head(name, "counter", "Tokens that models of agents read (`input`) and wrote (`output`).");
    for (kind, count) in [("input", runs.read), ("output", runs.written)] {
        page.line(name, &[("kind", kind)], count);
    }
}

fn of_runner(page: &mut Page, runner: &RunnerStats) {
    page.gauge("toolgate_sandbox_parked", "Launchers that wait for a command.", runner.parked);
    page.gauge("toolgate_sandbox_running", "Commands that run.", runner.running);
    page.counter("toolgate_sandbox_jobs_total", "Commands that were started.", runner.jobs);
    page.gauge("toolgate_processes", "Background processes that run.", runner.processes);
}

fn of_clients(page: &mut Page, metrics: &Metrics, now: &Now) {
    let count = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
    let name = "toolgate_http_requests_total";
    page.head(name, "counter", "Requests by the status they were answered with.");
    for (status, count) in &*lock(&metrics.requests) {
        page.line(name, &[("status", &status.to_string())], count);
    }
    page.gauge("toolgate_http_connections", "Open connections.", now.connections);
    page.gauge("toolgate_ws_connections", "Open WebSocket connections.", now.ws_connections);
    let (sessions, waiting) = now.mcp;
    page.gauge("toolgate_mcp_sessions", "Sessions of MCP clients.", sessions);
    let help = "Requests of MCP clients that wait for them to come back.";
    page.gauge("toolgate_mcp_waiting", help, waiting);
    let failures = "Requests without a token that works.";
    page.counter("toolgate_authentication_failures_total", failures, count(&metrics.failures));
    let refused = "Connections refused because there were too many.";
    page.counter(
        "toolgate_connections_refused_total",
        refused,
        count(&metrics.refused_connections),
    );
    let slow = "WebSocket connections closed because they did not read fast enough.";
    page.counter("toolgate_ws_slow_readers_total", slow, count(&metrics.slow_readers));
}

#[derive(Default)]
struct Page(String);

// Writing to a text cannot fail.
impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let labels: Vec<_> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels =
            if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl std::fmt::Display) {
        self.head(name, "gauge", help);
        self.line(name, &[], value);
    }

    fn counter(&mut self, name: &str, help: &str, value: impl std::fmt::Display) {
        self.head(name, "counter", help);
        self.line(name, &[], value);
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
