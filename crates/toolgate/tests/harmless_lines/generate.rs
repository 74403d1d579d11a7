//! Lines for programs with options or a language of their own. Many of them are harmless; most of the
//! others are nearly so.
#![expect(clippy::too_many_lines, reason = "lists of words that are picked from")]

use crate::random::Random;

/// A way to make lines for one program.
type Family = (&'static str, fn(&mut Random) -> String);

const FAMILIES: &[Family] = &[
    ("awk", awk),
    ("sed", sed),
    ("find", find),
    ("grep", grep),
    ("git", git),
    ("sort", sort),
    ("tar", tar),
    ("xargs", xargs),
    ("date", date),
    ("printf", printf),
    ("test", test),
    ("[[", condition),
    ("script", script),
];

/// A line and the program it is for.
pub(crate) fn line(random: &mut Random) -> (&'static str, String) {
    let (name, make) = FAMILIES[random.below(FAMILIES.len())];
    let line = make(random);
    // A character in the wrong place is how lines go wrong.
    let line = if random.chance(12) { damaged(random, &line) } else { line };
    (name, line)
}

const PATHS: &[&str] = &[
    "a.txt",
    "b.txt",
    "data.csv",
    "src/main.rs",
    "src",
    ".",
    "a.txt b.txt",
    "missing",
    "*.txt",
    "src/*",
    "*",
    "\"$x\"",
    "$x",
    "-",
    "./a.txt",
    "'-o'",
    "list",
    ".env",
    "'.e'*",
    ".e*",
    "deploy/*",
    "deploy",
    "/etc/passwd",
    "../ws/.env",
    "/etc/shadow",
    "id_*",
    "src/../.env",
    "{a,b}.txt",
    "$(ls)",
    "<(ls)",
    "\"$(cat list)\"",
    "$(echo .env)",
    "server.txt",
    "'$(touch OUT)'",
    "./*",
    "**/*",
    "[a-b].txt",
    "?.txt",
    "./-o",
    "-- -o",
    "~",
];

fn path(random: &mut Random) -> &'static str {
    // Most of them are plain, so that many lines are harmless.
    let end = if random.chance(75) { 12 } else { PATHS.len() };
    PATHS[random.below(end)]
}

fn some(random: &mut Random, of: &[&str], most: usize) -> String {
    let count = random.below(most + 1);
    let all: Vec<_> = (0..count).map(|_| random.pick(of)).collect();
    all.join(" ")
}

fn damaged(random: &mut Random, line: &str) -> String {
    const EXTRA: &[&str] = &[
        "'",
        "\"",
        "/",
        "\\",
        ";",
        "|",
        ">",
        "<",
        "$",
        "`",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "#",
        "&",
        "!",
        "=",
        "-",
        "\n",
        "@",
        ":",
        "\\\n",
        "e",
        "w",
        "~",
        "*",
        "$(touch OUT)",
        "`touch OUT`",
        " -o ",
        ";touch OUT;",
        "\t",
    ];
    let places: Vec<_> = line.char_indices().map(|(at, _)| at).chain([line.len()]).collect();
    let at = places[random.below(places.len())];
    let (before, after) = line.split_at(at);
    match random.below(3) {
        0 => format!("{before}{}{after}", random.pick(EXTRA)),
        1 => {
            let mut letters = after.chars();
            letters.next();
            format!("{before}{}", letters.as_str())
        }
        _ => {
            let mut letters = after.chars();
            letters.next();
            format!("{before}{}{}", random.pick(EXTRA), letters.as_str())
        }
    }
}

fn awk(random: &mut Random) -> String {
    let options = random.pick(&[
        "",
        "",
        "-F, ",
        "-F: ",
        "-v n=3 ",
        "-F'[,;]' ",
        "-v ARGV=1 ",
        "-f prog.awk ",
        "-i inplace ",
        "-v 'x=a b' ",
    ]);
    let mut items = String::new();
    for _ in 0..=random.below(3) {
        items += &awk_item(random);
        items += random.pick(&["", "; ", "\n", " "]);
    }
    let quote = if items.contains('\'') { "\"" } else { "'" };
    format!("awk {options}{quote}{items}{quote} {}", path(random))
}

