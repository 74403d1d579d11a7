//! `toolgate call`.

use std::{
    io::{self, Read},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use tokio::signal::unix::{SignalKind, signal};
use toolgate::{Approver, Outcome, Request};

use crate::{
    cli::{Global, Identity, duration},
    context, output,
    terminal::{SaysYes, Terminal, Waits},
};

/// The most that is read from standard input: the largest argument there is, and what is around it.
const MAX_STDIN: u64 = 32 * 1024 * 1024;

/// Call a tool and print its outcome as JSON.
///
/// Exit code 0 on success, 1 if the call was refused or failed, 2 on wrong usage.
#[derive(Debug, Args)]
pub(crate) struct CallTool {
    /// The tool.
    name: String,
    /// Its arguments as a JSON object; `-` reads them from standard input.
    #[arg(value_name = "JSON", allow_hyphen_values = true)]
    args: Option<String>,
    #[command(flatten)]
    identity: Identity,
    /// Answer every question with yes, as the owner; recorded as such.
    #[arg(long, conflicts_with = "wait")]
    yes: bool,
    /// Leave a question open for this long, so that `toolgate approvals` elsewhere can answer it.
    #[arg(long, value_name = "5m", value_parser = duration)]
    wait: Option<Duration>,
}

impl CallTool {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        let args = arguments(self.args.as_deref())?;
        let approver: Arc<dyn Approver> = match (self.yes, self.wait) {
            (true, _) => Arc::new(SaysYes),
            (_, Some(_)) => Arc::new(Waits),
            (false, None) => Arc::new(Terminal),
        };
        let mut config = context::configuration_for(global, &self.identity)?;
        if let Some(wait) = self.wait {
            config.limits.approval_timeout = wait.into();
        }
        let gate = context::gate(global, config, Some(approver))?;
        let caller = context::caller(&self.identity);
        let request = Request::from_text(&self.name, &args);
        let cancel = request.cancel.clone();
        let stop = tokio::spawn(async move {
            stopped().await;
            cancel.cancel();
        });
        let outcome = gate.run(&caller, request).await;
        stop.abort();
        output::json(&outcome)?;
        Ok(exit_code(&outcome))
    }
}

/// Waits until the person or the system wants the command to end.
async fn stopped() {
    let (Ok(mut hangup), Ok(mut terminate)) =
        (signal(SignalKind::hangup()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = hangup.recv() => {}
        _ = terminate.recv() => {}
    }
}

/// 0 on success, 1 otherwise.
pub(crate) fn exit_code(outcome: &Outcome) -> ExitCode {
    ExitCode::from(u8::from(!matches!(outcome, Outcome::Success { .. })))
}

/// The arguments as text; none is none.
fn arguments(text: Option<&str>) -> Result<String> {
    match text {
        None => Ok(String::new()),
        Some("-") => standard_input(),
        Some(text) => Ok(text.to_owned()),
    }
}

fn standard_input() -> Result<String> {
    let mut text = String::new();
    let read = io::stdin().take(MAX_STDIN + 1).read_to_string(&mut text);
    read.context("cannot read the arguments from standard input")?;
    if text.len() as u64 > MAX_STDIN {
        bail!("more than {MAX_STDIN} bytes of arguments on standard input");
    }
    Ok(text)
}
