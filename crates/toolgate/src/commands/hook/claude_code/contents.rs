//! Whether a search shows what is in files that may hold credentials.

use std::{fs, path::Path};

use policy::is_credential;
use serde_json::Value;

/// So many files are looked at; where there are more, nobody knows.
const MOST: usize = 20_000;

/// Why a `Grep` of Claude Code in `place` may show credentials; `None` if it does not. Ours leaves such files
/// out, Claude Code's does not.
pub(super) fn doubt(input: &Value, place: &Path) -> Option<String> {
    let mode = input.get("output_mode");
    if mode.is_none_or(|mode| mode == "files_with_matches" || mode == "count") {
        return None;
    }
    let ending = input.get("glob").and_then(Value::as_str).and_then(ending);
    let fits = |name: &str| {
        ending.as_ref().is_none_or(|ending| name.to_lowercase().ends_with(ending.as_str()))
    };
    let (mut folders, mut seen) = (vec![place.to_owned()], 0);
    while let Some(folder) = folders.pop() {
        // A file by itself is decided on by policy.
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MOST {
                return Some(
                    "there are too many files to tell whether it shows credentials".to_owned(),
                );
            }
            let (path, is_folder) =
                (entry.path(), entry.file_type().is_ok_and(|kind| kind.is_dir()));
            let name = path.to_string_lossy();
            if is_folder && !name.ends_with("/.git") {
                folders.push(path);
            } else if !is_folder && is_credential(&name) && fits(&name) {
                return Some(format!(
                    "it may show what is in `{name}`, which may hold credentials"
                ));
            }
        }
    }
    None
}

/// How the names of all files end that a plain pattern such as `src/**/*.rs` fits.
fn ending(glob: &str) -> Option<String> {
    let (before, end) = glob.rsplit_once("*.")?;
    let is_plain = before.chars().all(|one| one.is_alphanumeric() || "/*_-.".contains(one))
        && !end.is_empty()
        && end.chars().all(char::is_alphanumeric);
    is_plain.then(|| format!(".{end}").to_lowercase())
}
