//! Commands of git that print the contents of files.
//!
//! They come out of the object database, so hiding files in the sandbox does not help. Commands that
//! print differences leave out files with credentials in every commit, by pathspecs; those that print
//! one file are checked by its name.

use std::sync::LazyLock;

use super::super::{entry::Arguments, git_names};
use crate::credential;

/// Options that have differences printed, or searched.
const PATCHES: &[&str] = &[
    "-p",
    "-u",
    "-U",
    "-W",
    "-c",
    "-m",
    "-S",
    "-G",
    "--binary",
    "--cc",
    "--check",
    "--color-words",
    "--function-context",
    "--patch",
    "--patch-with-stat",
    "--unified",
    "--word-diff",
];

/// Options that have something else printed instead.
const SUMMARIES: &[&str] = &[
    "-s",
    "--compact-summary",
    "--dirstat",
    "--name-only",
    "--name-status",
    "--no-patch",
    "--numstat",
    "--quiet",
    "-q",
    "--raw",
    "--shortstat",
    "--stat",
    "--summary",
];

/// So that commits stay that touch only what is left out.
const WHOLE_HISTORY: &[&str] = &["--full-history", "--sparse"];

/// Leaves out files with credentials, wherever they are in the repository.
static LEAVE_OUT: LazyLock<Vec<String>> = LazyLock::new(|| {
    let all = credential::patterns();
    all.iter().map(|pattern| format!(":(top,exclude,icase,glob)**/{pattern}")).collect()
});

/// `git log` prints differences if it is told to.
pub(super) fn log(arguments: &mut Arguments) -> Result<(), String> {
    if !arguments.has(PATCHES) {
        return Ok(());
    }
    if arguments.has(&["--follow"]) {
        return Err("`--follow` prints files by names they once had".to_owned());
    }
    commits(arguments)?;
    // With paths, git leaves out commits that touch none of them.
    let is_revision = |name: &String| name.starts_with("HEAD") || name.contains(['~', '^', '@']);
    if arguments.split.is_none() && arguments.operands.iter().all(is_revision) {
        arguments.added.extend(WHOLE_HISTORY);
    }
    leave_out(arguments);
    Ok(())
}

/// `git show` prints differences, and files.
pub(super) fn show(arguments: &mut Arguments) -> Result<(), String> {
    commits(arguments)?;
    if arguments.has(SUMMARIES) && !arguments.has(PATCHES) {
        return Ok(());
    }
    if arguments.has(&["--follow"]) {
        return Err("`--follow` prints files by names they once had".to_owned());
    }
    if arguments.split.is_none() {
        arguments.added.extend(WHOLE_HISTORY);
    }
    leave_out(arguments);
    Ok(())
}

/// `git diff` prints differences unless it is told not to.
pub(super) fn diff(arguments: &mut Arguments) -> Result<(), String> {
    commits(arguments)?;
    if !arguments.has(SUMMARIES) || arguments.has(PATCHES) {
        leave_out(arguments);
    }
    Ok(())
}

/// `git diff-tree` prints names unless it is told otherwise.
pub(super) fn diff_tree(arguments: &mut Arguments) -> Result<(), String> {
    commits(arguments)?;
    if arguments.has(PATCHES) {
        leave_out(arguments);
    }
    Ok(())
}

/// `git stash show` takes no paths, so nothing can be left out.
pub(super) fn stash_show(arguments: &mut Arguments) -> Result<(), String> {
    if arguments.has(PATCHES) {
        return Err("`git stash show -p` may print files with credentials".to_owned());
    }
    // With any option at all it prints differences unless it is told what else to print.
    if !arguments.has(SUMMARIES) {
        arguments.added.push("--stat");
    }
    Ok(())
}

/// `git grep` prints lines of files, of commits too.
pub(super) fn grep(arguments: &mut Arguments) -> Result<(), String> {
    let pattern = usize::from(!arguments.has(&["-e"]));
    let (before, behind) = arguments.around_dashes();
    for name in before.iter().skip(pattern) {
        git_names::check_revision_or_path(name)?;
    }
    for path in behind {
        git_names::check_pathspec(path)?;
    }
    commits_from(arguments, pattern)?;
    leave_out(arguments);
    Ok(())
}

/// `git blame` prints one file.
pub(super) fn blame(arguments: &mut Arguments) -> Result<(), String> {
    commits(arguments)
}

/// `git cat-file -p` prints whatever its argument names.
pub(super) fn cat_file(arguments: &mut Arguments) -> Result<(), String> {
    let number = |name: &String| git_names::as_commits(name).as_deref() != Some(name.as_str());
    if arguments.has(&["-p"]) && arguments.operands.iter().any(number) {
        return Err("`git cat-file -p` with a number may print a file with credentials".to_owned());
    }
    Ok(())
}

/// Makes sure that numbers of objects are those of commits.
fn commits(arguments: &mut Arguments) -> Result<(), String> {
    commits_from(arguments, 0)
}

fn commits_from(arguments: &mut Arguments, first: usize) -> Result<(), String> {
    let end = arguments.split.unwrap_or(arguments.operands.len());
    for operand in arguments.operands.iter_mut().take(end).skip(first) {
        let commits = git_names::as_commits(operand);
        *operand = commits.ok_or_else(|| format!("`{operand}` may name a file by its number"))?;
    }
    Ok(())
}

fn leave_out(arguments: &mut Arguments) {
    arguments.operands.extend(LEAVE_OUT.iter().cloned());
}
