//! Programs that read files, or what comes through a pipe, and print something made of it.

use super::{
    super::{
        Operands,
        entry::{Arguments, Entry, UnknownWords},
        path,
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
        .with_unknown(UnknownWords::BehindDashes)
        .with(awk::HARMLESS, awk::NOT),
    sum("b2sum", &["b2sum README.md", "b2sum -b a b"], &["b2sum -c list", "b2sum --check list", "b2sum /etc/x"]),
    Entry::paths("base64", "-d -i -w:text --decode --ignore-garbage --wrap:text").at_most(1)
        .with(&["base64 README.md", "base64 -w0 a"], &["base64 /etc/shadow", "base64 .env"]),
    Entry::paths("bat", "-n -p -A -l:text -r:text --plain --number --show-all --language:text --line-range:text --color:text --style:text")
        .in_full()
        .before(&["--no-config", "--paging=never"])
        .with(&["bat README.md", "bat -p a -r 1:5"], &["bat --pager=x a", "bat --config-file=x a", "bat /etc/passwd", "bat cache --build --source=x"])
        .checked(no_cache),
    // It cannot run or read anything but its own files.
    Entry::paths("bc", "-l -q -s -w --mathlib --quiet --standard").with(&["echo 1+2 | bc", "bc -l <<< 1/3"], &["bc /x", "bc --x"]),
    Entry::paths("cal", "-3 -1 -y -m -j -n:text").taking(Operands::Text).with(&["cal", "cal 2024", "cal -3"], &["cal --x"]),
    Entry::paths("diffstat", "-p:text -l -s -w:text -m -t -u -k -K").with(&["diffstat a.patch"], &["diffstat -o x a", "diffstat -D x a", "diffstat /x"]),
    Entry::new("factor", "").taking(Operands::Text).with(&["factor 12"], &["factor --x"]),
    Entry::paths("fmt", "-c -s -t -u -w:text -g:text -p:text -0..9 --width:text --split-only --uniform-spacing").with(&["fmt -w 72 a"], &["fmt /x"]),
    Entry::paths("less", "-N -R -S -F -X -r -n -i -e -E -M -m -s").in_full().with_env(&[("LESSSECURE", "1"), ("LESSOPEN", "")]).checked(no_plus)
        .with(&["less a", "ls | less -R"], &["less +!ls a", "less -o x a", "less -k x a", "less /etc/passwd", "less --log-file=x a"]),
    Entry::paths("more", "-d -f -s -u").checked(no_plus).with(&["more a", "ls | more"], &["more /x", "more +x a"]),
    Entry::new("numfmt", "--to:text --from:text --field:text --delimiter:text --suffix:text --padding:text --format:text --header?text --round:text -d:text -z")
        .taking(Operands::Text).with(&["numfmt --to=iec 1234"], &["numfmt --x"]),
    Entry::paths("nm", "-A -a -C -D -g -n -p -r -S -u -f:text --demangle --dynamic --extern-only --undefined-only --defined-only").checked(strings)
        .with(&["nm lib.a", "nm -C a.o"], &["nm --plugin=x a", "nm @list", "nm /x"]),
    Entry::paths("objdump", "-h -x -t -T -d -D -f -p -r -R -s -C -w -j:text -M:text --section-headers --syms --disassemble --all-headers --file-headers").in_full().checked(strings)
        .with(&["objdump -h a.o", "objdump -d a.out"], &["objdump -S a", "objdump @list", "objdump --dwarf=info -W a", "objdump --prefix=/x -S a"]),
    Entry::paths("readelf", "-a -h -l -S -s -d -n -r -e -g -V -A -I -W -t --all --file-header --program-headers --section-headers --syms --dynamic --notes --wide").in_full().checked(strings)
        .with(&["readelf -h a.out", "readelf -Ws a.so"], &["readelf -w a", "readelf -P a", "readelf @list"]),
    Entry::paths("sdiff", "-s -l -i -W -b -E -Z -B -a -t -w:text --suppress-common-lines --left-column --width:text").at_most(2)
        .with(&["sdiff a b"], &["sdiff -o x a b", "sdiff --diff-program=x a b", "sdiff a /x"]),
    Entry::paths("shuf", "-n:text -r -z -i:text -e --head-count:text --repeat --input-range:text").checked(shuffles)
        .with(&["shuf -n 5 a", "shuf -i 1-10"], &["shuf -o x a", "shuf --output=x a", "shuf --random-source=x a", "shuf a b"]),
    Entry::paths("size", "-A -B -d -o -x -t").checked(strings).with(&["size a.out"], &["size @list", "size /x"]),
    Entry::new("ldd", "-v -u -d -r").taking(Operands::Text).checked(system_programs)
        .with(&["ldd /usr/bin/ls"], &["ldd ./a.out", "ldd a.out", "ldd /tmp/x", "ldd"]),
    Entry::paths("tsort", "").at_most(1).with(&["tsort a"], &["tsort /x"]),
    Entry::paths("cat", "-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting")
        .with(&["cat a", "cat -n src/main.rs b", "cat -"], &["cat /etc/passwd", "cat ../x", "cat .env", "cat ~/.ssh/id_rsa", "cat < .env", "cat <<< $(touch x)"]),
    Entry::paths("cksum", "-z --zero --untagged").with(&["cksum a"], &["cksum -c list", "cksum --check list", "cksum -a crc a"]),
    Entry::paths("cmp", "-b -i:text -l -n:text -s --print-bytes --ignore-initial:text --verbose --bytes:text --quiet --silent")
        .with(&["cmp a b"], &["cmp a /etc/passwd"]),
    Entry::paths("column", "-t -x -s:text -o:text -c:text -N:text -R:text -H:text -J -n:text --table --separator:text --output-separator:text --json --table-columns:text")
        .with(&["column -t data.csv"], &["column /etc/passwd"]),
    Entry::paths("comm", "-1 -2 -3 -z --check-order --nocheck-order --output-delimiter:text --total --zero-terminated").at_most(2)
        .with(&["comm -12 a b"], &["comm a /b"]),
    Entry::paths("cut", "-b:text -c:text -d:text -f:text -n -s -z --bytes:text --characters:text --delimiter:text --fields:text --complement --only-delimited --output-delimiter:text --zero-terminated")
        .with(&["cut -d: -f1 data.csv", "cut -d ' ' -f2-", "cut --del=, --fields=1 a"], &["cut -f1 /etc/passwd", "cut --x a"]),
    Entry::paths("diff", "-r -q -s -u -U:text -c -C:text -y -i -w -b -B -E -Z -a -N -d -e -n -p -t -T -W:text --recursive --no-dereference --brief --report-identical-files --unified?text --context?text --side-by-side --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-trailing-space --ignore-tab-expansion --text --new-file --minimal --strip-trailing-cr --suppress-common-lines --color?text --width:text --label:text --show-c-function --normal -I:text --ignore-matching-lines:text")
        .behind(DIFF_LEAVES_OUT)
    .at_most(2)
        .with(&["diff -q a.txt b.txt", "diff -u a b", "diff -U3 a b", "diff -r a b", "diff -rq a b"], &["diff -l a b", "diff --from-file=a b", "diff a /etc/passwd", "diff -X list a b", "diff --to-file=/x a"]),
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
        .with_unknown(UnknownWords::WithKnownStart)
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
        .with_unknown(UnknownWords::BehindDashes)
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
    Entry::paths("xmllint", "--noout --format --nowarning").in_full().before(&["--nonet"])
        .with(&["xmllint --noout a.xml"], &["xmllint --noent a.xml", "xmllint --output x a.xml", "xmllint --xinclude a.xml", "xmllint --shell a.xml"]),
    Entry::new("yq", "-r -P -C -M -o:text").taking(Operands::TextThenPaths("")).in_full().checked(yq)
        .with(&["yq . a.yml", "yq -r '.a.b[0]' a.yml"], &["yq -i .a=1 a.yml", "yq '.a = 1' a.yml", "yq 'load(\"x\")' a.yml", "yq env a.yml", "yq 'env(HOME)' a.yml", "yq '.a | load(\"x\")' a"]),
    Entry::paths("xxd", "-a -b -c:text -e -g:text -i -l:text -o:text -p -s:text -u -d").at_most(1)
        .with(&["xxd -l 64 a", "xxd -p a"], &["xxd -r -p hex.txt OUT", "xxd a OUT", "xxd -r a", "xxd -pr a"]),
];

/// A path of fields: programs of this name have languages that read files and variables.
fn yq(arguments: &Arguments) -> Result<(), String> {
    let filter = arguments.operands.first().map(String::as_str).unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '[' | ']' | '-');
    if filter.starts_with('.') && filter.chars().all(plain) {
        return Ok(());
    }
    Err("a filter of `yq` is not known to be harmless".to_owned())
}

