//! Shows what a program changed, and asks what stays.

use std::io::{self, Write};

use tokio_util::sync::CancellationToken;
use tool::{Extent, Keep, Proposal, Proposed, Review};
use toolgate::{BoxFuture, ToolError};

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
                        output::note("toolgate: there is no terminal to ask at");
                        Keep::Later
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
        write!(tty, "[v] view  [k] keep all  [p] pick  [d] drop all  [l] later: ")?;
        tty.flush()?;
        // A terminal that is closed has not answered.
        let Some(answer) = tty.answer()? else { return Ok(Keep::Later) };
        match answer.to_lowercase().as_str() {
            "v" | "view" => {
                let all: String = proposed.iter().map(|one| whole(one, Paint::Coloured)).collect();
                tty.page(&all)?;
            }
            "k" | "keep" => return Ok(Keep::All),
            "p" | "pick" => return pick(&mut tty, proposed),
            "d" | "drop" => return Ok(Keep::Nothing),
            "l" | "later" => return Ok(Keep::Later),
            "" => writeln!(tty, "Type one of the letters, or numbers of changes to keep: 1,3-5.")?,
            other => match numbers(other, proposed.len()) {
                Some(numbers) => return Ok(only(proposed, &numbers)),
                None => writeln!(tty, "`{}` is none of these.", visible(other))?,
            },
        }
    }
}

/// One after the other, or by their numbers; what is not kept is dropped.
fn pick(tty: &mut Tty, proposed: &[Proposed]) -> io::Result<Keep> {
    writeln!(tty, "Numbers such as `1,3-5` keep these and drop the others.")?;
    let mut kept = Vec::new();
    for (number, one) in proposed.iter().enumerate() {
        loop {
            writeln!(tty, "{}", summary(number + 1, one))?;
            write!(tty, "[y] keep  [n] drop  [v] view  [l] later: ")?;
            tty.flush()?;
            let Some(answer) = tty.answer()? else { return Ok(Keep::Later) };
            match answer.to_lowercase().as_str() {
                "y" | "yes" => kept.push(number),
                "n" | "no" => {}
                "l" | "later" => return Ok(Keep::Later),
                "v" | "view" => {
                    tty.page(&whole(one, Paint::Coloured))?;
                    continue;
                }
                "" => {
                    writeln!(tty, "Type one of the letters.")?;
                    continue;
                }
                other => {
                    if let Some(numbers) = numbers(other, proposed.len()) {
                        return Ok(only(proposed, &numbers));
                    }
                    writeln!(tty, "`{}` is none of these.", visible(other))?;
                    continue;
                }
            }
            break;
        }
    }
    Ok(only(proposed, &kept))
}

/// Keeps the changes at these places in the list.
fn only(proposed: &[Proposed], places: &[usize]) -> Keep {
    let kept = places.iter().filter_map(|place| proposed.get(*place));
    Keep::Only(kept.map(|one| one.path.clone()).collect())
}

/// Reads `1,3-5` or `1 3 4`, as places in a list of `count`; `None` if it is anything else.
fn numbers(text: &str, count: usize) -> Option<Vec<usize>> {
    let mut places = Vec::new();
    let parts = text.split([',', ' ']).filter(|part| !part.is_empty());
    for part in parts {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        if first == 0 || last > count || first > last {
            return None;
        }
        places.extend(first - 1..last);
    }
    places.sort_unstable();
    places.dedup();
    (!places.is_empty()).then_some(places)
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn numbers_name_changes_of_the_list() {
        for (text, expected) in [
            ("1", Some(vec![0])),
            ("1,2", Some(vec![0, 1])),
            ("3, 1", Some(vec![0, 2])),
            ("1-3 2", Some(vec![0, 1, 2])),
            ("0", None),
            ("4", None),
            ("1,4", None),
            ("3-1", None),
            ("1,x", None),
            (",", None),
            ("-1", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(numbers(text, 3), expected, "{text}");
        }
    }
}
