//! Searches files for a pattern, on as many threads as the walk has.

mod collect;
mod found;
mod matcher;
mod report;

use std::{
    io::{self, Read},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use grep_matcher::LineTerminator;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use tool::{FileKind, FilePath, Live, Redact, Tool, ToolError, WalkEntry};

use self::{
    collect::{Collector, Kind},
    found::Found,
    matcher::StoppableMatcher,
};
use super::{
    glob_filter::GlobFilter,
    grep::{Case, Grep, Mode},
};

pub(crate) use report::Report;

/// A line or, over several lines, a file that needs more memory than this is left out.
const MAX_HEAP_BYTES: usize = 100 * 1024 * 1024;

/// What to search for.
#[derive(Debug)]
pub(crate) struct Query {
    pub(crate) pattern: String,
    pub(crate) folder: FilePath,
    pub(crate) glob: Option<String>,
    pub(crate) context: usize,
    pub(crate) case: Case,
    pub(crate) multiline: bool,
    pub(crate) mode: Mode,
    pub(crate) limit: usize,
}

/// A search under way.
pub(crate) struct Search {
    mode: Mode,
    matcher: StoppableMatcher,
    builder: SearcherBuilder,
    names: Option<Names>,
    live: Arc<Live>,
    redact: Arc<dyn Redact>,
    /// Matchers and buffers no thread uses now: one for each thread is enough.
    idle: Mutex<Vec<Worker>>,
    found: Mutex<Found>,
}

struct Worker {
    matcher: StoppableMatcher,
    searcher: Searcher,
}

impl Search {
    /// A search that `live` can stop, and that cuts no line before `redact` has seen it.
    pub(crate) fn new(
        query: &Query,
        live: Arc<Live>,
        redact: Arc<dyn Redact>,
    ) -> Result<Self, ToolError> {
        let names = query.glob.as_ref().map(|glob| Names::new(glob, &query.folder));
        let wrong = |path, problem| ToolError::invalid(Grep::NAME, path, problem);
        Ok(Self {
            mode: query.mode,
            matcher: StoppableMatcher::new(query, live.clone())
                .map_err(|problem| wrong("pattern", problem))?,
            builder: builder(query),
            names: names.transpose().map_err(|problem| wrong("glob", problem))?,
            live,
            redact,
            idle: Mutex::default(),
            found: Mutex::new(Found::new(query)),
        })
    }

    /// Searches an entry of a folder, if it is a file that is wanted.
    pub(crate) fn entry(&self, entry: &dyn WalkEntry) {
        let path = entry.path();
        let wanted = entry.kind() == FileKind::File
            && self.names.as_ref().is_none_or(|names| names.fit(path))
            && !self.found().is_beyond(path);
        if !wanted {
            return;
        }
        match entry.open() {
            Ok(file) => _ = self.search(path, file),
            Err(_) => self.found().unreadable += 1,
        }
    }

    /// Searches a file that was asked for by name.
    pub(crate) fn file(&self, path: &FilePath, source: impl Read) {
        // In a folder it goes without saying, but whoever names a file wants to know.
        if self.search(path, source) == Kind::Binary {
            self.found().binary += 1;
        }
    }

    /// What was found so far.
    pub(crate) fn report(&self) -> Report {
        self.found().report()
    }

    fn search(&self, path: &FilePath, source: impl Read) -> Kind {
        let idle = lock(&self.idle).pop();
        let mut worker = idle.unwrap_or_else(|| self.worker());
        let Worker { matcher, searcher } = &mut worker;
        let mut collector = Collector::new(self.mode, matcher, self.redact.as_ref());
        let source = Stoppable { source, live: &self.live, reads: 0 };
        let result = searcher.search_reader(&*matcher, source, &mut collector);
        let kind = collector.kind;
        let hits = collector.hits(path);
        let gave_up = matcher.take_gave_up();
        lock(&self.idle).push(worker);
        if gave_up {
            self.found().too_complex += 1;
        }
        match (result, kind, hits) {
            (Err(_), _, hits) if gave_up => {
                // The matches before the line that was too long are good.
                if let Some(hits) = hits {
                    self.found().push(hits);
                }
            }
            (Err(_), _, _) => self.found().unreadable += 1,
            (Ok(()), Kind::Text, Some(hits)) => self.found().push(hits),
            (Ok(()), Kind::Binary, _) | (Ok(()), Kind::Text, None) => {}
        }
        kind
    }

    fn worker(&self) -> Worker {
        Worker { matcher: self.matcher.clone(), searcher: self.builder.build() }
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        lock(&self.found)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn builder(query: &Query) -> SearcherBuilder {
    let mut builder = SearcherBuilder::new();
    builder
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(MAX_HEAP_BYTES))
        .line_number(query.mode == Mode::Content)
        .multi_line(query.multiline);
    if !query.multiline {
        builder.line_terminator(LineTerminator::crlf());
    }
    match query.mode {
        Mode::Content => {
            // One more than wanted, to know whether there are more.
            let max = (query.limit as u64).saturating_add(1);
            let context = query.context.min(20);
            builder.before_context(context).after_context(context).max_matches(Some(max));
        }
        Mode::Files => _ = builder.max_matches(Some(1)),
        Mode::Count => {}
    }
    builder
}

/// A reader that fails once the call was stopped. Small files never ask: that would cost more than
/// it saves.
struct Stoppable<'a, R> {
    source: R,
    live: &'a Live,
    reads: u32,
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reads = self.reads.wrapping_add(1);
        if self.reads.is_multiple_of(16) {
            self.live.check().map_err(io::Error::other)?;
        }
        self.source.read(buffer)
    }
}

