//! Guesses what somebody meant.

/// The candidate that looks most like `word`, if one is close enough to be worth naming.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = fold(word);
    let near = candidates.into_iter().map(|candidate| {
        let other = fold(candidate);
        let score = strsim::jaro_winkler(&folded, &other);
        // A word that stands whole in the other is meant more often than the measure says.
        let inside = folded.len() > 2 && (other.contains(&folded) || folded.contains(&other));
        (candidate, if inside { score.max(0.9) } else { score })
    });
    near.filter(|(_, score)| *score >= 0.8).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(name, _)| name)
}

fn fold(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).take(256).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn names_what_was_meant_or_nothing() {
        for (word, expected) in [
            ("file", Some("file_path")),
            ("Path", Some("path")),
            ("ofset", Some("offset")),
            ("zzz", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, ["path", "offset", "limit", "file_path"]), expected, "{word}");
        }
    }
}
