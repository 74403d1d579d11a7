//! What kind of program a name stands for, where that decides how far an answer reaches.

use super::Word;

/// Programs that run what a file or an argument says.
const INTERPRETERS: &str = "\
    . ash awk bash bun csh dash deno elixir erl eval exec expect fish gawk gdb ghci groovy irb \
    java jshell jupyter ksh lua luajit mawk mysql node nodejs nu osascript perl php psql pwsh \
    pypy pypy3 python python2 python3 R Rscript ruby sh source sqlite3 swift tclsh ts-node tsx \
    vim zsh";

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

/// Programs that run no other program, load no code and read no configuration that names any, in any
/// of their options. Those in [`WITHOUT_LONG_OPTIONS`] and [`without_code`] do so with few exceptions.
const WITHOUT_CODE: &str = "\
    : b2sum base32 base64 basename basenc bunzip2 bzcat bzip2 cat chgrp chmod chown cksum cmp \
    column comm cp csplit cut date dd df diff dirname du echo egrep expand expr factor false \
    fgrep fmt fold grep groups gunzip gzip head hexdump hostid id join link ln logname ls md5sum \
    mkdir mkfifo mktemp mv nl nproc numfmt od paste pathchk pr printenv printf ptx pwd \
    readlink realpath rev rm rmdir seq sha1sum sha224sum sha256sum sha384sum sha512sum shred \
    shuf sleep sort split stat strings sum sync tac tail tee touch tr tree true truncate tsort \
    tty uname unexpand uniq unlink unxz wc whoami xxd xz xzcat yes zcat";

/// Programs among them with a long option that names a program, which can be abbreviated.
const WITHOUT_LONG_OPTIONS: &str = "sort split";

/// Programs among them that destroy what they are given.
const DESTROYING: &str = "dd rm shred truncate unlink";

/// Folders of the system whose programs are what their names say.
const SYSTEM_FOLDERS: &[&str] = &["/bin/", "/usr/bin/"];

/// Whether a program with these arguments is known to run no other program and to load no code. A
/// path counts if it leads into a folder of the system.
pub(super) fn without_code(program: &str, arguments: &[Word]) -> bool {
    let name = installed(program);
    if name.contains('/') || !has(WITHOUT_CODE, name) {
        return false;
    }
    let short = |word: &Word| word.literal().is_some_and(|text| !text.starts_with("--"));
    match name {
        _ if has(WITHOUT_LONG_OPTIONS, name) => arguments.iter().all(short),
        // `-v` sets a variable, and evaluates the subscript in its name.
        "printf" => arguments
            .first()
            .is_none_or(|first| first.literal().is_some_and(|format| !format.starts_with("-v"))),
        _ => true,
    }
}

/// The name of a program, without the folder if that is one of the system's.
pub(super) fn installed(program: &str) -> &str {
    let mut names = SYSTEM_FOLDERS.iter().filter_map(|folder| program.strip_prefix(folder));
    names.find(|name| !name.contains('/')).unwrap_or(program)
}

/// Whether an answer about a program with these arguments may reach further than the exact command:
/// it runs nothing else, and what it does to the files of the workspace can be undone.
pub(super) fn is_bounded(program: &str, arguments: &[Word]) -> bool {
    !program.contains('/') && without_code(program, arguments) && !has(DESTROYING, program)
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
