//! A regular expression whose search ends soon after its call was stopped.
//!
//! The engines of `regex` cannot be interrupted, and their worst case is the size of the compiled
//! pattern times the length of the text. Short texts go to them. For a text where that product is
//! large, [`StoppableMatcher`] steps through a lazy DFA itself, byte by byte, and asks every few
//! hundred bytes whether the call still runs.

use std::{
    fmt,
    ops::Range,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures};
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use regex_automata::{
    Anchored, Input,
    hybrid::{
        LazyStateID, dfa,
        regex::{Cache, Regex},
    },
    nfa::thompson,
    util::syntax,
};
use tool::Live;

use super::Query;
use crate::fs::grep::Case;

/// Nobody writes a longer pattern by hand, and each byte is a state of the automaton.
const MAX_PATTERN_BYTES: usize = 10_000;
/// The same bound on compiled patterns as the `regex` crate has by default.
const MAX_COMPILED_BYTES: usize = 10 * 1024 * 1024;
/// Lazily built states are dropped beyond this. Each thread of a search has up to four such caches.
const MAX_CACHE_BYTES: usize = 8 * 1024 * 1024;
/// States times bytes that an engine may be given at once: about a second in the worst case.
const MAX_STEPS_AT_ONCE: usize = 200_000_000;
/// Where the lazy DFA gives up, as at letters outside ASCII near `\b`, an engine may still be
/// given this much; beyond it the text is left out.
const MAX_STEPS_WITHOUT_DFA: usize = 4 * MAX_STEPS_AT_ONCE;
/// One step can cost as much as the pattern has states, so the question comes often.
const BYTES_PER_CHECK: usize = 256;

/// Why a search of one text ended without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatchError {
    /// The call was stopped.
    Stopped,
    /// The pattern is too complex for a text this long.
    TooComplex,
}

impl fmt::Display for MatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stopped => "the call was stopped",
            Self::TooComplex => "the pattern is too complex for a line this long",
        })
    }
}

/// A compiled pattern. A clone shares the pattern and has caches of its own.
#[derive(Debug)]
pub(super) struct StoppableMatcher {
    regex: RegexMatcher,
    pattern: Arc<SteppedPattern>,
    caches: Mutex<Option<Cache>>,
    gave_up: AtomicBool,
    live: Arc<Live>,
}

/// What is needed to step through a pattern.
#[derive(Debug)]
struct SteppedPattern {
    text: String,
    multiline: bool,
    ignores_case: bool,
    states: usize,
    /// Compiled when a text first needs it; `None` if it cannot be.
    regex: OnceLock<Option<Regex>>,
}

impl Clone for StoppableMatcher {
    fn clone(&self) -> Self {
        Self {
            regex: self.regex.clone(),
            pattern: self.pattern.clone(),
            caches: Mutex::default(),
            gave_up: AtomicBool::new(false),
            live: self.live.clone(),
        }
    }
}

impl StoppableMatcher {
    /// Compiles the pattern of `query`; `live` stops its searches.
    pub(super) fn new(query: &Query, live: Arc<Live>) -> Result<Self, String> {
        if query.pattern.len() > MAX_PATTERN_BYTES {
            return Err(format!(
                "is {} bytes long, at most {MAX_PATTERN_BYTES}; search for a part of it",
                query.pattern.len()
            ));
        }
        let regex = regex_matcher(query)?;
        let mut pattern = SteppedPattern {
            text: query.pattern.clone(),
            multiline: query.multiline,
            ignores_case: match query.case {
                Case::Sensitive => false,
                Case::Insensitive => true,
                Case::Smart => !has_uppercase(&query.pattern),
            },
            states: 0,
            regex: OnceLock::new(),
        };
        let nfa = thompson::NFA::compiler()
            .syntax(pattern.syntax())
            .configure(pattern.thompson().which_captures(thompson::WhichCaptures::None))
            .build(&pattern.text);
        // A pattern that only compiles as one part of a larger one is rare, and stepped through.
        pattern.states = nfa.map_or(usize::MAX, |nfa| nfa.states().len());
        Ok(Self {
            regex,
            pattern: Arc::new(pattern),
            caches: Mutex::default(),
            gave_up: AtomicBool::new(false),
            live,
        })
    }

