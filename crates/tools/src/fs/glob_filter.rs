//! Paths that fit a pattern.

use globset::{GlobBuilder, GlobMatcher};
use tool::{FilePath, brace_depth};

/// The glob library recurses into nested braces.
const MAX_BRACE_DEPTH: usize = 32;

/// A longer pattern is refused: it is compiled to a regular expression, whose size has a bound.
const MAX_PATTERN_BYTES: usize = 1_000;

/// A pattern for paths beneath a folder.
#[derive(Debug, Clone)]
pub(crate) struct GlobFilter {
    glob: GlobMatcher,
    /// Where the path beneath the folder begins.
    skipped: usize,
}

impl GlobFilter {
    /// `pattern`, for paths beneath `folder`.
    pub(crate) fn new(pattern: &str, folder: &FilePath) -> Result<Self, String> {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        if pattern.starts_with('/') {
            return Err("must be relative; give the folder as `path`".to_owned());
        }
        if brace_depth(pattern) > MAX_BRACE_DEPTH {
            return Err(format!("has braces nested more than {MAX_BRACE_DEPTH} deep"));
        }
        if pattern.len() > MAX_PATTERN_BYTES {
            let bytes = pattern.len();
            return Err(format!("is {bytes} bytes long, at most {MAX_PATTERN_BYTES}"));
        }
        let glob = GlobBuilder::new(pattern)
            .literal_separator(true)
            .build()
            .map_err(|error| format!("is not a glob pattern: {}", error.kind()))?;
        let skipped = match folder.as_str() {
            "." => 0,
            "/" => 1,
            name => name.len() + 1,
        };
        Ok(Self { glob: glob.compile_matcher(), skipped })
    }

    /// Whether the path fits. It is one beneath the folder.
    pub(crate) fn fits(&self, path: &FilePath) -> bool {
        path.as_str().get(self.skipped..).is_some_and(|beneath| self.glob.is_match(beneath))
    }

    /// Whether the last part of the path fits.
    pub(crate) fn fits_name(&self, path: &FilePath) -> bool {
        path.name().is_some_and(|name| self.glob.is_match(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_braces_nested_without_end() {
        let pattern = format!("{}a{}", "{".repeat(100_000), "}".repeat(100_000));
        let refused = GlobFilter::new(&pattern, &FilePath::root()).unwrap_err();
        assert_eq!(refused, "has braces nested more than 32 deep");
        assert!(GlobFilter::new("*.{a,{b,c}}", &FilePath::root()).is_ok());
    }

    #[test]
    fn a_star_stays_within_a_folder() {
        for (pattern, folder, path, expected) in [
            ("*.rs", ".", "a.rs", true),
            ("*.rs", ".", "src/a.rs", false),
            ("**/*.rs", ".", "a.rs", true),
            ("**/*.rs", ".", "src/deep/a.rs", true),
            ("./src/**", ".", "src/deep/a.rs", true),
            ("*.{rs,toml}", "src", "src/a.toml", true),
            ("deep/*", "src", "src/deep/a", true),
            ("*", "/ws", "/ws/a", true),
            ("[ab]?.txt", ".", "a1.txt", true),
            ("größe*", ".", "größe.txt", true),
        ] {
            let filter = GlobFilter::new(pattern, &FilePath::new(folder)).unwrap();
            assert_eq!(filter.fits(&FilePath::new(path)), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn says_what_is_wrong_with_a_pattern() {
        for (pattern, expected) in [
            ("/etc/*", "must be relative; give the folder as `path`"),
            ("a[", "is not a glob pattern: unclosed character class"),
            ("{a", "is not a glob pattern: unclosed alternate group"),
        ] {
            let problem = GlobFilter::new(pattern, &FilePath::root()).unwrap_err();
            assert!(problem.starts_with(expected), "{problem}");
        }
    }
}
