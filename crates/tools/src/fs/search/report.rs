//! What was found, for models and programs.

use schemars::JsonSchema;
use serde::Serialize;
use tool::FilePath;

use super::{
    collect::{HitLine, Hits},
    found::Found,
};
use crate::fs::grep::Mode;

/// What was found. Which list there is depends on the mode.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Report {
    /// Matching lines, by path and line.
    #[serde(skip_serializing_if = "Option::is_none")]
    matches: Option<Vec<Match>>,
    /// Paths of files that match.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Vec<FilePath>>,
    /// Number of matching lines for each file that has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<Vec<Count>>,
    /// Whether there is more than is listed.
    truncated: bool,
    #[serde(skip)]
    notices: Vec<String>,
}

/// A line.
#[derive(Debug, Serialize, JsonSchema)]
struct Match {
    /// The file.
    path: FilePath,
    /// Number of the line.
    line: u64,
    /// The line; of a long one the part around the match.
    text: String,
    /// Set if the line does not match but is near one that does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    context: bool,
}

/// How often a file matches.
#[derive(Debug, Serialize, JsonSchema)]
struct Count {
    /// The file.
    path: FilePath,
    /// Its matching lines.
    count: u64,
}

impl Report {
    /// Takes what was found.
    pub(super) fn new(found: &mut Found) -> Self {
        let mut report = Self { truncated: found.cut, notices: notices(found), ..Self::default() };
        let files = std::mem::take(&mut found.files).into_iter();
        match found.mode {
            Mode::Content => report.matches = Some(files.flat_map(Match::all).collect()),
            Mode::Files => report.files = Some(files.map(|hits| hits.path).collect()),
            Mode::Count => {
                let count = |hits: Hits| Count { path: hits.path, count: hits.count };
                report.counts = Some(files.map(count).collect());
            }
        }
        report
    }

    /// The text a model gets: lines under the path of their file.
    pub(crate) fn to_text(&self) -> String {
        let mut lines = Vec::new();
        lines.extend(self.files.iter().flatten().map(ToString::to_string));
        lines.extend(
            self.counts.iter().flatten().map(|Count { path, count }| format!("{path}:{count}")),
        );
        let matches = self.matches.as_deref().unwrap_or_default();
        let mut above: Option<&Match> = None;
        let spaced = matches.iter().any(|line| line.context);
        for line in matches {
            let same_file = above.filter(|above| above.path == line.path);
            match same_file {
                None => {
                    lines.extend(above.map(|_| String::new()));
                    lines.push(line.path.to_string());
                }
                Some(above) if spaced && above.line + 1 < line.line => lines.push("--".to_owned()),
                Some(_) => {}
            }
            let mark = if line.context { '-' } else { ':' };
            lines.push(format!("{}{mark}{}", line.line, line.text));
            above = Some(line);
        }
        if lines.is_empty() {
            lines.push("[no matches]".to_owned());
        } else if !matches.is_empty() && !self.notices.is_empty() {
            lines.push(String::new());
        }
        lines.extend(self.notices.iter().map(|notice| format!("[{notice}]")));
        lines.join("\n")
    }
}

impl Match {
    fn all(hits: Hits) -> impl Iterator<Item = Self> {
        let Hits { path, count: _, lines } = hits;
        lines.into_iter().map(move |HitLine { number, text, matched }| Self {
            path: path.clone(),
            line: number,
            text,
            context: matched.is_none(),
        })
    }
}

fn notices(found: &Found) -> Vec<String> {
    let advice = "narrow `pattern` or `path`, or raise `limit`";
    let files = |count: u64| if count == 1 { "file" } else { "files" };
    let Found { total, binary, unreadable, too_complex, .. } = found;
    let cut = match found.mode {
        Mode::Content => {
            let shown: u64 = found.files.iter().map(|hits| hits.count).sum();
            format!("only the first {shown} matches; {advice}")
        }
        Mode::Files | Mode::Count => {
            format!("{} of {total} files; {advice}", found.files.len())
        }
    };
    let binary = (*binary > 0).then(|| format!("{binary} binary {} left out", files(*binary)));
    let unreadable =
        (*unreadable > 0).then(|| format!("{unreadable} {} could not be read", files(*unreadable)));
    let too_complex = (*too_complex > 0).then(|| {
        let files = files(*too_complex);
        format!(
            "{too_complex} {files} not searched to the end: a line is too long for this pattern; use a \
             simpler one, without counted repetitions and `\\b`"
        )
    });
    let notices = [found.cut.then_some(cut), binary, unreadable, too_complex];
    notices.into_iter().flatten().collect()
}