    /// Whether a text since the last time was too long for the pattern.
    pub(super) fn take_gave_up(&self) -> bool {
        self.gave_up.swap(false, Ordering::Relaxed)
    }

    fn is_cheap(&self, bytes: usize) -> bool {
        bytes.saturating_mul(self.pattern.states) <= MAX_STEPS_AT_ONCE
    }

    fn check(&self) -> Result<(), MatchError> {
        self.live.check().map_err(|_| MatchError::Stopped)
    }

    /// The first match in `text` from `at` on: line by line, unless matches span lines.
    fn search(&self, text: &[u8], at: usize) -> Result<Option<Match>, MatchError> {
        self.check()?;
        if self.is_cheap(text.len().saturating_sub(at)) {
            return Ok(self.regex.find_at(text, at).unwrap_or_default());
        }
        if self.pattern.multiline {
            return self.step(text, at);
        }
        let newline = |byte: &u8| *byte == b'\n';
        let mut start = text.get(..at).and_then(|before| before.iter().rposition(newline));
        let mut at = at;
        loop {
            self.check()?;
            let begin = start.map_or(0, |newline| newline + 1);
            let rest = text.get(begin..).unwrap_or_default();
            let length = rest.iter().position(newline);
            let line = rest.get(..length.unwrap_or(rest.len())).unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let from = at.saturating_sub(begin);
            if from <= line.len() {
                let found = if self.is_cheap(line.len() - from) {
                    self.regex.find_at(line, from).unwrap_or_default()
                } else {
                    self.step(line, from)?
                };
                if let Some(found) = found {
                    return Ok(Some(Match::new(begin + found.start(), begin + found.end())));
                }
            }
            let Some(length) = length else { return Ok(None) };
            start = Some(begin + length);
            at = begin + length + 1;
        }
    }

    /// The first match in `text` from `at` on, found step by step.
    fn step(&self, text: &[u8], at: usize) -> Result<Option<Match>, MatchError> {
        let found = self.pattern.regex().map_or(Err(MatchError::TooComplex), |regex| {
            let mut caches = self.caches.lock().unwrap_or_else(PoisonError::into_inner);
            let caches = caches.get_or_insert_with(|| regex.create_cache());
            let (forward, reverse) = caches.as_parts_mut();
            let Some(end) = self.forward(regex.forward(), forward, text, at)? else {
                return Ok(None);
            };
            let start = self.backward(regex.reverse(), reverse, text, at..end)?;
            Ok(Some(Match::new(start, end)))
        });
        match found {
            Err(MatchError::TooComplex) => {
                let steps = text.len().saturating_sub(at).saturating_mul(self.pattern.states);
                if steps <= MAX_STEPS_WITHOUT_DFA {
                    return Ok(self.regex.find_at(text, at).unwrap_or_default());
                }
                self.gave_up.store(true, Ordering::Relaxed);
                Err(MatchError::TooComplex)
            }
            found => found,
        }
    }

    /// Where the first match ends.
    fn forward(
        &self,
        dfa: &dfa::DFA,
        cache: &mut dfa::Cache,
        text: &[u8],
        at: usize,
    ) -> Result<Option<usize>, MatchError> {
        let input = Input::new(text).range(at..);
        let mut state = dfa.start_state_forward(cache, &input).map_err(too_complex)?;
        let mut last = None;
        for (index, byte) in text.iter().enumerate().skip(at) {
            if index.is_multiple_of(BYTES_PER_CHECK) {
                self.check()?;
            }
            state = dfa.next_state(cache, state, *byte).map_err(too_complex)?;
            // A match shows one byte late.
            match Tag::of(state)? {
                Tag::Match => last = Some(index),
                Tag::Dead => return Ok(last),
                Tag::Other => {}
            }
        }
        state = dfa.next_eoi_state(cache, state).map_err(too_complex)?;
        Ok(if Tag::of(state)? == Tag::Match { Some(text.len()) } else { last })
    }

