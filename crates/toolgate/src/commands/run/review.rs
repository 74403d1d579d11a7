//! Shows what a program changed, and asks what stays.

use std::io::{self, Write};

use tokio_util::sync::CancellationToken;
use tool::{Extent, Keep, Proposal, Proposed, Review};
use toolgate::{BoxFuture, FilePath, ToolError};

use crate::{
    changes::{Paint, summary, whole},
    output,
    tty::Tty,
    visible::visible,
};

/// The person at the terminal, or what they said beforehand.
#[derive(Debug)]
pub(super) enum AtTerminal {
    Asks,
    KeepsAll,
    DropsAll,
}

impl Review for AtTerminal {
    fn is_wanted(&self, _: Extent) -> bool {
        true
    }

    fn judge<'a>(&'a self, proposal: &'a Proposal) -> BoxFuture<'a, Result<Keep, ToolError>> {
        Box::pin(async move {
            match self {
                Self::KeepsAll => Ok(Keep::All),
                Self::DropsAll => Ok(Keep::Nothing),
                Self::Asks => {
                    let proposed = proposal.changes.clone();
                    let asked = tokio::task::spawn_blocking(move || ask(&proposed)).await;
                    Ok(asked.map_err(ToolError::internal)?.unwrap_or_else(|_| {
                        output::note(
                            "toolgate: there is no terminal to ask at, so all changes were dropped; \
                             `--keep` keeps them",
                        );
                        Keep::Nothing
                    }))
                }
            }
        })
    }
}

fn ask(proposed: &[Proposed]) -> io::Result<Keep> {
    let mut tty = Tty::open(CancellationToken::new())?;
    writeln!(tty, "\nThe program changed:")?;
    for (number, one) in proposed.iter().enumerate() {
        writeln!(tty, "{}", summary(number + 1, one))?;
    }
    loop {
        write!(tty, "[v] view  [k] keep all  [p] pick  [d] drop all (default): ")?;
        tty.flush()?;
        match tty.answer()?.map(|line| line.to_lowercase()).as_deref() {
            Some("v" | "view") => {
                let all: String = proposed.iter().map(|one| whole(one, Paint::Coloured)).collect();
                tty.page(&all)?;
            }
            Some("k" | "keep") => return Ok(Keep::All),
            Some("p" | "pick") => return pick(&mut tty, proposed),
            None | Some("" | "d" | "drop") => return Ok(Keep::Nothing),
            Some(other) => writeln!(tty, "`{}` is none of these.", visible(other))?,
        }
    }
}

/// One after the other; what is not kept is dropped.
fn pick(tty: &mut Tty, proposed: &[Proposed]) -> io::Result<Keep> {
    let mut kept: Vec<FilePath> = Vec::new();
    for (number, one) in proposed.iter().enumerate() {
        loop {
            writeln!(tty, "{}", summary(number + 1, one))?;
            write!(tty, "[y] keep  [v] view  [n] drop (default): ")?;
            tty.flush()?;
            match tty.answer()?.map(|line| line.to_lowercase()).as_deref() {
                Some("y" | "yes") => kept.push(one.path.clone()),
                Some("v" | "view") => {
                    tty.page(&whole(one, Paint::Coloured))?;
                    continue;
                }
                None | Some(_) => {}
            }
            break;
        }
    }
    Ok(Keep::Only(kept))
}