fn awk_item(random: &mut Random) -> String {
    let pattern = match random.below(8) {
        0 => "BEGIN".to_owned(),
        1 => "END".to_owned(),
        2 => String::new(),
        3 => format!("{},{}", awk_expression(random, 1), awk_expression(random, 1)),
        _ => awk_expression(random, 2),
    };
    if !pattern.is_empty() && pattern != "BEGIN" && pattern != "END" && random.chance(30) {
        return pattern;
    }
    let mut block = String::new();
    for _ in 0..=random.below(3) {
        block += &awk_statement(random, 2);
        block += random.pick(&["; ", "; ", "\n", ";"]);
    }
    format!("{pattern}{{{block}}}")
}

fn awk_statement(random: &mut Random, depth: usize) -> String {
    let expression = |random: &mut Random| awk_expression(random, depth);
    match random.below(24) {
        0..=4 => format!("print {}", expression(random)),
        5 => format!("print {}, {}", expression(random), expression(random)),
        6 => format!("printf \"%s\\n\", {}", expression(random)),
        7 => format!("print({}, {})", expression(random), expression(random)),
        8 => format!("x = {}", expression(random)),
        9 => format!("c[$1] += {}", expression(random)),
        10 if depth > 0 => {
            format!("if ({}) {}", expression(random), awk_statement(random, depth - 1))
        }
        11 if depth > 0 => format!("for (k in c) {}", awk_statement(random, depth - 1)),
        12 if depth > 0 => format!("for (i = 0; i < 3; i++) {}", awk_statement(random, depth - 1)),
        13 => "next".to_owned(),
        14 => "exit".to_owned(),
        15 => format!("print {} > \"OUT\"", expression(random)),
        16 => format!("print {} | \"sh\"", expression(random)),
        17 => "system(\"touch OUT\")".to_owned(),
        18 => "while ((getline l < \"/etc/passwd\") > 0) print l".to_owned(),
        19 => "\"id\" | getline".to_owned(),
        20 => "delete c".to_owned(),
        21 => format!("print {} >> \"OUT\"", expression(random)),
        22 => "{ print; print $2 }".to_owned(),
        _ => "n++".to_owned(),
    }
}

fn awk_expression(random: &mut Random, depth: usize) -> String {
    const SIMPLE: &[&str] = &[
        "$1",
        "$2",
        "$0",
        "NR",
        "NF",
        "x",
        "1",
        "2.5",
        "\"a\"",
        "\"\\\"\"",
        "\"a > b\"",
        "\"/\"",
        "/x/",
        "/\"/",
        "/a|b/",
        "/[0-9]+/",
        "/[/]/",
        "/[\"]/",
        "/\\//",
        "/=/",
        "$NF",
        "$(NF-1)",
        "length",
        "length($1)",
        "c[$1]",
        "FILENAME",
        "-1",
        "!x",
        "i++",
        "++i",
        "x/2",
        "NR/2",
        "ENVIRON[\"HOME\"]",
        "ARGV[1]",
        "substr($1, 1, 2)",
        "toupper($1)",
        "\"system(\\\"id\\\")\"",
        "/system/",
        "(1)",
        "($1)",
        "x--",
        "\"#\"",
        "/#/",
        "index($0, \"/\")",
    ];
    if depth == 0 || random.chance(35) {
        return random.pick(SIMPLE).to_owned();
    }
    let (left, right) = (awk_expression(random, depth - 1), awk_expression(random, depth - 1));
    match random.below(18) {
        0 => format!("{left} {right}"),
        1 => format!("{left} ~ {right}"),
        2 => format!("{left} !~ {right}"),
        3 => format!("{left} == {right}"),
        4 => format!("{left} > {right}"),
        5 => format!("{left} < {right}"),
        6 => format!("{left} && {right}"),
        7 => format!("{left} || {right}"),
        8 => format!("{left} + {right}"),
        9 => format!("{left} / {right}"),
        10 => format!("({left} > {right})"),
        11 => format!("x = {right}"),
        12 => format!("{left} ? {right} : x"),
        13 => format!("sprintf(\"%s\", {left})"),
        14 => format!("gsub({}, \"y\")", random.pick(&["/x/", "/\"/", "/[a]/", "\"x\""])),
        15 => format!("({left}, {right}) in c"),
        16 => format!("{left} |{right}"),
        _ => format!("{left}{right}"),
    }
}

