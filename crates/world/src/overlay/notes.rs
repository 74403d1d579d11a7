//! What is left out of a commit.

/// The most that is told about one command.
const MAX: usize = 20;

/// What was left out, and how much more.
#[derive(Debug, Default)]
pub(super) struct Notes {
    told: Vec<String>,
    more: usize,
}

impl Notes {
    pub(super) fn add(&mut self, note: String) {
        if self.told.len() < MAX {
            self.told.push(note);
        } else {
            self.more += 1;
        }
    }

    pub(super) fn done(mut self) -> Vec<String> {
        if self.more > 0 {
            self.told.push(format!("{} more changes were left out", self.more));
        }
        self.told
    }
}
