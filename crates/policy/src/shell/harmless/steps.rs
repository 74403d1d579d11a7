//! How a harmless line is executed: no shell has a part in it.

use crate::shell::Joined;

/// A line that is known to be harmless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Harmless {
    /// Its pipelines, in order.
    pub steps: Vec<Step>,
}

impl Harmless {
    /// The first program that is not in a trusted folder, so that nothing would run.
    pub fn missing(&self) -> Option<&str> {
        let mut all = self.steps.iter().flat_map(|step| &step.pipeline);
        all.find(|argv| argv.path.is_none()).and_then(|argv| argv.words.first()).map(String::as_str)
    }
}

/// One pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Whether it depends on how the step before it ended; never [`Joined::Pipe`].
    pub joined: Joined,
    /// The commands, each reading what the one before it writes.
    pub pipeline: Vec<Argv>,
}

/// One program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argv {
    /// Where the program is; `None` if no trusted folder has it, and then it must not run.
    pub path: Option<String>,
    /// The name it is called by and its arguments, with what makes it safe added.
    pub words: Vec<String>,
    /// Variables it must have.
    pub env: Vec<(&'static str, &'static str)>,
    /// The folder it must run in, if that is not the one of the call.
    pub folder: Option<&'static str>,
    /// Where its input and output go.
    pub streams: Streams,
}

/// Where input and output go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Streams {
    /// Whether its input is empty, whatever stands before it.
    pub no_input: bool,
    /// Standard output.
    pub output: Stream,
    /// Standard error.
    pub errors: Stream,
}

/// Where one of them goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stream {
    /// Where it usually goes.
    #[default]
    Own,
    /// Where the other one usually goes.
    Other,
    /// Nowhere.
    Null,
}
