//! What people always agreed to.

use std::collections::{BTreeMap, BTreeSet};

use tool::Digest;

use crate::{PROTECTED, Verdict};

/// Less often is no habit.
const OFTEN: usize = 3;
/// What a person must look at each time: the changes themselves are in question.
const NEVER: [&str; 2] = ["smart.large", PROTECTED];

/// A question that was answered.
#[derive(Debug, Clone, Copy)]
pub struct Past<'a> {
    /// On behalf of this user,
    pub user: &'a str,
    /// this agent called
    pub agent: &'a str,
    /// this tool,
    pub tool: &'a str,
    /// and this rule asked.
    pub rule: &'a str,
    /// Names the exact call.
    pub fingerprint: Digest,
    /// What the answer could have been remembered for, narrowest first.
    pub scopes: &'a [String],
    /// What the person said.
    pub answer: Verdict,
}

/// An answer that would have spared questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// What it would be remembered for; without one, exactly the same call.
    pub scope: Option<String>,
    /// The questions it would have answered, by their places in the past.
    pub covered: Vec<usize>,
    /// Other questions about the same tool of the same agent, which it would not have answered.
    pub others: Vec<usize>,
}

/// Finds the answers that were always yes, at least three times, most used first. `past` has the newest
/// question first.
pub fn suggest(past: &[Past<'_>]) -> Vec<Suggestion> {
    let mut groups = BTreeMap::<_, Vec<usize>>::new();
    for (place, question) in past.iter().enumerate() {
        if !NEVER.contains(&question.rule) {
            groups.entry(group(question)).or_default().push(place);
        }
    }
    let mut found: Vec<_> = groups.values().flat_map(|group| chosen(past, group)).collect();
    found.sort_by_key(|suggestion| std::cmp::Reverse(suggestion.covered.len()));
    found
}

/// Questions that one answer can be about. A permission is for every tool.
fn group<'a>(question: &Past<'a>) -> (&'a str, &'a str, &'a str, &'a str) {
    let Past { user, agent, tool, rule, .. } = *question;
    let tool = if rule.starts_with("permission:") { "" } else { tool };
    (user, agent, tool, rule)
}

/// What an answer is remembered for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Candidate<'a> {
    Exact(Digest),
    Scope(&'a str),
}

/// A candidate with the questions it covers, and how wide it is.
struct Choice<'a> {
    candidate: Candidate<'a>,
    covered: BTreeSet<usize>,
    width: usize,
}

/// Of all that were always allowed, those that cover most; of those that cover the same, the narrowest.
fn chosen(past: &[Past<'_>], group: &[usize]) -> Vec<Suggestion> {
    let mut choices: Vec<Choice<'_>> =
        candidates(past, group).into_iter().filter_map(|found| choice(past, found)).collect();
    choices.sort_by_key(|choice| (std::cmp::Reverse(choice.covered.len()), choice.width));
    let mut kept: Vec<Choice<'_>> = Vec::new();
    for choice in choices {
        if !kept.iter().any(|wider| choice.covered.is_subset(&wider.covered)) {
            kept.push(choice);
        }
    }
    kept.into_iter().map(|choice| suggestion(past, choice)).collect()
}

/// Everything an answer to one of these questions could have been remembered for.
fn candidates<'a>(past: &[Past<'a>], group: &[usize]) -> BTreeMap<Candidate<'a>, BTreeSet<usize>> {
    let mut found = BTreeMap::<_, BTreeSet<usize>>::new();
    for place in group {
        let Some(question) = past.get(*place) else { continue };
        let scopes = question.scopes.iter().map(|scope| Candidate::Scope(scope));
        for candidate in scopes.chain([Candidate::Exact(question.fingerprint)]) {
            found.entry(candidate).or_default().insert(*place);
        }
    }
    found
}

fn choice<'a>(
    past: &[Past<'a>],
    (candidate, covered): (Candidate<'a>, BTreeSet<usize>),
) -> Option<Choice<'a>> {
    let allowed = |place: &usize| past.get(*place).map(|past| past.answer) == Some(Verdict::Allow);
    if covered.len() < OFTEN || !covered.iter().all(allowed) {
        return None;
    }
    let newest = past.get(*covered.first()?)?;
    let width = match candidate {
        Candidate::Exact(_) => 0,
        Candidate::Scope(scope) => 1 + newest.scopes.iter().position(|own| own == scope)?,
    };
    Some(Choice { candidate, covered, width })
}