fn sed(random: &mut Random) -> String {
    const ADDRESSES: &[&str] = &[
        "", "", "1", "$", "/x/", "1,2", "/a/,/b/", "2!", "1~2", "/x/I", "/[/]/", "1,+2", "/\\//",
        "\\,x,",
    ];
    const COMMANDS: &[&str] = &[
        "p",
        "d",
        "q",
        "=",
        "n",
        "N",
        "h",
        "G",
        "x",
        "l",
        "P",
        "D",
        "g",
        "H",
        "s/a/b/",
        "s/a/b/g",
        "s|x|y|p",
        "s/[a-z]*/X/2",
        "s/a/b/w OUT",
        "s/a/b/e",
        "s/[/]/x/",
        "s/][/]/x/w OUT",
        "s/a\\/b/c/",
        "s,a,b,",
        "s/(a)/\\1/",
        "y/ab/cd/",
        "w OUT",
        "r /etc/passwd",
        "e touch OUT",
        "W OUT",
        "R list",
        "F",
        "z",
        "a text",
        "i text",
        "c text",
        "b",
        ":x",
        "bx",
        "s/a/b/m",
        "s/x/\n/",
        "s/\"/'/",
        "s/a/&&/",
        "s#a#b#ge",
        "s/a/b/;w OUT",
        "q5",
        "Q",
        "s/one/$(touch OUT)/",
    ];
    let mut scripts = String::new();
    for at in 0..=random.below(3) {
        if at > 0 {
            scripts += random.pick(&[";", "; ", "\n", " ", ""]);
        }
        let address = random.pick(ADDRESSES);
        let command =
            if random.chance(60) { COMMANDS[random.below(18)] } else { random.pick(COMMANDS) };
        let command = match random.below(8) {
            0 => format!("{address}{{{command}}}"),
            1 => format!("{address}{{{command};p}}"),
            2 => format!("{address} {command}"),
            _ => format!("{address}{command}"),
        };
        scripts += &command;
    }
    let options = some(
        random,
        &[
            "-n",
            "-E",
            "-n",
            "-s",
            "-z",
            "-u",
            "-i",
            "--in-place",
            "-f s.sed",
            "--posix",
            "-r",
            "-ni",
        ],
        2,
    );
    let quote = if scripts.contains('\'') || random.chance(5) { "\"" } else { "'" };
    format!("sed {options} {quote}{scripts}{quote} {}", path(random))
}

