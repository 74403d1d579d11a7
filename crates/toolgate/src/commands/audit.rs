//! `toolgate audit`.

use std::{
    fs::{self, OpenOptions},
    io::{BufWriter, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use store::{Checkpoint, FirstBad, Journal, StoreError, Verification};

use super::Reader;
use crate::{cli::Global, context, output};

/// Verify the journal, export it, or note where it stands.
#[derive(Debug, Args)]
pub(crate) struct Audit {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Find out whether a record was changed, removed, inserted or moved.
    ///
    /// Exit code 0 if nothing was, 1 otherwise.
    Verify {
        /// Also compare with this checkpoint, which finds an end that was cut off.
        #[arg(long, value_name = "FILE")]
        checkpoint: Option<PathBuf>,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print every record as a line of JSON.
    Export {
        /// Write to this file instead.
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Print where the journal stands, to be kept where nobody who can change it can.
    Checkpoint {
        /// Write to this file instead.
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Set a damaged journal aside and begin a new one.
    ///
    /// Nothing is deleted: the old file stays in the data folder, under another name. The first record of the new
    /// journal names it, and the hash of its last good record. Calls that only the old journal has cannot be
    /// undone any more. No other process may use the journal meanwhile.
    Repair {
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
}

impl Audit {
    pub(crate) fn run(self, global: &Global) -> Result<ExitCode> {
        if let Action::Repair { json } = self.action {
            return repair(global, json.into());
        }
        let journal = context::journal(global)?;
        match self.action {
            Action::Verify { checkpoint, json: true } => {
                let found = verify(&journal, checkpoint.as_deref())?;
                output::json(&found)?;
                Ok(exit_code(&found))
            }
            Action::Verify { checkpoint, json: false } => {
                let found = verify(&journal, checkpoint.as_deref())?;
                output::line(in_words(&found));
                Ok(exit_code(&found))
            }
            Action::Export { output } => export(&journal, output.as_deref()),
            Action::Checkpoint { output } => checkpoint(&journal, output.as_deref()),
            Action::Repair { json } => repair(global, json.into()),
        }
    }
}

fn repair(global: &Global, reader: Reader) -> Result<ExitCode> {
    context::person()?;
    let done = Journal::repair(&context::data(global)?, context::clock())?;
    match reader {
        Reader::Program => output::json(&done)?,
        Reader::Person => output::line(format_args!(
            "The old journal is `{}` now; its first {} records are as they were written. A new journal has begun.",
            done.set_aside.display(),
            done.last_good_seq
        )),
    }
    Ok(ExitCode::SUCCESS)
}

fn verify(journal: &Journal, checkpoint: Option<&Path>) -> Result<Verification> {
    let checkpoint = checkpoint.map(read_checkpoint).transpose()?;
    let spinner = output::spinner("verifying the journal");
    let found = journal.verify(checkpoint.as_ref());
    spinner.finish_and_clear();
    Ok(found?)
}

fn read_checkpoint(path: &Path) -> Result<Checkpoint> {
    let text = fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read the checkpoint `{}`", path.display()))?;
    serde_json::from_str(&text).with_context(|| {
        format!("`{}` is no checkpoint; `toolgate audit checkpoint` makes one", path.display())
    })
}

fn exit_code(found: &Verification) -> ExitCode {
    ExitCode::from(u8::from(!found.ok))
}

/// The result as people say it.
pub(crate) fn in_words(found: &Verification) -> String {
    let Verification { entries, records, ok: _, first_bad } = found;
    let all = format!("{entries} calls, {records} records");
    let Some(FirstBad { seq, writer, n, call_id, problem }) = first_bad else {
        return format!("ok: {all}, each as it was written");
    };
    let call = call_id.as_ref().map(|id| format!(", call {id}")).unwrap_or_default();
    let chain = writer.as_ref().zip(*n).map(|(writer, n)| format!(", {n} of writer {writer}"));
    format!("not ok: record {seq}{}{call}: {problem} ({all})", chain.unwrap_or_default())
}

fn export(journal: &Journal, path: Option<&Path>) -> Result<ExitCode> {
    let mut target = target(path)?;
    let spinner = output::spinner("exporting records");
    let exported = journal.export(&mut |record| {
        spinner.inc(1);
        writeln!(target, "{record}").map_err(|error| StoreError::Receiver(error.to_string()))
    });
    spinner.finish_and_clear();
    let count = exported?;
    target.flush().context("cannot write all records")?;
    if let Some(path) = path {
        output::note(format_args!("Wrote {count} records to `{}`.", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

fn checkpoint(journal: &Journal, path: Option<&Path>) -> Result<ExitCode> {
    let mut target = target(path)?;
    writeln!(target, "{}", serde_json::to_string(&journal.checkpoint()?)?)?;
    target.flush().context("cannot write the checkpoint")?;
    Ok(ExitCode::SUCCESS)
}

/// A file for its owner only, as the data folder is, or standard output.
fn target(path: Option<&Path>) -> Result<Box<dyn Write>> {
    let Some(path) = path else { return Ok(Box::new(output::stream())) };
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(path);
    let file = file.with_context(|| format!("cannot write to `{}`", path.display()))?;
    Ok(Box::new(BufWriter::new(file)))
}