/// Which files are searched, by their names.
struct Names {
    filter: GlobFilter,
    whole_path: bool,
    negated: bool,
}

impl Names {
    fn new(glob: &str, folder: &FilePath) -> Result<Self, String> {
        let pattern = glob.strip_prefix('!').unwrap_or(glob);
        Ok(Self {
            filter: GlobFilter::new(pattern, folder)?,
            whole_path: pattern.contains('/'),
            negated: pattern != glob,
        })
    }

    fn fit(&self, path: &FilePath) -> bool {
        let fits =
            if self.whole_path { self.filter.fits(path) } else { self.filter.fits_name(path) };
        fits != self.negated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct NoSecrets;

    impl Redact for NoSecrets {
        fn redact<'a>(&self, text: &'a str) -> std::borrow::Cow<'a, str> {
            text.into()
        }
    }

    fn query(pattern: &str) -> Query {
        Query {
            pattern: pattern.to_owned(),
            folder: FilePath::root(),
            glob: None,
            context: 0,
            case: Case::Sensitive,
            multiline: false,
            mode: Mode::Content,
            limit: 100,
        }
    }

    fn search(query: &Query, files: &[(&str, &[u8])]) -> String {
        let search = Search::new(query, Arc::default(), Arc::new(NoSecrets)).unwrap();
        for (path, content) in files {
            search.file(&FilePath::new(path), *content);
        }
        search.report().to_text()
    }

    #[test]
    fn shows_lines_by_path_whatever_the_order_they_were_found_in() {
        let files: [(&str, &[u8]); 3] =
            [("b.txt", b"one\ntwo\n"), ("a.txt", b"two\r\nx\r\ntwo!"), ("c.txt", b"none\n")];
        let shown = search(&query("two"), &files);
        assert_eq!(shown, "a.txt\n1:two\n3:two!\n\nb.txt\n2:two");
        assert_eq!(search(&query("two$"), &files), "a.txt\n1:two\n\nb.txt\n2:two");
        assert_eq!(search(&query("three"), &files), "[no matches]");
    }

    #[test]
    fn each_mode_has_its_answer() {
        let files: [(&str, &[u8]); 2] = [("b", b"x\nx\n"), ("a", b"x\n")];
        for (mode, expected) in [
            (Mode::Files, "a\nb"),
            (Mode::Count, "a:1\nb:2"),
            (Mode::Content, "a\n1:x\n\nb\n1:x\n2:x"),
        ] {
            assert_eq!(search(&Query { mode, ..query("x") }, &files), expected);
        }
    }

    #[test]
    fn context_surrounds_matches() {
        let files: [(&str, &[u8]); 1] = [("a", b"1\n2\nx\n4\n5\n6\n7\nx\n")];
        let shown = search(&Query { context: 1, ..query("x") }, &files);
        assert_eq!(shown, "a\n2-2\n3:x\n4-4\n--\n7-7\n8:x");
    }

    #[test]
    fn case_and_lines_as_asked() {
        let files: [(&str, &[u8]); 1] = [("a", b"Foo\nfoo\nbar\n")];
        for (pattern, case, expected) in [
            ("foo", Case::Sensitive, "a\n2:foo"),
            ("foo", Case::Insensitive, "a\n1:Foo\n2:foo"),
            ("foo", Case::Smart, "a\n1:Foo\n2:foo"),
            ("Foo", Case::Smart, "a\n1:Foo"),
        ] {
            let shown = search(&Query { case, ..query(pattern) }, &files);
            assert_eq!(shown, expected, "{pattern} {case:?}");
        }
        let multiline = Query { multiline: true, ..query(r"foo\nbar") };
        assert_eq!(search(&multiline, &files), "a\n2:foo\n3:bar");
    }

    #[test]
    fn a_limit_cuts_at_the_same_place_every_time() {
        let files: [(&str, &[u8]); 3] = [("c", b"x\n"), ("b", b"x\nx\nx\n"), ("a", b"x\n")];
        let more = "[only the first 3 matches; narrow `pattern` or `path`, or raise `limit`]";
        let shown = search(&Query { limit: 3, ..query("x") }, &files);
        assert_eq!(shown, format!("a\n1:x\n\nb\n1:x\n2:x\n\n{more}"));
        let shown = search(&Query { limit: 5, ..query("x") }, &files);
        assert_eq!(shown, "a\n1:x\n\nb\n1:x\n2:x\n3:x\n\nc\n1:x");
        let shown = search(&Query { limit: 2, mode: Mode::Files, ..query("x") }, &files);
        assert_eq!(shown, "a\nb\n[2 of 3 files; narrow `pattern` or `path`, or raise `limit`]");
    }

    #[test]
    fn binary_files_are_left_out() {
        let files: [(&str, &[u8]); 2] = [("a", b"x\0\n"), ("b", b"x\n")];
        let shown = search(&query("x"), &files);
        assert_eq!(shown, "b\n1:x\n\n[1 binary file left out]");
    }

    #[test]
    fn long_lines_are_cut_around_the_match() {
        let long = format!("{}needle{}\n", "ä".repeat(1_000), "b".repeat(1_000));
        let shown = search(&query("needle"), &[("a", long.as_bytes())]);
        let line = shown.lines().nth(1).unwrap();
        assert!(line.starts_with("1:…ä") && line.contains("äneedleb") && line.ends_with("b…"));
        assert_eq!(line.chars().count(), 2 + 1 + 500 + 1);
    }

    #[test]
    fn says_where_a_pattern_is_wrong() {
        for (query, expected) in [
            (query("a(b"), "unclosed group"),
            (query("a(b"), "\n    a(b\n     ^\n"),
            (query(r"a\nb"), "set `multiline`"),
            (Query { glob: Some("[".into()), ..query("a") }, "`glob`: is not a glob pattern"),
        ] {
            let error = Search::new(&query, Arc::default(), Arc::new(NoSecrets)).err().unwrap();
            assert_eq!(error.kind(), "validation_error");
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    #[test]
    fn a_glob_chooses_files_by_name_or_path() {
        for (glob, path, expected) in [
            ("*.rs", "src/deep/a.rs", true),
            ("*.rs", "a.txt", false),
            ("!*.rs", "a.txt", true),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/deep/a.rs", false),
            ("!src/**", "src/deep/a.rs", false),
        ] {
            let names = Names::new(glob, &FilePath::root()).unwrap();
            assert_eq!(names.fit(&FilePath::new(path)), expected, "{glob} {path}");
        }
    }
}