fn find(random: &mut Random) -> String {
    const TESTS: &[&str] = &[
        "-name '*.txt'",
        "-type f",
        "-type d",
        "-maxdepth 1",
        "-newer a.txt",
        "-size +1k",
        "-not",
        "-o",
        "-print",
        "-print0",
        "-printf '%p\\n'",
        "-ls",
        "-empty",
        "-path './src/*'",
        "\\( -name a.txt \\)",
        "!",
        "-prune",
        "-mtime -1",
        "-perm 644",
        "-exec wc -l {} +",
        "-exec cat {} \\;",
        "-exec grep -l one {} +",
        "-exec head -1 {} \\;",
        "-delete",
        "-exec touch {} \\;",
        "-exec sh -c 'touch OUT' \\;",
        "-execdir ls {} +",
        "-ok ls {} \\;",
        "-fprint OUT",
        "-fprintf OUT %p",
        "-fls OUT",
        "-files0-from list0",
        "-newermt yesterday",
        "-samefile .env",
        "-exec {} \\;",
        "-exec sort -o OUT {} \\;",
        "-exec git show {} \\;",
        "-name \"$x\"",
        "-regex '.*'",
        "-quit",
        "-follow",
        "-exec awk 1 {} +",
        "-exec cat .env \\;",
        "-exec uniq {} OUT \\;",
        "-exec sed -n 1p {} \\;",
        "-inum 5",
        "-anewer list",
        "-true",
    ];
    let end = if random.chance(70) { 23 } else { TESTS.len() };
    let tests = some(random, &TESTS[..end], 4);
    let start = random.pick(&[
        "", ".", "src", "./src", ". src", "src/*", "$x", "*", "/etc", "..", "-L .", "-H .", "./$x",
        "deploy",
    ]);
    format!(
        "find {start} {tests}{}",
        random.pick(&[
            "",
            "",
            " | sort",
            " | wc -l",
            " | xargs wc -l",
            " | xargs cat",
            " | xargs -I{} head -1 {}"
        ])
    )
}

fn grep(random: &mut Random) -> String {
    const OPTIONS: &[&str] = &[
        "-n",
        "-r",
        "-i",
        "-c",
        "-l",
        "-v",
        "-E",
        "-o",
        "-w",
        "-A1",
        "--include='*.txt'",
        "--include=.env",
        "--include='.*'",
        "--exclude=a.txt",
        "--exclude-dir=src",
        "-e one",
        "-q",
        "-h",
        "-H",
        "--color=never",
        "-F",
        "-m 1",
        "-s",
        "-R",
        "-f list",
        "-f .env",
        "--file=/etc/passwd",
        "--exclude-from=list",
        "-d recurse",
        "-D read",
        "-P",
        "--devices=read",
        "-z",
        "-x",
        "--incl='.e*'",
        "--binary-files=text",
        "-a",
        "--null",
        "--regexp=KEY",
        "-rn",
        "-rl",
        "-rh",
    ];
    let program =
        random.pick(&["grep", "grep", "grep", "/usr/bin/grep", "LC_ALL=C grep", "git grep"]);
    let pattern = random.pick(&[
        "one", "'x'", "KEY", ".", "'^a'", "\"$x\"", "$x", "'a|b'", "''", "-e KEY", "'[a-z]'",
        "'.*'",
    ]);
    format!("{program} {} {pattern} {}", some(random, OPTIONS, 4), path(random))
}

