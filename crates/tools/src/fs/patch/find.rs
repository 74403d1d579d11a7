//! Finds lines in a file.

/// How alike two lines must be, closest first.
#[derive(Debug, Clone, Copy)]
enum Closeness {
    Exact,
    TrailingSpace,
    Trimmed,
}

impl Closeness {
    const ALL: [Self; 3] = [Self::Exact, Self::TrailingSpace, Self::Trimmed];

    fn alike(self, a: &str, b: &str) -> bool {
        match self {
            Self::Exact => a == b,
            Self::TrailingSpace => a.trim_end() == b.trim_end(),
            Self::Trimmed => a.trim() == b.trim(),
        }
    }
}

/// Where `wanted` begins in `lines`, from `from` on, as closely as it is there at all.
pub(super) fn places(lines: &[&str], wanted: &[&str], from: usize) -> Vec<usize> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let rest = lines.get(from..).unwrap_or_default();
    let found = Closeness::ALL.into_iter().map(|closeness| {
        let windows = rest.windows(wanted.len()).enumerate();
        let alike = windows.filter(|(_, window)| {
            window.iter().zip(wanted).all(|(line, wanted)| closeness.alike(line, wanted))
        });
        alike.map(|(at, _)| from + at).collect::<Vec<_>>()
    });
    found.into_iter().find(|places| !places.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn prefers_the_closest_kind_of_match() {
        let lines = ["a", " a", "a ", "b"];
        for (wanted, from, expected) in [
            (vec!["a"], 0, vec![0]),
            (vec!["a"], 1, vec![2]),
            (vec!["a", "b"], 0, vec![2]),
            (vec!["\ta"], 0, vec![0, 1, 2]),
            (vec!["c"], 0, vec![]),
            (vec!["b"], 9, vec![]),
            (vec![], 0, vec![]),
        ] {
            assert_eq!(places(&lines, &wanted, from), expected, "{wanted:?} {from}");
        }
    }
}
