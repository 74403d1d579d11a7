//! Who makes commits.

use std::{fs, path::Path};

/// Name and address of a person, as `git` knows them, without anything else it is told.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Author {
    pub(super) name: Option<String>,
    pub(super) email: Option<String>,
}

/// Larger than anybody's settings.
const MAX_BYTES: u64 = 256 * 1024;

/// Looks into the settings of the person whose home folder this is.
pub(super) fn author(home: &Path) -> Author {
    let path = home.join(".gitconfig");
    let small = fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() < MAX_BYTES);
    let text = if small { fs::read_to_string(path).unwrap_or_default() } else { String::new() };
    read(&text)
}

/// Only the section `user`, which needs nothing but plain values.
fn read(text: &str) -> Author {
    let mut author = Author::default();
    let mut is_user = false;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            is_user = section.trim_end_matches(']').trim().eq_ignore_ascii_case("user");
            continue;
        }
        let Some((key, value)) = line.split_once('=').filter(|_| is_user) else { continue };
        let value = value.split(['#', ';']).next().unwrap_or_default();
        let value = value.trim().trim_matches('"').to_owned();
        match key.trim().to_ascii_lowercase().as_str() {
            "name" => author.name = Some(value),
            "email" => author.email = Some(value),
            _ => {}
        }
    }
    author
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn reads_name_and_address_and_nothing_else() {
        let author = read(
            "[core]\n name = no\n[user]\n\tname = \"Ada L.\" # me\n\temail = ada@example.org\n\
             [credential]\n email = no",
        );
        assert_eq!(author.name.as_deref(), Some("Ada L."));
        assert_eq!(author.email.as_deref(), Some("ada@example.org"));
        assert_eq!(read("").name, None);
    }
}