fn git(random: &mut Random) -> String {
    const COMMANDS: &[&str] = &[
        "status",
        "log",
        "log -p",
        "log --oneline",
        "log -S KEY",
        "log --stat",
        "show",
        "show --stat",
        "show -p",
        "diff",
        "diff --cached",
        "diff --stat",
        "blame",
        "grep KEY",
        "grep -n one",
        "cat-file -p",
        "cat-file -t",
        "ls-files",
        "ls-tree -r",
        "rev-parse",
        "rev-list",
        "branch",
        "branch -a",
        "tag",
        "tag -l",
        "remote -v",
        "stash list",
        "stash show",
        "stash show -p",
        "reflog",
        "describe --always",
        "config --get",
        "config -l",
        "config",
        "check-ignore -v",
        "shortlog -sn",
        "for-each-ref",
        "diff-tree -p",
        "diff-tree --name-only -r",
        "log -L1,1:.env",
        "log --follow -p",
        "show-ref",
        "symbolic-ref",
        "archive",
        "checkout",
        "commit -am x",
        "stash",
        "gc",
        "clean -fd",
        "reset --hard",
        "log -1 --format=%G?",
        "var GIT_EDITOR",
        "whatchanged -p",
        "name-rev",
        "cherry -v",
        "merge-base",
        "hash-object -w",
        "update-index --refresh",
        "count-objects -v",
    ];
    const OPTIONS: &[&str] = &[
        "-p",
        "-1",
        "--stat",
        "--name-only",
        "-U0",
        "--word-diff",
        "--all",
        "-m",
        "-c",
        "--cc",
        "--raw",
        "-M",
        "-C",
        "-z",
        "--output=OUT",
        "--ext-diff",
        "--textconv",
        "-L1,1:.env",
        "--follow",
        "-O list",
        "--no-index",
        "--open-files-in-pager=evil",
        "-Oevil",
        "--show-signature",
        "--format=%H",
        "--format=%GS",
        "--pretty=raw",
        "-R",
        "-w",
        "--binary",
        "--check",
        "-g",
        "-e",
        "--contents .env",
        "-S list",
        "--graph",
        "--reverse",
        "--full-history",
        "--cached",
        "--textconv",
        "--format='%(raw)'",
    ];
    const NAMES: &[&str] = &[
        "",
        "HEAD",
        "HEAD~1",
        "HEAD~1..HEAD",
        "v1",
        "stash@{0}",
        "stash@{0}^2",
        "HEAD:a.txt",
        "HEAD:.env",
        ":0:.env",
        ":.env",
        "HEAD:./.env",
        "-- a.txt",
        "-- .env",
        "-- '.e?v'",
        "-- ':(icase).ENV'",
        "-- '*'",
        "-- '*.env'",
        "a.txt",
        ".env",
        "'.e*'",
        "HEAD -- deploy",
        "HEAD -- ':/'",
        "HEAD:deploy",
        "HEAD:deploy/server.key",
        "HEAD^{tree}",
        "-- \"$x\"",
        "$x",
        "src",
        ".",
        "-- ':!a.txt'",
        "@{0}:.env",
        ":/second",
        "HEAD^{/first}:.env",
        "--all",
        "-- .",
        "deploy/server.key",
        "user.name",
        "a.b c",
    ];
    let front = random.pick(&[
        "",
        "",
        "",
        "--no-pager ",
        "-C src ",
        "-C . ",
        "-c core.pager=evil ",
        "-C .. ",
        "--git-dir=.git ",
        "-p ",
    ]);
    let end = if random.chance(75) { 14 } else { OPTIONS.len() };
    let options = some(random, &OPTIONS[..end], 2);
    format!("git {front}{} {options} {}", random.pick(COMMANDS), random.pick(NAMES))
}

fn sort(random: &mut Random) -> String {
    const OPTIONS: &[&str] = &[
        "-n",
        "-r",
        "-u",
        "-k2",
        "-t,",
        "-k 1,1",
        "-h",
        "-V",
        "--reverse",
        "-c",
        "-m",
        "-s",
        "-z",
        "-f",
        "--rev",
        "-S 1M",
        "-o OUT",
        "-oOUT",
        "--output=OUT",
        "--out OUT",
        "-T .",
        "--compress-program=./evil.sh",
        "--files0-from=list0",
        "-nro",
        "--comp=evil",
        "--random-source=.env -R",
        "--batch-size=2",
        "--debug",
        "--parallel=2",
        "-t $x",
        "-k \"$x\"",
        "--key=2",
    ];
    let end = if random.chance(70) { 16 } else { OPTIONS.len() };
    let tail = random.pick(&[
        "",
        "",
        " | uniq -c",
        " | head -2",
        " | uniq - OUT",
        " -o OUT",
        " > OUT",
        " | tee OUT",
        " | wc -l",
    ]);
    format!("sort {} {}{tail}", some(random, &OPTIONS[..end], 3), path(random))
}

