//! Programs that search files.

use super::super::{Operands, entry::Entry};

/// Options of all forms of `grep`; none that reads patterns from a file or follows links.
const GREP: &str = "-0..9 -A:text -B:text -C:text -E -F -G -P -H -I -L -T -U -Z -a -b -c -e:text -h -i -l -m:text -n -o -q \
     -r -s -v -w -x -y -z --after-context:text --before-context:text --context:text --extended-regexp \
     --fixed-strings --basic-regexp --perl-regexp --with-filename --files-without-match --initial-tab --binary \
     --null --text --byte-offset --count --regexp:text --no-filename --ignore-case --no-ignore-case \
     --files-with-matches --max-count:text --line-number --only-matching --quiet --silent --recursive \
     --no-messages --invert-match --word-regexp --line-regexp --null-data --include:text --exclude:text \
     --exclude-dir:text --color?text --colour?text --label:text --line-buffered --binary-files:text";

/// Files with secrets are left out where whole folders are searched; behind the caller's own
/// patterns, because the last one that matches wins, and because the first one says what happens to
/// files that none matches.
const GREP_LEAVES_OUT: &[&str] = &[
    "--exclude=.env",
    "--exclude=.env.*",
    "--exclude=.netrc",
    "--exclude=.npmrc",
    "--exclude=.pgpass",
    "--exclude=.pypirc",
    "--exclude=.htpasswd",
    "--exclude=.git-credentials",
    "--exclude=credentials",
    "--exclude=credentials.json",
    "--exclude=service-account.json",
    "--exclude=id_*",
    "--exclude=*.pem",
    "--exclude=*.key",
    "--exclude=*.p12",
    "--exclude=*.pfx",
    "--exclude=*.jks",
    "--exclude=*.kdbx",
    "--exclude=*.keystore",
    "--exclude-dir=.ssh",
    "--exclude-dir=.aws",
    "--exclude-dir=.azure",
    "--exclude-dir=.docker",
    "--exclude-dir=.gnupg",
    "--exclude-dir=.kube",
    "--exclude-dir=.password-store",
];

/// The same for `rg`; behind the caller's own globs, because the last one wins.
const RG_LEAVES_OUT: &[&str] = &[
    "--no-ignore-global",
    "--iglob=!.env",
    "--iglob=!.env.*",
    "--iglob=!.netrc",
    "--iglob=!.npmrc",
    "--iglob=!.pgpass",
    "--iglob=!.pypirc",
    "--iglob=!.htpasswd",
    "--iglob=!.git-credentials",
    "--iglob=!credentials",
    "--iglob=!credentials.json",
    "--iglob=!service-account.json",
    "--iglob=!id_{dsa,ecdsa,ed25519,rsa}",
    "--iglob=!*.{pem,key,p12,pfx,jks,kdbx,keystore}",
    "--iglob=!.{ssh,aws,azure,docker,gnupg,kube,password-store}",
];

const fn grep(name: &'static str) -> Entry {
    Entry::new(name, GREP).taking(Operands::TextThenPaths("-e --regexp")).behind(GREP_LEAVES_OUT)
}

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new("ag", "-i -l -c -w -v -s -S -Q -A:text -B:text -C:text -G:text --ignore-case --files-with-matches --count --nocolor --nogroup")
        .taking(Operands::TextThenPaths(""))
        .in_full()
        .before(&["--nopager"])
        .with(&["ag foo", "ag -l foo src"], &["ag --pager=x foo", "ag -f foo", "ag -p x foo", "ag -u foo", "ag foo /etc"]),
    grep("egrep").with(&["egrep 'a|b' README.md"], &["egrep -f list a"]),
    grep("fgrep").with(&["fgrep a.b README.md"], &["fgrep a /etc/passwd"]),
    grep("zgrep").before(&[]).behind(&[]).with(&["zgrep foo a.gz"], &["zgrep -f list a.gz", "zgrep x /x.gz"]),
    grep("grep").with(
        &["grep -c e README.md", "grep -rn foo src", "grep -e x -e y a", "grep --inc='*.rs' -r x .", "ls | grep -v x", "grep -3 x a"],
        &["grep -f /etc/passwd in.txt", "grep --file=a b", "grep -R secret .", "grep --dereference-recursive x", "grep -e x .env", "grep x ../a", "grep --exclude-from=a x b", "grep -d recurse x .", "grep -D read x a"],
    ),
    Entry::new(
        "rg",
        "-A:text -B:text -C:text -F -H -I -N -P -S -T:text -U -V -a -b -c -e:text -g:text -i -l -m:text -n -o -p -q \
         -s -t:text -u -v -w -x -0 -d:text -M:text -r:text -. --after-context:text --before-context:text --context:text \
         --fixed-strings --with-filename --no-filename --no-line-number --pcre2 --smart-case --type-not:text --multiline \
         --text --byte-offset --count --count-matches --regexp:text --glob:text --iglob:text --ignore-case \
         --files-with-matches --files-without-match --max-count:text --line-number --only-matching --pretty --quiet \
         --case-sensitive --type:text --invert-match --word-regexp --line-regexp --null --max-depth:text --max-columns:text \
         --replace:text --hidden --no-ignore --no-ignore-vcs --files --json --stats --column --vimgrep --heading --no-heading \
         --color:text --colors:text --sort:text --sortr:text --type-list --trim --multiline-dotall --passthru --unrestricted \
         --max-filesize:text --one-file-system --crlf --null-data --no-messages --version",
    )
    .taking(Operands::TextThenPaths("-e --regexp --files --type-list --version -V"))
    .in_full()
    .before(&["--no-config", "--no-follow", "--no-pre", "--no-search-zip"])
    .behind(RG_LEAVES_OUT)
    .with(
        &["rg -i readme", "rg -l main src", "rg -g '*.rs' foo", "rg --files", "rg -nC2 x ."],
        &["rg --pre ./evil.sh a in.txt", "rg --pre=./evil.sh a .", "rg --ignore-file /etc/passwd x", "rg -f list", "rg -L x", "rg --follow x", "rg -z x", "rg --hostname-bin=./x a", "rg x /etc", "rg x .env", "rg --file=x"],
    ),
];
