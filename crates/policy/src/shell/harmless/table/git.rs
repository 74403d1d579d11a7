//! What only looks at a repository. A repository's own settings can name programs; those are
//! switched off.

use super::{
    super::{
        Operands,
        entry::{Arguments, Entry, UnknownWords},
    },
    git_contents,
};

/// Before every subcommand.
pub(in crate::shell::harmless) const FRONT: &[&str] = &[
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.pager=cat",
    "-c",
    "core.attributesFile=/dev/null",
    "-c",
    "core.excludesFile=/dev/null",
    "-c",
    "mailmap.file=/dev/null",
    "-c",
    "mailmap.blob=",
    "-c",
    "diff.orderFile=/dev/null",
    "-c",
    "grep.fallbackToNoIndex=false",
    "-c",
    "log.follow=false",
    "-c",
    "stash.showPatch=false",
    "-c",
    "stash.showStat=true",
    "-c",
    "core.sshCommand=false",
    "-c",
    "core.askPass=false",
    "-c",
    "core.editor=false",
    "-c",
    "core.alternateRefsCommand=false",
    "-c",
    "credential.helper=",
    "-c",
    "diff.external=",
    "-c",
    "diff.submodule=short",
    "-c",
    "diff.ignoreSubmodules=all",
    "-c",
    "gpg.program=false",
    "-c",
    "gpg.ssh.program=false",
    "-c",
    "gpg.x509.program=false",
    "-c",
    "log.showSignature=false",
    "-c",
    "protocol.allow=never",
    "-c",
    "status.submoduleSummary=false",
    "-c",
    "submodule.recurse=false",
];