fn tar(random: &mut Random) -> String {
    const OPTIONS: &[&str] = &[
        "-tf a.tar",
        "tf a.tar",
        "tvf a.tar",
        "-tvf a.tar",
        "--list --file=a.tar",
        "-t -f a.tar",
        "tfv a.tar",
        "-xf a.tar",
        "xf a.tar",
        "-cf OUT a.txt",
        "cf OUT a.txt",
        "-tf /etc/passwd",
        "-tf h:a.tar",
        "-f a.tar",
        "tf $x",
        "-tf \"$x\"",
        "-tfa.tar",
        "-ft a.tar",
        "t -f a.tar",
        "tf ./a.tar",
        "-tf list",
    ];
    const MORE: &[&str] = &[
        "",
        "src",
        "-v",
        "a.txt",
        "--to-command=./evil.sh",
        "-I ./evil.sh",
        "--use-compress-program=evil",
        "--checkpoint=1",
        "--checkpoint-action=exec=evil",
        "-F ./evil.sh -M",
        "--rsh-command=evil",
        "-T list",
        "-C src",
        "--occurrence",
        "--wildcards '*'",
        "$x",
        "*",
        "--verbose",
        "--index-file=OUT",
        "--info-script=evil",
        "-x",
        "--delete a.txt",
        "-- src",
    ];
    let end = if random.chance(60) { 4 } else { MORE.len() };
    format!("tar {} {}", random.pick(OPTIONS), some(random, &MORE[..end], 2))
}

fn xargs(random: &mut Random) -> String {
    const INPUTS: &[&str] = &[
        "ls",
        "ls *.txt",
        "cat list",
        "find . -name '*.txt'",
        "echo a.txt",
        "printf '%s\\n' -o OUT",
        "echo .env",
        "seq 3",
        "find . -print0",
        "echo '-exec touch OUT ;'",
        "git ls-files",
        "echo '-f prog.awk'",
    ];
    const OPTIONS: &[&str] = &[
        "-n1",
        "-0",
        "-r",
        "-I{}",
        "-t",
        "-n 2",
        "-P1",
        "-d '\\n'",
        "-L1",
        "-a list",
        "--arg-file=list",
        "-i",
        "-o",
        "-I X",
        "--process-slot-var=x",
        "-E x",
    ];
    const COMMANDS: &[&str] = &[
        "wc -l",
        "cat",
        "head -1",
        "echo",
        "ls -l",
        "grep -l one",
        "basename",
        "sort",
        "wc -l {}",
        "cat {}",
        "echo {} {}",
        "stat -c %s",
        "grep {} a.txt",
        "awk '{print $1}'",
        "sed -n 1p",
        "tail -1",
        "cut -c1-3",
        "",
        "touch",
        "sh -c 'touch OUT'",
        "sort -o",
        "uniq",
        "find",
        "git log",
        "git show",
        "awk",
        "sed",
        "{}",
        "rm",
        "tee",
        "xargs touch",
        "env touch",
        "tar",
        "grep -f",
        "sort -k1 {}",
        "sed s/a/{}/ a.txt",
        "date -s",
        "printf",
        "test -f",
        "[ -f {} ]",
        "find . -name",
        "awk {} a.txt",
        "git -C",
        "bash",
        "uniq {} OUT",
        "tr a b",
    ];
    let end = if random.chance(60) { 17 } else { COMMANDS.len() };
    let few = if random.chance(80) { 9 } else { OPTIONS.len() };
    format!(
        "{} | xargs {} {}",
        random.pick(INPUTS),
        some(random, &OPTIONS[..few], 2),
        COMMANDS[random.below(end)]
    )
}

