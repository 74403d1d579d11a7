//! `toolgate run`, at a terminal and without one.

use std::{
    fs::File,
    io::{Read, Write},
    process::Child,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use libtest_mimic::Trial;
use rustix::{
    fs::{Mode, OFlags, open},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};
use serde_json::json;

use crate::{
    cli::Machine,
    helper::{PATIENCE, has, plain, tree},
    network::{get, server},
};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        plain("what_a_program_changed_is_shown_and_dropped", shown_and_dropped),
        plain("what_a_program_changed_is_kept_and_undone", kept_and_undone),
        plain("some_of_what_a_program_changed_is_picked", picked),
        plain("a_program_has_the_terminal_it_runs_at", a_program_has_the_terminal),
        plain("nobody_is_asked_if_the_answer_is_known", nobody_is_asked),
        plain("without_a_terminal_changes_are_held", without_a_terminal),
        plain("changes_are_picked_by_number", picked_by_number),
        plain("changes_are_held_until_a_person_decides", held_until_decided),
        plain("a_killed_run_leaves_its_changes_to_be_seen", killed_while_it_runs),
        plain("a_program_reaches_the_hosts_it_was_given", a_program_reaches_hosts),
        plain(
            "a_client_is_connected_if_the_person_says_so",
            a_client_is_connected_if_the_person_says_so,
        ),
    ]
}

/// A command at a terminal, and who sits there.
pub(crate) struct Person {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<String>>,
    seen: usize,
}

