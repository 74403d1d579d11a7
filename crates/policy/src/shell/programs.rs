//! What kind of program a name stands for, where that decides how far an answer reaches.

/// Programs that run what a file or an argument says.
const INTERPRETERS: &str = "\
    . ash awk bash bun csh dash deno elixir erl eval exec expect fish gawk gdb ghci groovy irb \
    java jshell jupyter ksh lua luajit mawk mysql node nodejs nu osascript perl php psql pwsh \
    pypy pypy3 python python2 python3 R Rscript ruby sh source sqlite3 swift tclsh ts-node tsx \
    vim zsh";

/// Programs that run others, fetch and run others, send to whomever they are told, or destroy.
const FAR_REACHING: &str = "\
    ansible ansible-playbook apk apt apt-get at aws az batch brew bundle bunx cabal cargo chroot \
    cmake command composer conda curl dd dnf doas docker env find ftp gcloud gem git go gradle \
    helm just kubectl ld ldd make mkfs mvn nc ncat netcat nice ninja nix nohup npm npx nsenter \
    pacman parallel pip pip3 pipx pnpm podman poetry rake rm rsync rustup scp setsid sftp shred \
    socat ssh stdbuf strace su sudo systemd-run tar task terraform time timeout tmux truncate \
    unshare uv uvx watch wget xargs yarn yum zypper";

/// Whether a program runs what it is given, so that knowing its name says nothing. Versions such as
/// `python3.12` count as what they are versions of.
pub(super) fn is_interpreter(name: &str) -> bool {
    let name = base(name);
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    has(INTERPRETERS, name) || (!plain.is_empty() && has(INTERPRETERS, plain))
}

/// Whether an answer about a program must not reach further than the exact command.
pub(super) fn is_far_reaching(name: &str) -> bool {
    is_interpreter(name) || has(FAR_REACHING, base(name))
}

/// A name without its folder.
pub(super) fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Whether a list has this word.
pub(super) fn has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}

/// What looks like a word in a line that cannot be taken apart.
pub(super) fn rough_words(line: &str) -> Vec<&str> {
    let around = |c: char| c.is_whitespace() || ";|&()<>\"'`${}".contains(c);
    line.split(around).filter(|word| !word.is_empty()).collect()
}