fn date(random: &mut Random) -> String {
    const OPTIONS: &[&str] = &[
        "+%F",
        "-u",
        "-d yesterday",
        "+'%Y %m'",
        "-Iseconds",
        "--utc",
        "-R",
        "--date='2 days ago'",
        "--iso-8601",
        "-d @0",
        "+%s",
        "-d \"$x\"",
        "-s 2020-01-01",
        "--set=now",
        "-f list",
        "-f .env",
        "--file=/etc/passwd",
        "-r a.txt",
        "--reference=.env",
        "010100002020",
        "$x",
        "\"$x\"",
        "+$x",
        "-d $x",
        "--debug",
        "--rfc-3339=date",
        "-d \"$(cat list)\"",
        "-us now",
    ];
    let end = if random.chance(70) { 12 } else { OPTIONS.len() };
    let tail = random.pick(&["", "", " | cat", " > OUT", " 2>/dev/null", " && ls"]);
    format!(
        "{}date {}{tail}",
        random.pick(&["", "", "TZ=UTC ", "TZ=:/etc/passwd ", "LC_ALL=C "]),
        some(random, &OPTIONS[..end], 3)
    )
}

fn printf(random: &mut Random) -> String {
    const FORMATS: &[&str] = &[
        "'%s\\n'",
        "'%d\\n'",
        "'%5.2f'",
        "'%b'",
        "'%q'",
        "'%n'",
        "%s",
        "'%(%F)T'",
        "'%x'",
        "'%c%c'",
        "\"$x\"",
        "-v",
        "-v x",
        "'%*d'",
        "--",
        "'\\045s'",
        "$x",
        "'%s %s\\n'",
        "*",
    ];
    const ARGUMENTS: &[&str] = &[
        "a",
        "5",
        "'a b'",
        "*.txt",
        "$x",
        "\"$x\"",
        "'a[$(touch OUT)]'",
        "-n",
        "\"$(ls)\"",
        "$(cat list)",
        "x",
        "1 2 3",
        "{a,b}",
        "<(ls)",
        "`ls`",
        "$(touch OUT)",
        "${x:-y}",
        "${#x}",
        "$((1+2))",
        "${x@P}",
        "$((a[$(touch OUT)]))",
        "> OUT",
        "| sh",
    ];
    let end = if random.chance(75) { 15 } else { ARGUMENTS.len() };
    format!("printf {} {}", random.pick(FORMATS), some(random, &ARGUMENTS[..end], 4))
}

fn test(random: &mut Random) -> String {
    const TESTS: &[&str] = &[
        "-f a.txt",
        "-d src",
        "-e \"$x\"",
        "-n \"$x\"",
        "-z $x",
        "a = b",
        "1 -eq 1",
        "\"$x\" -eq 1",
        "-v x",
        "-v 'a[$(touch OUT)]'",
        "! -f a.txt",
        "-f a.txt -a -d src",
        "a.txt -nt b.txt",
        "-s /etc/passwd",
        "-t 1",
        "-R x",
        "$x",
        "-f .env",
        "\\( a = a \\)",
        "-f *.txt",
        "a",
        "",
        "'a[$(touch OUT)]' -eq 0",
        "-f $(touch OUT)",
        "-w src -o -x src",
        "-L a.txt",
        "-G a.txt",
    ];
    let inner = random.pick(TESTS);
    let check = if random.chance(50) { format!("test {inner}") } else { format!("[ {inner} ]") };
    let tail = random.pick(&[
        "",
        " && echo yes",
        " || echo no",
        " && cat a.txt",
        " && touch OUT",
        "; echo $?",
        " && echo yes || echo no",
    ]);
    format!("{check}{tail}")
}

