//! `cd` into a folder of the workspace, for what stands behind it.

use tool::Streams;

use super::{path, plain::Plain};

/// Where the command goes, if it is `cd`.
pub(super) fn folder(command: &Plain) -> Option<Result<String, String>> {
    let Plain { words, streams } = command;
    let (name, arguments) = words.split_first()?;
    if name != "cd" {
        return None;
    }
    Some(match arguments {
        [folder] if *streams == Streams::default() => checked(folder),
        _ => Err("`cd` is only known to be harmless with one folder".to_owned()),
    })
}

fn checked(folder: &str) -> Result<String, String> {
    path::check(folder)?;
    Ok(folder.to_owned())
}