    /// Where the match that ends at the end of `range` starts.
    fn backward(
        &self,
        dfa: &dfa::DFA,
        cache: &mut dfa::Cache,
        text: &[u8],
        range: Range<usize>,
    ) -> Result<usize, MatchError> {
        let input = Input::new(text).range(range.clone()).anchored(Anchored::Yes);
        let mut state = dfa.start_state_reverse(cache, &input).map_err(too_complex)?;
        let mut first = range.end;
        for (index, byte) in text.iter().enumerate().take(range.end).skip(range.start).rev() {
            if index.is_multiple_of(BYTES_PER_CHECK) {
                self.check()?;
            }
            state = dfa.next_state(cache, state, *byte).map_err(too_complex)?;
            match Tag::of(state)? {
                Tag::Match => first = index + 1,
                Tag::Dead => return Ok(first),
                Tag::Other => {}
            }
        }
        let before = range.start.checked_sub(1).and_then(|before| text.get(before));
        let last = match before {
            Some(byte) => dfa.next_state(cache, state, *byte),
            None => dfa.next_eoi_state(cache, state),
        };
        let last = last.map_err(too_complex)?;
        Ok(if Tag::of(last)? == Tag::Match { range.start } else { first })
    }
}

impl Matcher for StoppableMatcher {
    type Captures = NoCaptures;
    type Error = MatchError;

    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, MatchError> {
        self.search(text, at)
    }

    fn new_captures(&self) -> Result<NoCaptures, MatchError> {
        Ok(NoCaptures::new())
    }

    fn shortest_match_at(&self, text: &[u8], at: usize) -> Result<Option<usize>, MatchError> {
        if self.is_cheap(text.len().saturating_sub(at)) {
            self.check()?;
            return Ok(self.regex.shortest_match_at(text, at).unwrap_or_default());
        }
        Ok(self.search(text, at)?.map(|found| found.end()))
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.regex.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.regex.line_terminator()
    }

    fn find_candidate_line(&self, text: &[u8]) -> Result<Option<LineMatchKind>, MatchError> {
        if self.is_cheap(text.len()) {
            self.check()?;
            return Ok(self.regex.find_candidate_line(text).unwrap_or_default());
        }
        Ok(self.shortest_match(text)?.map(LineMatchKind::Confirmed))
    }
}

impl SteppedPattern {
    fn regex(&self) -> Option<&Regex> {
        let compile = || {
            let dfa = dfa::Config::new()
                .cache_capacity(MAX_CACHE_BYTES)
                .skip_cache_capacity_check(true)
                // Goes on with a cache that is cleared again and again: slow, but it can be stopped.
                .minimum_cache_clear_count(None)
                .unicode_word_boundary(true);
            Regex::builder()
                .syntax(self.syntax())
                .thompson(self.thompson())
                .dfa(dfa)
                .build(&self.text)
                .ok()
        };
        self.regex.get_or_init(compile).as_ref()
    }

    fn syntax(&self) -> syntax::Config {
        // As the matcher of `grep-regex` is configured below.
        syntax::Config::new()
            .utf8(false)
            .multi_line(true)
            .crlf(!self.multiline)
            .case_insensitive(self.ignores_case)
    }

    #[expect(clippy::unused_self, reason = "stands beside the other settings of the pattern")]
    fn thompson(&self) -> thompson::Config {
        thompson::Config::new().utf8(false).nfa_size_limit(Some(MAX_COMPILED_BYTES))
    }
}

/// What a state of a lazy DFA says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag {
    Match,
    Dead,
    Other,
}

impl Tag {
    fn of(state: LazyStateID) -> Result<Self, MatchError> {
        if !state.is_tagged() || state.is_start() {
            return Ok(Self::Other);
        }
        if state.is_match() {
            Ok(Self::Match)
        } else if state.is_dead() {
            Ok(Self::Dead)
        } else if state.is_quit() {
            Err(MatchError::TooComplex)
        } else {
            Ok(Self::Other)
        }
    }
}