fn suggestion(past: &[Past<'_>], choice: Choice<'_>) -> Suggestion {
    let Choice { candidate, covered, width: _ } = choice;
    let about = covered.first().and_then(|newest| past.get(*newest));
    let same = |other: &Past<'_>| {
        about.is_some_and(|about| {
            (other.user, other.agent, other.tool) == (about.user, about.agent, about.tool)
        })
    };
    let others = past.iter().enumerate().filter(|(_, other)| same(other)).map(|(place, _)| place);
    Suggestion {
        scope: match candidate {
            Candidate::Exact(_) => None,
            Candidate::Scope(scope) => Some(scope.to_owned()),
        },
        others: others.filter(|place| !covered.contains(place)).collect(),
        covered: covered.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `agent/tool/rule call scope,scope yes`, newest first.
    fn suggested(questions: &[&str]) -> String {
        let parts: Vec<Vec<_>> = questions.iter().map(|text| text.split(' ').collect()).collect();
        let scopes: Vec<Vec<String>> = parts
            .iter()
            .map(|parts| parts[2].split(',').filter(|s| *s != "-").map(str::to_owned).collect())
            .collect();
        let past = parts.iter().zip(&scopes).map(|(parts, scopes)| {
            let mut about = parts[0].split('/');
            Past {
                user: "owner",
                agent: about.next().unwrap(),
                tool: about.next().unwrap(),
                rule: about.next().unwrap(),
                fingerprint: Digest::of(parts[1]),
                scopes,
                answer: if parts[3] == "yes" { Verdict::Allow } else { Verdict::Deny },
            }
        });
        let found = suggest(&past.collect::<Vec<_>>()).into_iter().map(|found| {
            let scope = found.scope.as_deref().unwrap_or("exact");
            format!("{scope} {:?} not {:?}", found.covered, found.others)
        });
        found.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn what_was_always_approved_is_found() {
        for (questions, expected) in [
            (&[][..], ""),
            (&["m/t/r a - yes"; 2], ""),
            (&["m/t/r a - yes"; 3], "exact [0, 1, 2] not []"),
            // No is no, whenever it was said.
            (&["m/t/r a - yes", "m/t/r a - yes", "m/t/r a - yes", "m/t/r a - no"], ""),
            // Of what covers the same, the narrowest.
            (&["m/t/r a /x/y,/x yes"; 3], "exact [0, 1, 2] not []"),
            (
                &["m/t/r a /x/y,/x yes", "m/t/r b /x/y,/x yes", "m/t/r c /x/y,/x yes"],
                "/x/y [0, 1, 2] not []",
            ),
            (
                &["m/t/r a /x/y,/x yes", "m/t/r b /x/z,/x yes", "m/t/r c /x/y,/x yes"],
                "/x [0, 1, 2] not []",
            ),
            // A wider one that covers more explains the narrower.
            (
                &["m/t/r a /x yes", "m/t/r a /x yes", "m/t/r a /x yes", "m/t/r b /x yes"],
                "/x [0, 1, 2, 3] not []",
            ),
            // One that a no falls under gives way to a narrower one that none does.
            (
                &["m/t/r a /x yes", "m/t/r a /x yes", "m/t/r a /x yes", "m/t/r b /x no"],
                "exact [0, 1, 2] not [3]",
            ),
            // Other agents, tools and rules are something else.
            (&["m/t/r a - yes", "m/t/r a - yes", "n/t/r a - yes"], ""),
            (&["m/t/r a - yes", "m/t/r a - yes", "m/u/r a - yes"], ""),
            (&["m/t/r a - yes", "m/t/r a - yes", "m/t/s a - yes"], ""),
            (
                &[
                    "m/t/s z - no",
                    "m/t/r a - yes",
                    "m/t/r a - yes",
                    "m/t/r a - yes",
                    "m/u/r b - no",
                ],
                "exact [1, 2, 3] not [0]",
            ),
            // A permission is for every tool.
            (
                &[
                    "m/t/permission:exec a permission:exec yes",
                    "m/u/permission:exec b permission:exec yes",
                    "m/v/permission:exec c permission:exec yes",
                ],
                "permission:exec [0, 1, 2] not []",
            ),
            // What must be looked at each time.
            (&["m/t/smart.large a - yes"; 5], ""),
            // Most used first.
            (
                &[
                    "m/t/r a - yes",
                    "m/t/r a - yes",
                    "m/t/r a - yes",
                    "m/u/r b - yes",
                    "m/u/r b - yes",
                    "m/u/r b - yes",
                    "m/u/r b - yes",
                ],
                "exact [3, 4, 5, 6] not []; exact [0, 1, 2] not []",
            ),
        ] {
            assert_eq!(suggested(questions), expected, "{questions:?}");
        }
    }
}