fn condition(random: &mut Random) -> String {
    const TESTS: &[&str] = &[
        "-f a.txt",
        "-d src",
        "-e $x",
        "-n $x",
        "-z \"$x\"",
        "a == a",
        "$x == *.txt",
        "a != b",
        "a =~ ^a",
        "$x =~ ^[0-9]+$",
        "a.txt -nt b.txt",
        "1 -eq 1",
        "$x -eq 1",
        "\"$x\" -gt 2",
        "'a[$(touch OUT)]' -eq 0",
        "-v x",
        "-v a[$(touch OUT)]",
        "$(ls) == a",
        "$(cat list) -eq 1",
        "$? -eq 0",
        "${#x} -gt 2",
        "a < b",
        "-f $(touch OUT)",
        "a =~ $(touch OUT)",
        "$x",
        "a",
        "-R x",
        "-o noglob",
        "a[0] -eq 0",
        "x -eq 0",
        "$x =~ (a|b)",
        "! -f a.txt",
        "( -f a.txt )",
        "-s a.txt",
        "a == 'a b'",
        "a == [a-z]",
        "-t 0",
        "$((1+1)) -eq 2",
    ];
    let mut inner = random.pick(TESTS).to_owned();
    if random.chance(35) {
        inner = format!("{inner} {} {}", random.pick(&["&&", "||"]), random.pick(TESTS));
    }
    let setup = random.pick(&[
        "",
        "",
        "x=5; ",
        "x='a[$(touch OUT)]'; ",
        "x=$(ls | head -1); ",
        "x=\"$(cat list)\"; ",
        "read -r x < list; ",
    ]);
    let tail =
        random.pick(&["", " && echo yes", " || echo no", " && cat a.txt", " && touch OUT", "; ls"]);
    format!("{setup}[[ {inner} ]]{tail}")
}

fn script(random: &mut Random) -> String {
    let inner = |random: &mut Random| -> String {
        const COMMANDS: &[&str] = &[
            "echo \"$f\"",
            "cat \"$f\"",
            "wc -l $f",
            "head -1 \"$f\"",
            "echo ${f%.txt}",
            "[ -f \"$f\" ] && echo $f",
            "grep -c one \"$f\"",
            "ls -l \"$f\"",
            "echo $f | sed 's/a/b/'",
            "awk 'NR==1' \"$f\"",
            "stat -c %s \"$f\"",
            "rm \"$f\"",
            "touch OUT",
            "$f",
            "sh \"$f\"",
            "sort -o \"$f\" a.txt",
            "find \"$f\"",
            "git show \"$f\"",
            "echo $((f))",
            "[[ $f -eq 1 ]]",
            "[[ -f $f ]] && cat $f",
            "echo ${f@P}",
            "eval $f",
            "cat $f > OUT",
            "sed -n \"$f\" a.txt",
            "awk \"$f\" a.txt",
            "xargs < $f",
            "echo \"${f##*/}\" \"${#f}\"",
            "git log --oneline -- \"$f\"",
            "tar tf \"$f\"",
        ];
        let end = if random.chance(60) { 11 } else { COMMANDS.len() };
        COMMANDS[random.below(end)].to_owned()
    };
    let words = random.pick(&[
        "*.txt",
        "a b",
        "*",
        "$(ls)",
        "$(cat list)",
        "{1..3}",
        "src/*",
        "$x",
        "-o",
        "'a[$(touch OUT)]'",
        "$(touch OUT)",
        "\"$x\"",
        "$(git ls-files)",
    ]);
    let name = random.pick(&["f", "f", "f", "f", "f", "PATH", "IFS", "f[0]"]);
    match random.below(9) {
        0..=2 => format!("for {name} in {words}; do {}; done", inner(random)),
        3 => format!("for f in {words}; do {}; {}; done | sort", inner(random), inner(random)),
        4 => format!("while read -r {name}; do {}; done < {}", inner(random), path(random)),
        5 => format!("ls | while read -r f; do {}; done", inner(random)),
        6 => format!(
            "f={}; {}",
            random.pick(&["a.txt", "$(ls | head -1)", "'a[$(touch OUT)]'", "-o", "\"$x\""]),
            inner(random)
        ),
        7 => format!("if {}; then {}; else {}; fi", inner(random), inner(random), inner(random)),
        _ => format!(
            "({}; cd src && {}) | {}",
            inner(random),
            inner(random),
            random.pick(&["wc -l", "cat", "sort -o OUT", "sh"])
        ),
    }
}