fn too_complex<E>(_: E) -> MatchError {
    MatchError::TooComplex
}

/// Whether a pattern names an upper case letter. `\W`, `\pL` and the like name none.
fn has_uppercase(pattern: &str) -> bool {
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                let class = letters.next();
                let is_property = class.is_some_and(|class| class.eq_ignore_ascii_case(&'p'));
                if is_property && letters.next() == Some('{') {
                    letters.by_ref().find(|letter| *letter == '}');
                }
            }
            letter if letter.is_uppercase() => return true,
            _ => {}
        }
    }
    false
}

fn regex_matcher(query: &Query) -> Result<RegexMatcher, String> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .ban_byte(Some(0))
        .size_limit(MAX_COMPILED_BYTES)
        .dfa_size_limit(MAX_CACHE_BYTES);
    match query.case {
        Case::Sensitive => {}
        Case::Insensitive => _ = builder.case_insensitive(true),
        Case::Smart => _ = builder.case_smart(true),
    }
    if !query.multiline {
        // `$` matches before `\r\n` too.
        builder.crlf(true);
    }
    builder.build(&query.pattern).map_err(|error| {
        let hint = if matches!(error.kind(), ErrorKind::NotAllowed(_)) {
            "set `multiline` to match over several lines"
        } else {
            "escape special characters with a backslash to search for them as they are"
        };
        // The matcher puts more around the pattern; this one points at the place in what was given.
        let problem = regex::Regex::new(&query.pattern).err().map(|error| error.to_string());
        format!("{}\n{hint}", problem.unwrap_or_else(|| error.to_string()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::grep::Mode;

    fn query(pattern: &str) -> Query {
        Query {
            pattern: pattern.to_owned(),
            folder: tool::FilePath::root(),
            glob: None,
            context: 0,
            case: Case::Sensitive,
            multiline: false,
            mode: Mode::Content,
            limit: 100,
        }
    }

    fn matcher(query: &Query) -> StoppableMatcher {
        StoppableMatcher::new(query, Arc::default()).unwrap()
    }

    #[test]
    fn stepping_finds_what_the_engine_finds() {
        let text = b"xx foo bar\nfoo\r\nFOOBAR baz\n\nb\xff\x00z foo";
        for pattern in [
            "foo",
            "^foo$",
            "o+",
            "a|b",
            "^$",
            "$",
            "b.z",
            r"\bfoo\b",
            "[^x]o",
            "(?i)foobar",
            "z$",
            "nothing",
            "",
            r"\s+",
            "o*?",
        ] {
            for case in [Case::Sensitive, Case::Insensitive, Case::Smart] {
                for multiline in [false, true] {
                    let matcher = matcher(&Query { case, multiline, ..query(pattern) });
                    let texts: Vec<&[u8]> = if multiline {
                        vec![text]
                    } else {
                        text.split(|byte| *byte == b'\n').collect()
                    };
                    for text in texts {
                        let text = text.strip_suffix(b"\r").unwrap_or(text);
                        for at in 0..=text.len() {
                            let expected = matcher.regex.find_at(text, at).unwrap();
                            let found = matcher.step(text, at).unwrap();
                            assert_eq!(found, expected, "{pattern} {case:?} {multiline} {at}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_long_line_is_found_among_short_ones() {
        let matcher = matcher(&query("(a|b).{1,500}(c|d).{1,400}ZZ"));
        let long = format!("{}ZZ", "abcd".repeat(100_000));
        let text = format!("short\r\n{long}\nshort ZZ\n");
        let found = matcher.find(text.as_bytes()).unwrap().unwrap();
        assert_eq!(found.end(), "short\r\n".len() + long.len());
        assert!(text.get(found.start()..).unwrap().starts_with(['a', 'b']));
    }

    #[test]
    fn smart_case_looks_at_letters_only() {
        for (pattern, expected) in
            [("foo", false), ("Foo", true), (r"\W\S\pL\p{Greek}x", false), (r"\pLX", true)]
        {
            assert_eq!(has_uppercase(pattern), expected, "{pattern}");
        }
    }
}
