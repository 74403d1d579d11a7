//! What is executed without a shell prints what a shell prints.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    fs,
    io::{Seek as _, Write as _},
    path::Path,
    process::{Command, Stdio},
};

use policy::shell::{Harmless, Judgement, Known, harmless};
use tool::{Action, After, Argv, Inlet, Outlet};

const LINES: &[&str] = &[
    "ls",
    "ls -1 src | sort -r",
    "ls -I '*.txt' --group-dir",
    "cat -n a.txt - </dev/null",
    "cat a.txt missing 2>/dev/null",
    "cat missing 2>&1 | wc -l",
    "head -2 a.txt",
    "head -n 1 -- a.txt b.txt",
    "tail -n +2 a.txt",
    "wc --lin a.txt",
    "sort -t, -k2,2n data.csv",
    "sort a.txt | uniq -c | sort -rn | head -1",
    "cut -d, -f1 data.csv",
    "cut -d ' ' -f 2 a.txt",
    "tr a-z A-Z",
    "cat a.txt | tr -d '\\n'",
    "grep -n 'o' a.txt b.txt",
    "grep -rn --include='*.rs' main .",
    "grep -e one -e two a.txt",
    "grep -rc KEY . | sort",
    "grep -q one a.txt && echo yes || echo no",
    "grep -q absent a.txt && echo yes || echo no",
    "grep -A1 -m 1 one a.txt",
    "egrep 'one|two' a.txt",
    "find . -type f -name '*.txt' | sort",
    "find src -maxdepth 1 -printf '%f\\n'",
    "find . \\( -name a.txt -o -name b.txt \\) -not -path './x/*' | sort",
    "diff -u a.txt b.txt | tail -n +3",
    "cmp a.txt b.txt",
    "comm -12 a.txt b.txt",
    "join -t, data.csv data.csv",
    "paste -sd, a.txt",
    "nl -ba a.txt",
    "tac a.txt",
    "rev a.txt",
    "fold -w 2 a.txt",
    "expand -t4 a.txt",
    "od -An -tx1 a.txt",
    "hexdump -C a.txt",
    "xxd -p a.txt",
    "base64 -w0 a.txt",
    "strings -n 3 a.txt",
    "sha256sum a.txt b.txt",
    "md5sum a.txt",
    "column -t -s, data.csv",
    "sed -n 1,2p a.txt",
    "sed 's/o/0/g' a.txt",
    "sed -n -e 1p -e '$p' a.txt",
    "sed -E 's|(o)ne|\\1|' a.txt",
    "awk '{print $1}' a.txt",
    "awk -F, '{s+=$2} END {print s}' data.csv",
    "awk -v n=2 'NR<n || /two/' a.txt",
    "jq -r .name data.json",
    "jq -c 'keys' data.json",
    "echo a -n b",
    "echo -n a -- b",
    "printf '%s-%s\\n' -a b",
    "seq -s, 1 5",
    "basename src/main.rs .rs",
    "dirname src/main.rs",
    "stat -c %s a.txt",
    "du -b a.txt",
    "file -b a.txt",
    "readlink -f a.txt",
    "test -f a.txt && echo yes; [ -d absent ] || echo no",
    "expr 2 + 3",
    "true && false || echo fallen",
    "pwd -P",
    "tree -L 1",
    "rg -n main src",
    "false; echo next",
    "tar -tf a.tar",
    "zcat a.gz",
    "date -u -d @0 +%F",
    "uname -s",
    "id -un",
    "wc -l < a.txt",
    "sort < b.txt | head -1",
    "cat < missing 2>/dev/null || echo missing",
    "cd src && ls",
    "cd src && cat < main.rs | wc -l; ls",
    "cd absent; ls",
    "cd absent && ls || echo no",
    "command -v ls cd no-such-program",
    "type -t cd ls",
    "jq -r --arg x 1 --argjson y 2 '$x, $y' data.json",
];

#[test]
fn prints_what_a_shell_prints() {
    let folder = tempfile::tempdir().unwrap();
    workspace(folder.path());
    let find = |name: &str| {
        let path = format!("/usr/bin/{name}");
        Path::new(&path).exists().then_some(path)
    };
    let known = Known { entries: &[], find: &find, trusted: &[] };
    let mut compared = 0;
    for line in LINES {
        let Judgement::Harmless(how) = harmless(line, known) else {
            panic!("{line}: {:?}", harmless(line, known));
        };
        if how.missing().is_none() {
            let found = String::from_utf8(run(&how, folder.path())).unwrap();
            assert_eq!(found, shell(line, folder.path()), "{line}: {how:?}");
            compared += 1;
        }
    }
    assert!(compared > 50, "only {compared} lines were compared");
}

fn workspace(folder: &Path) {
    for (name, text) in [
        ("a.txt", "one x\ntwo y\none x\n"),
        ("b.txt", "one x\nthree\n"),
        ("data.csv", "a,3\nb,1\n"),
        ("data.json", r#"{"name":"x","b":[1]}"#),
        ("src/main.rs", "fn main() {}\n"),
    ] {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    shell("tar -cf a.tar a.txt; gzip -c a.txt >a.gz", folder);
}

fn shell(line: &str, folder: &Path) -> String {
    #[expect(clippy::disallowed_methods, reason = "what it is compared with")]
    let mut bash = Command::new("/bin/bash");
    bash.args(["--norc", "-c", line]).current_dir(folder).stdin(Stdio::null());
    bash.env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C");
    String::from_utf8(bash.output().unwrap().stdout).unwrap()
}

/// Runs the steps one after the other; what a pipe carries is read whole.
fn run(how: &Harmless, folder: &Path) -> Vec<u8> {
    let (mut output, mut succeeded, mut folder) = (Vec::new(), true, folder.to_owned());
    for step in &how.steps {
        let runs = match step.after {
            After::Success => succeeded,
            After::Failure => !succeeded,
            After::Anything => true,
        };
        if !runs {
            continue;
        }
        if let Action::Enter(inner) = &step.action {
            succeeded = folder.join(inner).is_dir();
            folder = if succeeded { folder.join(inner) } else { folder };
        }
        let mut carried = Vec::new();
        for argv in step.programs() {
            (carried, succeeded) = one(argv, &carried, &folder);
        }
        output.extend(carried);
    }
    output
}

fn one(argv: &Argv, input: &[u8], folder: &Path) -> (Vec<u8>, bool) {
    let input = match &argv.streams.input {
        Inlet::Own => input.to_vec(),
        Inlet::Null => Vec::new(),
        Inlet::File(file) => match fs::read(folder.join(file)) {
            Ok(content) => content,
            Err(_) => return (Vec::new(), false),
        },
    };
    let mut input_file = tempfile::tempfile().unwrap();
    input_file.write_all(&input).unwrap();
    input_file.rewind().unwrap();
    #[expect(clippy::disallowed_methods, reason = "what is judged is tried")]
    let mut command = Command::new(argv.path.as_ref().unwrap());
    command.args(argv.words.iter().skip(1)).current_dir(folder).env_clear();
    command.env("PATH", "/usr/bin:/bin").env("LC_ALL", "C").envs(argv.env.iter().cloned());
    let output = command.stdin(input_file).output().unwrap();
    let errors = if argv.streams.errors == Outlet::Other { output.stderr } else { Vec::new() };
    (output.stdout.into_iter().chain(errors).collect(), output.status.success())
}
