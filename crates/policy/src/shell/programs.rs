//! What kind of program a name stands for, where that decides how far an answer reaches.

/// Programs that run what a file or an argument says.
const INTERPRETERS: &str = "\
    . ash awk bash bun csh dash deno elixir erl eval exec expect fish gawk gdb ghci groovy irb \
    java jshell jupyter ksh lua luajit mawk mysql node nodejs nu osascript perl php psql pwsh \
    pypy pypy3 python python2 python3 R Rscript ruby sh source sqlite3 swift tclsh ts-node tsx \
    vim zsh";

/// Programs that run others, fetch and run others, send to whomever they are told, or destroy.
const FAR_REACHING: &str = "\
    ansible ansible-playbook ant apk apt apt-get at aws az batch bazel brew builtin bundle bunx \
    bwrap cabal cargo chroot chrt cmake command composer conda coproc crontab curl \
    dbus-run-session dc dd dnf doas docker dotnet duckdb ed emacs enable entr env ex fakeroot \
    find firejail flock ftp gcloud gdbserver gem git gnuplot go gosu gradle helm ionice julia \
    just kubectl ld ldd less linux32 linux64 ltrace m4 make man mapfile meson mix mkfs mocha \
    mongosh mono more mvn nc ncat netcat nice ninja nix nodemon nohup nox npm npx nsenter \
    numactl nvim octave packer pacman parallel perf pip pip3 pipx pkexec pm2 pnpm podman poetry \
    pre-commit proot pulumi pytest qemu-x86_64 rake readarray rebar3 redis-cli rm rsync runuser \
    rustup sbt scala scons scp screen script sed service setarch setpriv setsid sftp shred socat \
    ssh stack start-stop-daemon stdbuf strace su sudo systemd-run tar task taskset terraform \
    time timeout tmux tox trap truncate unbuffer unshare uv uvx vagrant valgrind vi watch wget \
    wine xargs xvfb-run yarn yum zypper";

/// Whether a program runs what it is given, so that knowing its name says nothing. Versions such as
/// `python3.12` count as what they are versions of.
pub(super) fn is_interpreter(name: &str) -> bool {
    let name = base(name);
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    has(INTERPRETERS, name) || (!plain.is_empty() && has(INTERPRETERS, plain))
}

/// Programs that talk to others whatever they are told.
const OUTGOING: &str = "\
    apk apt apt-get aria2c aws az bunx curl dig dnf doctl flyctl ftp gcloud gh glab gsutil \
    heroku helm http https kubectl mail mosh nc ncat netcat netlify nmap npx nslookup openstack \
    pacman ping pipx rclone rsh rsync s3cmd scp sendmail sftp socat ssh ssh-copy-id telnet \
    terraform traceroute twine uvx vercel wget whois wrangler xh yum zypper";

/// Whether an answer about a program must not reach further than the exact command.
pub(super) fn is_far_reaching(name: &str) -> bool {
    is_interpreter(name) || has(FAR_REACHING, base(name)) || is_outgoing(name)
}

/// Whether a program talks to others whatever it is told.
pub(super) fn is_outgoing(name: &str) -> bool {
    has(OUTGOING, base(name))
}

/// A name without its folder.
pub(super) fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Whether a list has this word.
pub(super) fn has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}

/// Whether a word ends here, in a line that cannot be taken apart.
pub(super) fn ends_word(c: char) -> bool {
    c.is_whitespace() || ";|&()<>\"'`${}".contains(c)
}
