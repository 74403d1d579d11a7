//! What a command line would run.
//!
//! [`analyse`] finds every simple command that bash could run, or says that the line is opaque. A
//! line is read twice: by a reader of our own, which follows bash and gives up on whatever it does
//! not know, and by a grammar. What only the grammar sees makes the line opaque.
//!
//! Invariant: no I/O here, and nothing is ever guessed: unknown means opaque.

mod analysis;
mod builtins;
mod declare;
mod found;
mod grammar;
mod harmless;
mod names;
mod needs;
mod parse;
mod portable;
mod programs;
mod reader;
mod safe_bins;
mod scope;
mod scripts;
mod wrappers;

pub use analysis::{
    Analysis, Assignment, Command, Joined, Opaque, Redirection, Value, Within, Word,
};
pub use harmless::{Entry, Harmless, Judgement, Known, Operands, harmless, is_bare, outside_doubt};
pub use needs::{Needs, Network, needs};
pub use parse::analyse;
pub use safe_bins::{SafeList, check_safe_bins};
pub use scope::program_scope;
pub use scripts::{ScriptCoverage, ScriptFiles, is_plain_shell, script_files};
