//! How a harmless line is executed: no shell has a part in it.

use tool::{Argv, Step};

/// A line that is known to be harmless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Harmless {
    /// What it does, in order.
    pub steps: Vec<Step>,
}

impl Harmless {
    /// The first program that is not in a trusted folder, so that nothing may run.
    pub fn missing(&self) -> Option<&str> {
        let mut all = self.programs();
        all.find(|argv| argv.path.is_none()).and_then(|argv| argv.words.first()).map(String::as_str)
    }

    /// Every program it runs, in order.
    pub fn programs(&self) -> impl Iterator<Item = &Argv> {
        self.steps.iter().flat_map(Step::programs)
    }
}
