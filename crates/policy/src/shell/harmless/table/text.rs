//! Programs that read files, or what comes through a pipe, and print something made of it.

use super::{
    super::{
        Operands,
        entry::{Arguments, Entry},
    },
    awk, jq, sed,
};

/// Files with secrets are left out where folders are compared.
const DIFF_LEAVES_OUT: &[&str] = &[
    "--exclude=.env",
    "--exclude=.env.*",
    "--exclude=.netrc",
    "--exclude=.npmrc",
    "--exclude=.pgpass",
    "--exclude=.git-credentials",
    "--exclude=credentials*",
    "--exclude=id_*",
    "--exclude=*.pem",
    "--exclude=*.key",
    "--exclude=*.p12",
    "--exclude=*.pfx",
];

/// Options of all programs that compute checksums; none that reads a list of files.
const SUMS: &str = "-b -t -z --binary --text --tag --zero";
const fn sum(
    name: &'static str,
    harmless: &'static [&'static str],
    not: &'static [&'static str],
) -> Entry {
    Entry::paths(name, SUMS).with(harmless, not)
}

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new("awk", "-F:text -v:text")
        .taking(Operands::TextThenPaths(""))
        .checked(awk::check)
        .with(awk::HARMLESS, awk::NOT),
    sum("b2sum", &["b2sum README.md", "b2sum -b a b"], &["b2sum -c list", "b2sum --check list", "b2sum /etc/x"]),
    Entry::paths("base64", "-d -i -w:text --decode --ignore-garbage --wrap:text").at_most(1)
        .with(&["base64 README.md", "base64 -w0 a"], &["base64 /etc/shadow", "base64 .env"]),
    Entry::paths("cat", "-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting")
        .with(&["cat a", "cat -n src/main.rs b", "cat -"], &["cat /etc/passwd", "cat ../x", "cat .env", "cat ~/.ssh/id_rsa", "cat < .env", "cat <<< a"]),
    Entry::paths("cksum", "-z --zero --untagged").with(&["cksum a"], &["cksum -c list", "cksum --check list", "cksum -a crc a"]),
    Entry::paths("cmp", "-b -i:text -l -n:text -s --print-bytes --ignore-initial:text --verbose --bytes:text --quiet --silent")
        .with(&["cmp a b"], &["cmp a /etc/passwd"]),
    Entry::paths("column", "-t -x -s:text -o:text -c:text -N:text -R:text -H:text -J -n:text --table --separator:text --output-separator:text --json --table-columns:text")
        .with(&["column -t data.csv"], &["column /etc/passwd"]),
    Entry::paths("comm", "-1 -2 -3 -z --check-order --nocheck-order --output-delimiter:text --total --zero-terminated").at_most(2)
        .with(&["comm -12 a b"], &["comm a /b"]),
    Entry::paths("cut", "-b:text -c:text -d:text -f:text -n -s -z --bytes:text --characters:text --delimiter:text --fields:text --complement --only-delimited --output-delimiter:text --zero-terminated")
        .with(&["cut -d: -f1 data.csv", "cut -d ' ' -f2-", "cut --del=, --fields=1 a"], &["cut -f1 /etc/passwd", "cut --x a"]),
    Entry::paths("diff", "-q -s -u -U:text -c -C:text -y -i -w -b -B -E -Z -a -N -d -e -n -p -t -T -W:text --brief --report-identical-files --unified?text --context?text --side-by-side --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-trailing-space --ignore-tab-expansion --text --new-file --minimal --strip-trailing-cr --suppress-common-lines --color?text --width:text --label:text --show-c-function --normal -I:text --ignore-matching-lines:text")
        .behind(DIFF_LEAVES_OUT)
    .at_most(2)
        .with(&["diff -q a.txt b.txt", "diff -u a b", "diff -U3 a b"], &["diff -r a b", "diff -l a b", "diff --from-file=a b", "diff a /etc/passwd", "diff -X list a b", "diff --to-file=/x a"]),
    Entry::paths("expand", "-i -t:text --initial --tabs:text").with(&["expand -t4 a"], &["expand /x"]),
    Entry::paths("fold", "-b -s -w:text --bytes --spaces --width:text").with(&["fold -w 40 README.md"], &["fold /x"]),
    Entry::paths("head", "-0..9 -n:text -c:text -q -v -z --lines:text --bytes:text --quiet --silent --verbose --zero-terminated")
        .with(&["head -c 100 README.md", "head -5 a", "head -n5 a b", "ls | head"], &["head /etc/passwd", "head --x a"]),
    Entry::paths("hexdump", "-b -c -C -d -o -x -X -v -n:text -s:text --canonical --length:text --skip:text --no-squeezing")
        .with(&["hexdump -C README.md"], &["hexdump -f format a", "hexdump /dev/mem"]),
    Entry::paths("join", "-a:text -e:text -i -j:text -o:text -t:text -v:text -1:text -2:text -z --header --check-order --nocheck-order --ignore-case").at_most(2)
        .with(&["join -t, a b"], &["join a /b"]),
    Entry::new("jq", "-r -c -n -s -e -S -C -M -a -j -R --raw-output --compact-output --null-input --slurp --exit-status --sort-keys --color-output --monochrome-output --ascii-output --join-output --raw-input --tab --seq --stream --arg:text:text --argjson:text:text")
        .taking(Operands::TextThenPaths(""))
        .in_full()
        .checked(jq::check)
        .with(jq::HARMLESS, jq::NOT),
    sum("md5sum", &["md5sum README.md", "md5sum -b a b"], &["md5sum -c list", "md5sum --check list", "md5sum /etc/x"]),
    Entry::paths("nl", "-b:text -d:text -f:text -h:text -i:text -l:text -n:text -p -s:text -v:text -w:text --body-numbering:text --number-width:text --number-format:text --number-separator:text --starting-line-number:text")
        .with(&["nl README.md", "nl -ba a"], &["nl /x"]),
    Entry::paths("od", "-A:text -t:text -N:text -j:text -w?text -v -a -b -c -d -f -i -l -o -s -x --address-radix:text --format:text --read-bytes:text --skip-bytes:text --output-duplicates --width?text --endian:text")
        .with(&["od -c a", "od -An -tx1 a"], &["od -c /etc/passwd"]),
    Entry::paths("paste", "-d:text -s -z --delimiters:text --serial --zero-terminated").with(&["paste a b", "paste -sd, a"], &["paste /etc/passwd"]),
    Entry::paths("rev", "-0 --zero").with(&["rev README.md"], &["rev /x"]),
    Entry::new("sed", "-n -E -r -s -u -z -e:text --quiet --silent --regexp-extended --expression:text --separate --unbuffered --null-data --posix")
        .taking(Operands::TextThenPaths("-e --expression"))
        .before(&["--sandbox"])
        .checked(sed::check)
        .with(sed::HARMLESS, sed::NOT),
    sum("sha1sum", &["sha1sum README.md", "sha1sum -b a b"], &["sha1sum -c list", "sha1sum --check list", "sha1sum /etc/x"]),
    sum("sha224sum", &["sha224sum README.md", "sha224sum -b a b"], &["sha224sum -c list", "sha224sum --check list", "sha224sum /etc/x"]),
    sum("sha256sum", &["sha256sum README.md", "sha256sum -b a b"], &["sha256sum -c list", "sha256sum --check list", "sha256sum /etc/x"]),
    sum("sha384sum", &["sha384sum README.md", "sha384sum -b a b"], &["sha384sum -c list", "sha384sum --check list", "sha384sum /etc/x"]),
    sum("sha512sum", &["sha512sum README.md", "sha512sum -b a b"], &["sha512sum -c list", "sha512sum --check list", "sha512sum /etc/x"]),
    Entry::paths("sort", "-b -d -f -g -i -M -h -n -R -r -V -c -C?text -m -s -u -z -k:text -t:text -S:text --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort --reverse --sort:text --version-sort --check?text --merge --stable --unique --zero-terminated --key:text --field-separator:text --buffer-size:text --parallel:text --batch-size:text --debug")
        .with(&["sort -n nums.txt", "sort -u data.csv", "sort -t, -k2,2 -rn a", "sort --uniq a"], &["sort -o OUT a", "sort --output=OUT a", "sort --out OUT a", "sort -nrooOUT a", "sort --compress-program=./x a", "sort --comp=x a", "sort -T /tmp a", "sort --files0-from=list", "sort --random-source=/x -R a", "sort a -oOUT"]),
    Entry::paths("strings", "-a -n:text -t:text -o -w -e:text -s:text --all --bytes:text --radix:text --encoding:text")
        .checked(strings)
        .with(&["strings -n 8 a"], &["strings @list", "strings -T x a", "strings /etc/x"]),
    Entry::paths("tac", "-b -r -s:text --before --regex --separator:text").with(&["tac README.md"], &["tac /x"]),
    Entry::paths("tail", "-0..9 -n:text -c:text -q -v -z --lines:text --bytes:text --quiet --silent --verbose --zero-terminated")
        .with(&["tail -n 5 a", "tail -20 a", "tail -n +2 a"], &["tail -f a", "tail -F a", "tail --follow a", "tail --fol=name a", "tail --pid=1 a", "tail -s1 -f a", "tail /x"]),
    Entry::new("tr", "-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1").taking(Operands::Text).at_most(2)
        .with(&["ls | tr a-z A-Z", "echo a | tr -d '\\n'"], &["tr a b < /etc/passwd", "tr a b c"]),
    Entry::paths("unexpand", "-a -t:text --all --first-only --tabs:text").with(&["unexpand -a a"], &["unexpand /x"]),
    Entry::paths("uniq", "-c -d -D -u -i -z -f:text -s:text -w:text --count --repeated --all-repeated?text --unique --ignore-case --group?text --skip-fields:text --skip-chars:text --check-chars:text --zero-terminated").at_most(1)
        .with(&["sort a | uniq -c", "uniq -d a"], &["uniq in.txt OUT", "uniq - OUT"]),
    Entry::paths("wc", "-c -m -l -L -w --bytes --chars --lines --max-line-length --words --total:text")
        .with(&["wc -c README.md", "ls | wc -l", "wc --lin a"], &["wc --files0-from=list0", "wc --files0=x", "wc /etc/passwd"]),
    Entry::paths("xxd", "-a -b -c:text -e -g:text -i -l:text -o:text -p -s:text -u -d").at_most(1)
        .with(&["xxd -l 64 a", "xxd -p a"], &["xxd -r -p hex.txt OUT", "xxd a OUT", "xxd -r a", "xxd -pr a"]),
];

/// An argument that starts with `@` names a file with options.
fn strings(arguments: &Arguments) -> Result<(), String> {
    match arguments.operands.iter().find(|operand| operand.starts_with('@')) {
        Some(operand) => Err(format!("`{operand}` names a file with options")),
        None => Ok(()),
    }
}
