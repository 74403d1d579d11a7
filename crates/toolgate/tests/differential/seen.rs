//! The judge is honest: nothing runs unseen, and nothing reaches the machine.

use std::{fs, path::Path, sync::Arc, time::Duration};

use libtest_mimic::Trial;

use crate::{
    judge::{Judge, Verdict},
    room::FOLDERS,
};

/// All of these end, also on a machine that does much else.
const PATIENCE: Duration = Duration::from_mins(1);

/// Lines, and the programs the judge must have seen, in any order.
const SEEN: &[(&str, &[&str])] = &[
    ("s0 x", &["s0 x"]),
    ("nobody x", &["nobody x"]),
    ("/bin/s0", &["/bin/s0"]),
    ("/usr/bin/s1 'x y'", &["/usr/bin/s1 x y"]),
    ("../here x; ../sub/here; cd ..; ./here", &["../here x", "../sub/here", "./here"]),
    ("cd /; /bin/../bin/s0; bin/s1", &["/bin/../bin/s0", "bin/s1"]),
    ("command s0; command -p s1; builtin command s2", &["s0", "/bin/s1", "s2"]),
    ("exec s0 x", &["s0 x"]),
    ("cd ../sub; exec ./here", &["./sub/here"]),
    ("exec -c -a other s0 x", &["s0 x"]),
    ("exec >&- 2>&- <&-; s0; nobody", &["s0", "nobody"]),
    ("PATH=/usr/bin; s0; nobody", &["/usr/bin/s0", "nobody"]),
    ("unset PATH _ID; /bin/s1", &["/bin/s1"]),
    ("cd /; env -i s0", &["env -i s0", "/bin/s0"]),
    (
        "env -i bash -c 's0; nobody'",
        &["env -i bash -c s0; nobody", "/bin/bash -c s0; nobody", "/usr/bin/s0", "nobody"],
    ),
    ("env nice s0", &["env nice s0", "nice s0", "s0"]),
    ("/usr/bin/env /bin/s0", &["/usr/bin/env /bin/s0", "/bin/s0"]),
    (
        "timeout 9 nohup stdbuf -oL s0",
        &["timeout 9 nohup stdbuf -oL s0", "nohup stdbuf -oL s0", "stdbuf -oL s0", "s0"],
    ),
    ("echo y | xargs s0 x", &["xargs s0 x", "s0 x y"]),
    ("sh -c 's0 x'", &["sh -c s0 x", "s0 x"]),
    ("/bin/sh -c /bin/s0", &["/bin/sh -c /bin/s0", "/bin/s0"]),
    ("bash <<< 'nobody x'", &["bash", "nobody x"]),
    ("echo s0 | sh", &["sh", "s0"]),
    ("echo s0 >o; . ./o; bash o", &["s0", "bash o", "s0"]),
    ("f() { s0; }; f; f", &["s0", "s0"]),
    ("echo $(s0) `s1` <(s2) \"$(nobody)\"", &["s0", "s1", "s2", "nobody"]),
    (": <<E\n$(s0)\nE", &["s0"]),
    ("trap s0 EXIT", &["s0"]),
    ("trap s0 DEBUG; :", &["s0"]),
    ("trap s0 ERR; false", &["s0"]),
    ("PS4='$(s0)'; set -x; :", &["s0"]),
    ("BASH_ENV=<(echo s0) bash -c :", &["bash -c :", "s0"]),
    ("PROMPT_COMMAND=s0 bash --norc -i <<< :", &["bash --norc -i", "s0", "s0"]),
    ("mapfile -c 1 -C s0 <<< x", &["s0 0 x\n"]),
    ("alias q=s0; shopt -s expand_aliases\nq", &["s0"]),
    ("hash -p /bin/s0 q; q", &["/bin/s0"]),
    ("coproc s0; wait", &["s0"]),
    ("(s0 &) ; s1 & wait", &["s0", "s1"]),
    ("x='a[$(s0)]'; echo $((x))", &["s0"]),
    ("s0 | s1 |& s2", &["s0", "s1", "s2"]),
];

/// Prints every file that can be executed, and that is no stub.
const EXECUTABLE: &str = r#"shopt -s globstar dotglob
for file in /**; do
    [[ $file == /proc/* || ! -f $file || ! -x $file ]] && continue
    read -r first <"$file"
    [[ $first == '#!'* ]] || printf '%s\n' "$file"
done >found"#;

type Test = fn(&Judge);

pub(crate) fn trials(judge: &Arc<Judge>) -> Vec<Trial> {
    let tests: [(&str, Test); 4] = [
        ("the_judge_sees_every_way_to_run_a_program", sees),
        ("whatever_can_be_executed_by_name_is_seen", only_stubs),
        ("what_comes_behind_an_endless_line_is_judged", goes_on),
        ("lines_touch_nothing_outside_and_leave_nothing", touches_nothing),
    ];
    let trial = |(name, test): (&str, Test)| {
        let judge = Arc::clone(judge);
        Trial::test(name, move || {
            test(&judge);
            Ok(())
        })
    };
    tests.map(trial).into()
}

fn sees(judge: &Judge) {
    let lines: Vec<_> = SEEN.iter().map(|(line, _)| (*line).to_owned()).collect();
    let Verdict { ran, endless } = judge.run(&lines, PATIENCE);
    assert_eq!(endless, 0);
    for (number, (line, expected)) in SEEN.iter().enumerate() {
        let ran = ran.iter().filter(|ran| ran.line == number).map(|ran| ran.words.join(" "));
        let (mut ran, mut expected) = (ran.collect::<Vec<_>>(), expected.to_vec());
        ran.sort();
        expected.sort_unstable();
        assert_eq!(ran, expected, "{line:?}");
    }
}

fn only_stubs(judge: &Judge) {
    let found = judge.left_by(EXECUTABLE, "found", PATIENCE);
    let real = judge.room().tools().join("real");
    for file in found.lines() {
        let loader = file.starts_with("/lib") && file.contains("/ld");
        assert!(loader || Path::new(file).starts_with(&real), "{file} would run unseen");
        assert!(FOLDERS.iter().all(|folder| !file.starts_with(folder)), "{file} would run unseen");
    }
    assert!(found.lines().count() > 5, "{found}");
}

fn goes_on(judge: &Judge) {
    // What a line can reach of the judge's own files it may have emptied before.
    let lines =
        ["s0; x=1; >${!x}; >\"$1\"; >../../lines", "while :; do :; done", "s1", "kill -9 -1", "s2"];
    let lines = lines.map(str::to_owned);
    let Verdict { ran, endless } = judge.run(&lines, Duration::from_secs(5));
    let ran: Vec<_> = ran.iter().map(|ran| (ran.line, ran.words.join(" "))).collect();
    assert_eq!(ran, [(0, "s0".to_owned()), (2, "s1".to_owned()), (4, "s2".to_owned())]);
    assert_eq!(endless, 2);
}

fn touches_nothing(judge: &Judge) {
    let outside = tempfile::tempdir_in("/var/tmp").unwrap();
    let file = outside.path().join("file");
    fs::write(&file, "as it was").unwrap();
    let line = format!(
        "echo gone >'{0}'; echo new >'{0}.new'; echo x >/bin/s0; echo x >/usr/bin/new
        (trap '' HUP TERM; while :; do echo alive >'{0}'; done) &
        kill -9 -1; echo > /dev/tcp/127.0.0.1/22",
        file.display()
    );
    let Verdict { ran, endless: _ } = judge.run(&[line, "s0".to_owned()], PATIENCE);
    assert_eq!(ran.len(), 1, "{ran:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "as it was");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}