/// With `-e` operands are texts, else there may be one file.
fn shuffles(arguments: &Arguments) -> Result<(), String> {
    if arguments.operands.len() > 1 && !arguments.has(&["-e"]) {
        return Err("`shuf` has more arguments than are known to be harmless".to_owned());
    }
    Ok(())
}

/// It starts the program it is given; those of the system may be.
fn system_programs(arguments: &Arguments) -> Result<(), String> {
    if !arguments.operands.is_empty() && arguments.operands.iter().all(|file| path::is_public(file))
    {
        return Ok(());
    }
    Err("`ldd` may run the program it is given".to_owned())
}

/// An argument that starts with `+` is a command.
fn no_plus(arguments: &Arguments) -> Result<(), String> {
    match arguments.operands.iter().find(|operand| operand.starts_with('+')) {
        Some(operand) => Err(format!("`{operand}` is a command")),
        None => Ok(()),
    }
}

/// `bat cache` writes.
fn no_cache(arguments: &Arguments) -> Result<(), String> {
    match arguments.operands.first() {
        Some(first) if first == "cache" => Err("`bat cache` writes".to_owned()),
        _ => Ok(()),
    }
}

/// An argument that starts with `@` names a file with options.
fn strings(arguments: &Arguments) -> Result<(), String> {
    match arguments.operands.iter().find(|operand| operand.starts_with('@')) {
        Some(operand) => Err(format!("`{operand}` names a file with options")),
        None => Ok(()),
    }
}