/// With every subcommand. Attributes come from the empty tree, so that none of them names a filter or
/// a driver; nothing is fetched, and the index is not written.
pub(super) const ENV: &[(&str, &str)] = &[
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ASKPASS", "false"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_ATTR_SOURCE", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
    ("GIT_EDITOR", "false"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("PAGER", "cat"),
];

macro_rules! diff_options {
    ($($more:tt)*) => {
        concat!(
            "-p -u -s -U:text -w -b -a -z -M?text -C?text -B?text -S:text -G:text -R -W --patch --no-patch --unified:text \
             --stat?text --numstat --shortstat --dirstat?text --summary --compact-summary --name-only --name-status --raw \
             --color?text --no-color --word-diff?text --color-words?text --color-moved?text --ignore-all-space \
             --ignore-space-change --ignore-blank-lines --ignore-space-at-eol --find-renames?text --no-renames \
             --find-copies?text --diff-filter:text --pickaxe-regex --pickaxe-all --text --no-prefix --function-context \
             --minimal --patience --histogram --diff-algorithm:text --abbrev?text --full-index --binary --exit-code \
             --patch-with-stat --inter-hunk-context:text --no-indent-heuristic --relative?text --full-index ",
            $($more)*
        )
    };
}

macro_rules! log_options {
    () => {
        diff_options!(
            "-0..9 -n:text -i -E -F -g -c -m --max-count:text --skip:text --graph --oneline --decorate?text --no-decorate \
             --all --branches?text --tags?text --remotes?text --author:text --committer:text --grep:text --since:text --until:text \
             --after:text --before:text --merges --no-merges --first-parent --reverse --date:text --pretty?text --format:text \
             --abbrev-commit --no-abbrev-commit --topo-order --date-order --author-date-order --left-right --cherry-pick \
             --cherry-mark --walk-reflogs --full-history --simplify-merges --ancestry-path --relative-date --source \
             --follow --no-walk --boundary --invert-grep --all-match --no-notes --parents --children --cc --log-size"
        )
    };
}

/// So that no attribute or setting has a program run on what is compared.
const PLAIN_DIFF: &[&str] = &["--no-ext-diff", "--no-textconv"];

const fn git(name: &'static str, options: &'static str) -> Entry {
    Entry::new(name, options).taking(Operands::Revisions).in_full()
}

const LOG: &str = log_options!();
const DIFF: &str = diff_options!("--cached --staged --merge-base --check --quiet -q -1 -2 -3 -0");

pub(super) const ENTRIES: &[Entry] = &[
    git("git blame", "-L:text -w -e -l -s -f -n -p -t -c -M?text -C?text --porcelain --line-porcelain --incremental --date:text --since:text --abbrev?text --root --show-stats --show-name --show-number --show-email")
        .before(&["--no-textconv", "--no-ignore-revs-file"])
        .guarded(git_contents::blame)
        .with(&["git blame -L 1,5 a", "git blame HEAD -- a"], &["git blame .env", "git blame HEAD -- .env", "git blame --ignore-revs-file=/etc/passwd a", "git blame --contents /etc/passwd a", "git blame -S a b", "git blame --textconv a"]),
    git("git branch", "-a -r -v -vv -l -i --list --all --remotes --verbose --show-current --merged --no-merged --contains --no-contains --points-at:text --sort:text --format:text --color?text --no-color --column?text --no-column --abbrev?text --ignore-case")
        .checked(branch)
        .with(&["git branch", "git branch -avv", "git branch --show-current", "git branch --list 'x*'", "git branch --contains HEAD"], &["git branch new", "git branch -d x", "git branch -D x", "git branch -m a b", "git branch --delete x", "git branch -f a b", "git branch -v new", "git branch --edit-description"]),
    git("git cat-file", "-t -s -e -p").guarded(git_contents::cat_file).with(&["git cat-file -p HEAD", "git cat-file -t deadbeef", "git cat-file -p HEAD:a"], &["git cat-file -p :0:.env", "git cat-file -p deadbeef", "git cat-file -p HEAD:.env", "git cat-file --textconv HEAD:a", "git cat-file --filters HEAD:a", "git cat-file --batch"]),
    git("git check-ignore", "-v -n -q --verbose --non-matching --quiet --no-index").taking(Operands::Paths)
        .with(&["git check-ignore -v target"], &["git check-ignore --stdin", "git check-ignore ../x"]),
    git("git cherry", "-v --abbrev?text").with(&["git cherry -v main"], &["git cherry-pick x"]),
    git("git config", "-l -z --list --null --get --get-all --get-regexp --show-origin --show-scope --name-only --local --global --system --includes --no-includes --type:text --bool --int --path --default:text")
        .taking(Operands::Text).checked(config)
        .with(&["git config --get user.name", "git config user.email", "git config --list", "git config -l --show-origin"], &["git config user.email x", "git config --unset a.b", "git config --add a.b c", "git config -e", "git config edit", "git config --global a.b c", "git config --file x -l", "git config --blob=x -l", "git config set a.b c"]),
    git("git count-objects", "-v -H --verbose --human-readable").taking(Operands::None).with(&["git count-objects -vH"], &["git count-objects x"]),
    git("git describe", "--always --tags --all --long --abbrev?text --match:text --exclude:text --contains --exact-match --first-parent --candidates:text")
        .with(&["git describe --always", "git describe --tags HEAD"], &["git describe --dirty"]),
    git("git diff", DIFF).before(&["--no-ext-diff", "--no-textconv", "--ignore-submodules=all"]).guarded(git_contents::diff).with_unknown(UnknownWords::BehindDashes).with(
        &["git diff", "git diff --stat", "git diff HEAD", "git diff main..HEAD -- src", "git diff --cached a b", "git diff --name-only HEAD~1"],
        &["git diff HEAD:.env HEAD:a", "git diff .env", "git diff deadbeef^{blob}", "git diff --ext-diff", "git diff --textconv", "git diff --output=OUT", "git diff --out OUT", "git diff --no-index a b", "git diff -O order", "git diff /etc/passwd a", "git diff --submodule=diff", "git diff --ignore-submodules=none", "git -c diff.external=x diff", "git -C .. diff", "git --git-dir=x diff", "git --exec-path=. diff", "git diff -- ../x"],
    ),
    git("git diff-tree", diff_options!("-r -t -m -c --cc --root --no-commit-id --pretty?text --format:text -q --quiet -v")).before(PLAIN_DIFF).checked(format).guarded(git_contents::diff_tree)
        .with(&["git diff-tree --no-commit-id --name-only -r HEAD", "git diff-tree -p HEAD"], &["git diff-tree --stdin", "git diff-tree --output=x HEAD", "git diff-tree -p HEAD -- .env"]),
    git("git for-each-ref", "--count:text --sort:text --format:text --points-at:text --merged?text --no-merged?text --contains?text --color?text --ignore-case")
        .checked(format).with(&["git for-each-ref --sort=-committerdate refs/heads"], &["git for-each-ref --format='%(signature)'", "git for-each-ref --format='%(raw)'", "git for-each-ref --shell"]),
    git("git grep", "-0..9 -i -w -v -E -F -G -P -n -l -L -c -h -H -z -q -p -W -e:text -A:text -B:text -C:text -m:text -a -I --cached --count --line-number --name-only --files-with-matches --files-without-match --ignore-case --word-regexp --invert-match --extended-regexp --fixed-strings --perl-regexp --max-depth:text --heading --break --color?text --no-color --show-function --function-context --and --or --not --all-match --column -o --only-matching --text --quiet")
        .taking(Operands::Text)
        .before(&["--no-textconv"])
        .guarded(git_contents::grep)
        .with(&["git grep main", "git grep -n foo -- src", "git grep foo HEAD", "git grep -e a -e b HEAD~1 -- '*.rs'"], &["git grep . HEAD:.env", "git grep . -- .env", "git grep -e . :.env", "git grep x /etc", "git grep x -- ../a", "git grep -O main", "git grep -Oless main", "git grep --open-files-in-pager main", "git grep --textconv a", "git grep -f list", "git grep --no-index a", "git grep --recurse-submodules a"]),
    git("git log", LOG).before(PLAIN_DIFF).checked(format).guarded(git_contents::log).with_unknown(UnknownWords::BehindDashes).with(
        &["git log", "git log --oneline -5", "git log --stat -n 1", "git log --format='%h %s' main..HEAD -- src", "git log -S foo --all", "git log -p -- a", "git log -p -- '*.env'", "git log -p -- src", "git log --follow --oneline a"],
        &["git log -L1,1:.env", "git log -L1,1:a", "git log -p -- ':(icase).ENV'", "git log -p .env", "git log --follow -p a", "git log -p HEAD -- .env", "git log --output=OUT", "git log --show-signature", "git log --format=%G?", "git log --pretty=format:%GS", "git log --ext-diff -p", "git log --textconv -p", "git -c core.pager=x --paginate log", "git -p log", "git log -O x", "git log --oneline | sh", "git log --remerge-diff"],
    ),
    git("git ls-files", "-c -d -m -o -i -s -u -z -t -v -k -x:text --cached --deleted --modified --others --ignored --stage --unmerged --exclude-standard --full-name --error-unmatch --exclude:text --directory --no-empty-directory --killed --eol --deduplicate --abbrev?text")
        .with(&["git ls-files", "git ls-files -o --exclude-standard"], &["git ls-files -X list", "git ls-files --exclude-from=/x", "git ls-files --exclude-per-directory=x", "git ls-files --recurse-submodules"]),
    git("git ls-tree", "-r -t -d -l -z --name-only --name-status --full-name --full-tree --long --abbrev?text --object-only --format:text")
        .with(&["git ls-tree -r HEAD", "git ls-tree --name-only HEAD src"], &["git ls-tree HEAD /x"]),
    git("git ls-remote", "--get-url").checked(get_url).with(&["git ls-remote --get-url"], &["git ls-remote", "git ls-remote origin", "git ls-remote --upload-pack=x y"]),
    git("git name-rev", "--tags --refs:text --name-only --always").with(&["git name-rev HEAD"], &["git name-rev --stdin"]),
    git("git merge-base", "-a --all --is-ancestor --octopus --independent --fork-point").with(&["git merge-base HEAD HEAD"], &["git merge-base --x HEAD"]),
    git("git reflog", "-0..9 -n:text --oneline --date:text --format:text --pretty?text --all --max-count:text --no-decorate")
        .taking(Operands::None).checked(format).with(&["git reflog", "git reflog -5"], &["git reflog expire --all --expire=now", "git reflog delete HEAD@{1}"]),
    git("git reflog show", "-0..9 -n:text --oneline --date:text --format:text --pretty?text --all").checked(format).with(&["git reflog show main"], &["git reflog show --output=x"]),
    git("git remote", "-v --verbose").taking(Operands::None).with(&["git remote -v", "git remote"], &["git remote add x https://evil", "git remote update", "git remote show origin", "git remote remove x"]),
    git("git remote show", "-n").taking(Operands::None).with(&["git remote show"], &["git remote show origin"]),
    git("git remote get-url", "--push --all").with(&["git remote get-url origin"], &["git remote set-url origin x"]),
    git("git rev-list", "-0..9 -n:text --count --all --max-count:text --since:text --until:text --left-right --merges --no-merges --first-parent --reverse --objects --branches?text --tags?text --author:text --grep:text --oneline --abbrev-commit")
        .with(&["git rev-list --count HEAD"], &["git rev-list --disk-usage x --stdin", "git rev-list --use-bitmap-index HEAD"]),
    git("git rev-parse", "--abbrev-ref?text --short?text --verify --quiet -q --show-toplevel --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --show-prefix --show-cdup --symbolic-full-name --symbolic --all --branches?text --tags?text --remotes?text --show-superproject-working-tree --is-shallow-repository")
        .with(&["git rev-parse HEAD", "git rev-parse --abbrev-ref HEAD", "git rev-parse --show-toplevel"], &["git rev-parse --path-format=absolute --git-path /x", "git rev-parse --resolve-git-dir /x"]),
    git("git shortlog", "-s -n -e -c --summary --numbered --email --committer --no-merges --merges --since:text --until:text --after:text --before:text --all --group:text")
        .with(&["git shortlog -sn HEAD"], &["git shortlog --output=OUT"]),
    git("git show", LOG).before(PLAIN_DIFF).checked(format).guarded(git_contents::show).with(
        &["git show", "git show HEAD:src/a.rs", "git show --stat HEAD~1", "git show stash@{0}"],
        &["git show --output=OUT", "git show HEAD:.env", "git show :0:.env", "git show :.env", "git show -- .env", "git show deadbeef^{blob}", "git show -L1,1:.env", "git show --show-signature", "git show --ext-diff", "git show --textconv HEAD:a"],
    ),
    git("git show-ref", "--head --heads --tags --branches --verify --hash?text -s?text --abbrev?text --quiet -q -d --dereference").with(&["git show-ref --heads"], &["git show-ref --exclude-existing=x"]),
    git("git stash list", "-0..9 -n:text --oneline --date:text --format:text --pretty?text").taking(Operands::None).checked(format)
        .with(&["git stash list"], &["git stash", "git stash clear", "git stash pop", "git stash drop", "git stash list --output=x"]),
    git("git stash show", DIFF).before(PLAIN_DIFF).guarded(git_contents::stash_show).with(&["git stash show stash@{0}", "git stash show --name-only"], &["git stash show -p stash@{0}", "git stash show --output=x", "git stash show --ext-diff -p"]),
    git("git status", "-s -b -z -u?text --short --branch --porcelain?text --long --untracked-files?text --ignored?text --show-stash --ahead-behind --no-ahead-behind --renames --no-renames --find-renames?text --column?text --no-column")
        .before(&["--ignore-submodules=all"])
        .with(&["git status", "git status -sb", "git status --porcelain=v1", "git --no-pager status"], &["git status --ignore-submodules=none", "git -c core.fsmonitor=x status", "git status ../x", "git status > a", "git status -v"]),
    git("git symbolic-ref", "--short -q --quiet").at_most(1).with(&["git symbolic-ref HEAD", "git symbolic-ref --short HEAD"], &["git symbolic-ref HEAD refs/heads/x", "git symbolic-ref -d HEAD"]),
    git("git var", "-l").taking(Operands::Text).at_most(1).with(&["git var GIT_EDITOR"], &["git var a b"]),
    git("git whatchanged", LOG).before(PLAIN_DIFF).checked(format).guarded(git_contents::log)
        .with(&["git whatchanged -1"], &["git whatchanged --output=x", "git whatchanged -p -- .env"]),
    git("git tag", "-l -n?text --list --sort:text --format:text --contains --no-contains --merged --no-merged --points-at:text --column?text --color?text -i --ignore-case")
        .checked(tag).with(&["git tag", "git tag -l 'v*'", "git tag --contains HEAD", "git tag --sort=-creatordate"], &["git tag v1", "git tag -d v1", "git tag -a v1", "git tag -v v1", "git tag --verify v1", "git tag -n v1", "git tag -s x"]),
    git("git worktree list", "-v -z --verbose --porcelain").taking(Operands::None).with(&["git worktree list"], &["git worktree add ../x", "git worktree remove x"]),
];

/// With a name and no reason to list, it makes a branch.
fn branch(arguments: &Arguments) -> Result<(), String> {
    let lists = ["-l", "--list", "--merged", "--no-merged", "--contains", "--no-contains"];
    if arguments.operands.is_empty() || arguments.has(&lists) {
        return format(arguments);
    }
    Err("`git branch` with a name makes a branch".to_owned())
}

/// One name is shown; with a value it is set.
fn config(arguments: &Arguments) -> Result<(), String> {
    let lists = arguments.has(&["-l", "--list"]);
    let shows = arguments.has(&["--get", "--get-all", "--get-regexp"]);
    let names = match arguments.operands.as_slice() {
        [] => lists,
        [name] => shows || (!lists && name.contains('.')),
        [_, _] => shows,
        _ => false,
    };
    if names { Ok(()) } else { Err("`git config` may change a setting".to_owned()) }
}

/// Anything else asks another machine.
fn get_url(arguments: &Arguments) -> Result<(), String> {
    if arguments.has(&["--get-url"]) {
        return Ok(());
    }
    Err("`git ls-remote` needs the network".to_owned())
}

fn tag(arguments: &Arguments) -> Result<(), String> {
    let lists = ["-l", "--list", "--merged", "--no-merged", "--contains", "--no-contains"];
    if arguments.operands.is_empty() || arguments.has(&lists) {
        return format(arguments);
    }
    Err("`git tag` with a name makes a tag".to_owned())
}

/// Formats can have signatures checked by a program.
fn format(arguments: &Arguments) -> Result<(), String> {
    let formats = arguments
        .options
        .iter()
        .filter(|(name, _)| matches!(name.as_str(), "--format" | "--pretty"));
    let checks = |value: &String| {
        value.contains("%G") || value.contains("signature") || value.contains("(raw")
    };
    if formats.filter_map(|(_, value)| value.as_ref()).any(checks) {
        return Err("a format of `git` may have signatures checked by a program".to_owned());
    }
    Ok(())
}