impl Person {
    pub(crate) fn at(machine: &Machine, args: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC);
        let master = master.unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_row: 33, ws_col: 99, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let terminal = File::from(open(name, flags, Mode::empty()).unwrap());
        let child = machine
            .command(&["--ctty"], args)
            .env("TERM", "dumb")
            .stdin(terminal.try_clone().unwrap())
            .stdout(terminal.try_clone().unwrap())
            .stderr(terminal)
            .spawn()
            .unwrap();
        let keyboard = File::from(master);
        let (mut from, screen) = (keyboard.try_clone().unwrap(), Arc::<Mutex<String>>::default());
        let shown = screen.clone();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            // It fails when nobody has the other side open any more.
            while let Ok(count) = from.read(&mut buffer) {
                shown.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
        });
        Self { child, keyboard, screen, seen: 0 }
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Waits until `text` is shown, after what was waited for before; gives what came before it.
    pub(crate) fn sees(&mut self, text: &str) -> String {
        let begin = Instant::now();
        loop {
            let screen = self.screen.lock().unwrap().clone();
            let new = screen.get(self.seen..).unwrap_or_default();
            if let Some((before, _)) = new.split_once(text) {
                self.seen += before.len() + text.len();
                return before.to_owned();
            }
            assert!(begin.elapsed() < PATIENCE, "no {text:?} in {screen:?}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Closes the terminal.
    fn hangs_up(self) {
        let Self { mut child, keyboard, screen: _, seen: _ } = self;
        drop(keyboard);
        // The thread that reads the screen has the other handle; a hangup is what closing it sends.
        rustix::process::kill_process(
            rustix::process::Pid::from_child(&child),
            rustix::process::Signal::HUP,
        )
        .unwrap();
        child.wait().unwrap();
    }

    /// Waits for the end of the command, and gives its exit code.
    pub(crate) fn ends(mut self) -> i32 {
        self.child.wait().unwrap().code().unwrap()
    }
}

const ASKED: &str = "[v] view  [k] keep all  [p] pick  [d] drop all  [l] later: ";
const PICKED: &str = "[y] keep  [n] drop  [v] view  [l] later: ";
/// Where the id of a held run stands.
const HELD: &str =
    "toolgate: the changes are held, and the workspace is as it was; `toolgate run --resume ";

/// A machine with a file, and a person who let a shell change it.
fn changed() -> (Machine, Person) {
    let machine = Machine::new();
    machine.file("old.txt", "first line\n");
    machine.file("gone.txt", "bye\n");
    let mut person = Person::at(&machine, &["run", "--", "bash", "--norc"]);
    person.sees("$ ");
    person.types("echo 'second line' >> old.txt; echo new > new.txt; rm gone.txt\r");
    person.sees("$ ");
    person.types("cat old.txt\r");
    person.sees("first line\r\nsecond line\r\n");
    person.types("exit 4\r");
    let before = person.sees("The program changed:");
    assert!(!before.contains("error"), "{before}");
    let summary = person.sees(ASKED);
    for expected in ["deleted  gone.txt", "new      new.txt", "changed  old.txt"] {
        assert!(summary.contains(expected), "{summary}");
    }
    (machine, person)
}

fn shown_and_dropped() {
    let (machine, mut person) = changed();
    person.types("v\r");
    let diff = person.sees(ASKED);
    for expected in ["+second line", "-bye", "+new", " first line"] {
        assert!(diff.contains(expected), "{diff}");
    }
    person.types("x\r");
    person.sees("`x` is none of these.");
    person.sees(ASKED);
    person.types("\r");
    person.sees("Type one of the letters");
    person.sees(ASKED);
    person.types("d\r");
    person.sees("toolgate: nothing was kept");
    assert_eq!(person.ends(), 4);
    assert_eq!(machine.content("old.txt").as_deref(), Some("first line\n"));
    assert_eq!(machine.content("gone.txt").as_deref(), Some("bye\n"));
    assert_eq!(machine.content("new.txt"), None);
}

fn kept_and_undone() {
    let (machine, mut person) = changed();
    person.types("k\r");
    person.sees("toolgate: kept 3 changes; `toolgate undo ");
    let id = person.sees("` takes it back");
    assert_eq!(person.ends(), 4);
    assert_eq!(machine.content("old.txt").as_deref(), Some("first line\nsecond line\n"));
    assert_eq!(machine.content("gone.txt"), None);
    assert_eq!(machine.run(&["undo", &id]).code, 0);
    assert_eq!(machine.content("old.txt").as_deref(), Some("first line\n"));
    assert_eq!(machine.content("gone.txt").as_deref(), Some("bye\n"));
    assert_eq!(machine.content("new.txt"), None);
}

fn picked() {
    let (machine, mut person) = changed();
    person.types("p\r");
    for nonsense in ["what\r", "4,5\r", "\r"] {
        person.sees(PICKED);
        person.types(nonsense);
    }
    for _ in 0..3 {
        let which = person.sees(PICKED);
        person.types(if which.contains("new.txt") { "y\r" } else { "n\r" });
    }
    person.sees("toolgate: kept one change");
    assert_eq!(person.ends(), 4);
    assert_eq!(machine.content("new.txt").as_deref(), Some("new\n"));
    assert_eq!(machine.content("old.txt").as_deref(), Some("first line\n"));
    assert_eq!(machine.content("gone.txt").as_deref(), Some("bye\n"));
}

fn picked_by_number() {
    for first in ["p\r2,3\r", "2-3\r"] {
        let (machine, mut person) = changed();
        person.types(first);
        person.sees("toolgate: kept 2 changes");
        assert_eq!(person.ends(), 4);
        assert_eq!(machine.content("new.txt").as_deref(), Some("new\n"));
        assert_eq!(machine.content("old.txt").as_deref(), Some("first line\nsecond line\n"));
        assert_eq!(machine.content("gone.txt").as_deref(), Some("bye\n"));
    }
}

/// Whatever happens at the question, the changes are there until they are decided about.
fn held_until_decided() {
    let (machine, mut person) = changed();
    person.types("l\r");
    person.sees(HELD);
    let id = person.sees("` asks again");
    assert_eq!(person.ends(), 4);
    let unchanged = |machine: &Machine| {
        // Any other command comes by and cleans up.
        assert_eq!(machine.run(&["call", "get_current_time", "{}"]).code, 0);
        assert_eq!(machine.content("old.txt").as_deref(), Some("first line\n"));
        let listed = machine.run(&["run", "--list"]);
        assert!(listed.stdout.contains(&id) && listed.stdout.contains("bash --norc"), "{listed:?}");
    };
    unchanged(&machine);
    // The terminal goes away.
    let mut person = Person::at(&machine, &["run", "--resume", "last"]);
    person.sees("deleted  gone.txt");
    person.sees(ASKED);
    person.hangs_up();
    unchanged(&machine);
    // Toolgate is killed.
    let mut person = Person::at(&machine, &["run", "--resume", id.strip_prefix("01").unwrap()]);
    person.sees(ASKED);
    person.child.kill().unwrap();
    person.child.wait().unwrap();
    unchanged(&machine);
    // There is no terminal.
    let ran = machine.run(&["run", "--resume", &id]);
    assert!(ran.stderr.contains("there is no terminal to ask at"), "{ran:?}");
    assert!(ran.stderr.contains(&format!("{HELD}{id}")), "{ran:?}");
    unchanged(&machine);
    let mut person = Person::at(&machine, &["run", "--resume", &id]);
    person.sees(ASKED);
    person.types("k\r");
    person.sees("toolgate: kept 3 changes; `toolgate undo ");
    let kept = person.sees("` takes it back");
    assert_eq!(person.ends(), 0);
    assert_eq!(machine.content("new.txt").as_deref(), Some("new\n"));
    let again = machine.run(&["run", "--resume", &id]);
    assert!(again.code != 0 && again.stderr.contains("there is no held run"), "{again:?}");
    assert!(machine.run(&["run", "--list"]).stderr.contains("No changes of a run are held"));
    assert_eq!(machine.run(&["undo", &kept]).code, 0);
    assert_eq!(machine.content("gone.txt").as_deref(), Some("bye\n"));
}

/// Also what a program had done when everything was killed.
fn killed_while_it_runs() {
    let machine = Machine::new();
    let mut person = Person::at(&machine, &["run", "--", "bash", "--norc"]);
    person.sees("$ ");
    person.types("echo precious > hour-of-work.txt\r");
    person.sees("$ ");
    person.child.kill().unwrap();
    person.child.wait().unwrap();
    let begin = Instant::now();
    loop {
        let ran = machine.run(&["run", "--resume", "last", "--keep"]);
        if ran.code == 0 {
            break;
        }
        // The program may still be on its way out.
        assert!(ran.stderr.contains("still going on"), "{ran:?}");
        assert!(begin.elapsed() < PATIENCE, "{ran:?}");
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(machine.content("hour-of-work.txt").as_deref(), Some("precious\n"));
}

fn a_program_has_the_terminal() {
    let machine = Machine::new();
    let mut person = Person::at(&machine, &["run", "--", "bash", "--norc"]);
    person.sees("$ ");
    person.types("stty size\r");
    person.sees("33 99\r\n");
    person.sees("$ ");
    // Keys reach the program, not us.
    person.types("echo re''ady; cat\r");
    person.sees("ready\r\n");
    person.types("typed\r");
    person.sees("typed\r\ntyped\r\n");
    person.types("\x03");
    person.sees("$ ");
    person.types("echo status $?\r");
    person.sees("status 130\r\n");
    person.sees("$ ");
    let size = Winsize { ws_row: 44, ws_col: 111, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&person.keyboard, size).unwrap();
    person.types("until stty size | grep '44 111'; do sleep 0.01; done\r");
    person.sees("44 111\r\n");
    person.types("exit\r");
    // It changed nothing, so there is nothing to ask.
    person.sees("toolgate: nothing was kept");
    assert_eq!(person.ends(), 0);
}

fn nobody_is_asked() {
    for (option, expected, said) in [
        ("--keep", Some("new\n"), "toolgate: kept one change"),
        ("--drop", None, "toolgate: nothing was kept"),
    ] {
        let machine = Machine::new();
        let args = ["run", option, "--", "sh", "-c", "echo shown; echo new > new.txt; exit 9"];
        let ran = machine.run(&args);
        assert_eq!((ran.code, ran.stdout.as_str()), (9, "shown\n"), "{ran:?}");
        assert!(ran.stderr.contains(said), "{ran:?}");
        assert_eq!(machine.content("new.txt").as_deref(), expected);
        let mut person = Person::at(&machine, &args);
        person.sees("shown");
        person.sees("toolgate: ");
        assert_eq!(person.ends(), 9);
    }
}

fn without_a_terminal() {
    let machine = Machine::new();
    machine.file("in.txt", "old\n");
    let before = tree(&machine.path("workspace"));
    let args = ["run", "--", "sh", "-c", "cat; cat in.txt; echo err >&2; rm in.txt; kill -TERM $$"];
    let ran = machine.run_with(&args, "piped\n");
    assert_eq!((ran.code, ran.stdout.as_str()), (128 + 15, "piped\nold\n"), "{ran:?}");
    assert!(ran.stderr.contains("err\n"), "{ran:?}");
    assert!(ran.stderr.contains("there is no terminal to ask at"), "{ran:?}");
    assert!(ran.stderr.contains(HELD), "{ran:?}");
    assert_eq!(tree(&machine.path("workspace")), before);
    let entry = &machine.run(&["history", "--json"]).json()[0];
    assert_eq!((&entry["tool_name"], &entry["changed"]), (&json!("run"), &json!([])), "{entry}");
    let dropped = machine.run(&["run", "--resume", "last", "--drop"]);
    assert_eq!(dropped.code, 0, "{dropped:?}");
    assert!(machine.run(&["run", "--list"]).stdout.is_empty());
}

fn a_program_reaches_hosts() {
    if !has("curl") {
        return;
    }
    let (named, other) = (server(), server());
    let machine = Machine::new();
    let host = named.to_string();
    for (options, address, expected) in [
        (&["--network", host.as_str()][..], named, "hello\n"),
        (&["--network", host.as_str()], other, ""),
        (&[], named, ""),
    ] {
        let command = get(address);
        let args = [&["run"], options, &["--drop", "--", "sh", "-c", &command]].concat();
        let ran = machine.run(&args);
        let reached = if ran.stdout == "hello\n" { "hello\n" } else { "" };
        assert_eq!(reached, expected, "{args:?}: {ran:?}");
        let refused = ran.stderr.contains(&format!("it wanted to reach `{other}`"));
        assert_eq!(refused, address == other, "{args:?}: {ran:?}");
    }
}

fn a_client_is_connected_if_the_person_says_so() {
    for (answer, expected) in [("y\n", true), ("\n", false), ("n\n", false)] {
        let machine = Machine::new();
        let mut person = Person::at(&machine, &["connect", "codex"]);
        let shown = person.sees("[y] change it  [n] leave it (default): ");
        assert!(shown.contains("+[mcp_servers.toolgate]"), "{shown}");
        person.types(answer);
        assert_eq!(person.ends(), i32::from(!expected), "{answer:?}");
        assert_eq!(machine.path("home/.codex/config.toml").exists(), expected, "{answer:?}");
    }
}
