//! Commands on the host itself.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};

use libtest_mimic::Trial;
use sandbox::{
    Cgroups, EndedBy, HostJob, Limits, Process, Sandbox, SandboxError, SandboxSettings, Stdio,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{
    helper::{Folder, Ran, block_on, finish, is_counted, the_sandbox, trial},
    leaks::{descriptors, groups_of, is_unused, processes_with, settle},
    works::numbered,
};

const MIB: u64 = 1 << 20;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("host_code_or_signal", a_command_ends_with_its_code_or_signal),
        trial("host_output_is_whole", nothing_printed_is_lost),
        trial("host_input_arrives", a_command_reads_what_it_is_given),
        trial("host_terminal", a_terminal_is_a_terminal),
        trial("host_environment_and_folder_are_exact", environment_and_folder_are_exact),
        trial("host_is_the_host", a_command_is_who_we_are),
        trial("host_has_no_descriptors", a_command_has_no_descriptors),
        trial("host_refusals", what_cannot_be_executed_is_said),
        trial("host_signals", a_command_gets_signals),
        trial("host_kill", a_command_can_be_killed),
        trial("host_detached_end_with_the_command", detached_ones_end_with_the_command),
        trial("host_runaways_are_caught", runaways_are_caught),
        trial("host_drop_kills", dropping_a_process_kills_it),
        trial("host_used_is_told", what_is_used_is_told),
        trial("host_limit_of_memory", memory_is_limited),
        trial("host_limit_of_processes", processes_are_limited),
        trial("host_limit_of_files", files_are_limited),
        trial("host_limit_of_processor_time", processor_time_is_limited),
        trial("host_needs_no_sandbox", nothing_of_a_sandbox_is_needed),
        trial("host_launcher_killed", a_killed_launcher_leaves_nothing),
        trial("host_parent_killed", a_killed_parent_leaves_nothing),
        trial("host_nothing_is_left", nothing_is_left),
    ]
}

pub(crate) fn host(script: &str) -> HostJob {
    host_argv(&["/bin/sh", "-c", script])
}

fn host_argv(argv: &[&str]) -> HostJob {
    HostJob {
        argv: argv.iter().map(Into::into).collect(),
        file: None,
        cwd: fs::File::open("/").unwrap().into(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        limits: Limits { memory_bytes: 2 << 30, ..Limits::default() },
        stdio: Stdio::Piped,
    }
}

fn own(argv: &[&str]) -> HostJob {
    let own = std::env::current_exe().unwrap();
    let argv: Vec<_> = [own.to_str().unwrap()].into_iter().chain(argv.iter().copied()).collect();
    host_argv(&argv)
}

async fn start(job: HostJob) -> Result<Process, SandboxError> {
    the_sandbox().0.start_on_host(job).await
}

async fn run(job: HostJob) -> Ran {
    let mut process = start(job).await.expect("it starts");
    drop(process.take_stdin());
    finish(&mut process).await
}

/// How long to sleep, so that it can be found by it; nobody does for ever, whatever goes wrong.
fn mark(name: &str) -> String {
    format!("60.{name}{}", std::process::id())
}

async fn none_with(mark: &str) {
    settle(|| processes_with(mark).is_empty(), || format!("{:?}", processes_with(mark))).await;
}

async fn a_command_ends_with_its_code_or_signal() {
    for (script, code, signal) in [
        ("exit 0", Some(0), None),
        ("exit 42", Some(42), None),
        ("kill -TERM $$", None, Some(15)),
        ("kill -KILL $$", None, Some(9)),
    ] {
        let exit = run(host(script)).await.exit;
        assert_eq!((exit.code, exit.signal), (code, signal), "{script}");
        assert_eq!(exit.ended_by, EndedBy::Itself, "{script}");
    }
}

async fn nothing_printed_is_lost() {
    for lines in [10, 20_000] {
        let ran = run(host(&format!("seq {lines}; echo error >&2"))).await;
        let expected = numbered(lines, "\n");
        assert_eq!((ran.stdout.len(), ran.stderr.as_str()), (expected.len(), "error\n"));
        assert_eq!(ran.stdout, expected);
    }
}

async fn a_command_reads_what_it_is_given() {
    let mut process = start(host("cat; echo end")).await.unwrap();
    let mut input = process.take_stdin().unwrap();
    input.write_all(b"typed\n").await.unwrap();
    drop(input);
    assert_eq!(finish(&mut process).await.stdout, "typed\nend\n");
}

async fn a_terminal_is_a_terminal() {
    let stdio = Stdio::Pty { rows: 33, cols: 77 };
    // Without a controlling terminal `/dev/tty` cannot be opened.
    let script = "test -t 0 && test -t 1 && stty size < /dev/tty && read line && echo got $line";
    let mut process = start(HostJob { stdio, ..host(script) }).await.unwrap();
    let mut input = process.take_stdin().unwrap();
    input.write_all(b"hello\n").await.unwrap();
    let ran = finish(&mut process).await;
    assert_eq!(ran.exit.code, Some(0), "{}", ran.stdout);
    let text = ran.stdout.replace("hello\r\n", "");
    assert!(text.contains("33 77\r\n") && ran.stdout.contains("got hello"), "{}", ran.stdout);
}

async fn environment_and_folder_are_exact() {
    let folder = Folder::new();
    let opened = fs::File::open(&folder.workspace).unwrap();
    // What was opened is what is entered, whatever became of its path.
    let moved = folder.path.join("moved");
    fs::rename(&folder.workspace, &moved).unwrap();
    fs::create_dir(&folder.workspace).unwrap();
    let job = HostJob {
        cwd: opened.into(),
        env: vec![("A".into(), "1 2".into()), ("EMPTY".into(), "".into())],
        ..host_argv(&["/usr/bin/env"])
    };
    assert_eq!(run(job).await.stdout, "A=1 2\nEMPTY=\n");
    let job = HostJob { file: Some("/bin/echo".into()), ..host_argv(&["called", "it"]) };
    assert_eq!(run(job).await.stdout, "it\n");
    let job = HostJob { cwd: fs::File::open(&moved).unwrap().into(), ..host("pwd -P; : > new") };
    assert_eq!(run(job).await.stdout, format!("{}\n", moved.display()));
    assert!(moved.join("new").exists());
}

async fn a_command_is_who_we_are() {
    let script = "id -u; id -G; readlink /proc/self/ns/pid; ps -o pid=,sid= -p $$";
    let ran = run(host(script)).await;
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert_eq!(lines[0], fs::metadata("/proc/self").unwrap().uid().to_string());
    assert_eq!(lines[2], fs::read_link("/proc/self/ns/pid").unwrap().to_str().unwrap());
    // It leads a session of its own.
    let mut numbers = lines[3].split_whitespace();
    assert_eq!(numbers.next(), numbers.next(), "{lines:?}");
}

async fn a_command_has_no_descriptors() {
    let ran = run(host_argv(&["/bin/ls", "/proc/self/fd"])).await;
    // The last one is the folder it lists.
    assert_eq!(ran.stdout, "0\n1\n2\n3\n");
    // Two signals belong to the C library, which lets nobody touch them.
    let script = "awk '/^Sig(Blk|Ign)/ { print $2 }' /proc/self/status";
    for line in run(host(script)).await.stdout.lines() {
        let unusual = u64::from_str_radix(line, 16).unwrap() & !(0b11 << 31);
        assert_eq!(unusual, 0, "{line}");
    }
}

async fn what_cannot_be_executed_is_said() {
    for argv in [&["no-such-program"][..], &["/no/such/program"], &["/etc/passwd"]] {
        let result = start(host_argv(argv)).await;
        assert!(matches!(result, Err(SandboxError::Exec { .. })), "{argv:?}: {result:?}");
    }
    for argv in [&[][..], &[""], &["a\0b"]] {
        let result = start(host_argv(argv)).await;
        assert!(matches!(result, Err(SandboxError::Invalid(_))), "{argv:?}: {result:?}");
    }
    let file = fs::File::open("/etc/passwd").unwrap().into();
    let result = start(HostJob { cwd: file, ..host("true") }).await;
    assert!(matches!(result, Err(SandboxError::SetUp { .. })), "{result:?}");
}

async fn a_command_gets_signals() {
    let script = "trap 'echo got it; exit 7' USR1; echo ready; while :; do sleep 0.02; done";
    let mut process = start(host(script)).await.unwrap();
    assert_ne!(process.id(), 0);
    let mut output = process.take_stdout().unwrap();
    let mut text = vec![0; 6];
    output.read_exact(&mut text).await.unwrap();
    process.signal(libc::SIGUSR1).unwrap();
    output.read_to_end(&mut text).await.unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), "ready\ngot it\n");
    assert_eq!(process.wait().await.unwrap().code, Some(7));
}

async fn a_command_can_be_killed() {
    let mark = mark("80");
    let script = format!(
        "sleep {mark} & setsid sleep {mark} & (setsid sleep {mark} &); echo x; sleep {mark}"
    );
    let mut process = start(host(&script)).await.unwrap();
    let mut output = process.take_stdout().unwrap();
    output.read_exact(&mut [0; 2]).await.unwrap();
    let short = Duration::from_millis(20);
    assert!(tokio::time::timeout(short, process.wait()).await.is_err());
    process.kill().unwrap();
    let exit = process.wait().await.unwrap();
    assert_eq!((exit.ended_by, exit.signal, exit.code), (EndedBy::Killed, Some(9), None));
    // When it says so, nothing is left, and the pipes are closed.
    assert_eq!(processes_with(&format!("sleep {mark}")), Vec::<String>::new());
    assert_eq!(output.read(&mut [0; 2]).await.unwrap(), 0);
    process.kill().unwrap();
    assert_eq!(process.wait().await.unwrap(), exit);
}

async fn detached_ones_end_with_the_command() {
    let mark = mark("81");
    let script = format!(
        "nohup setsid sleep {mark} > /dev/null 2>&1 & \
         (setsid sh -c '(trap \"\" TERM HUP INT; sleep {mark}; :) & exec sleep {mark}' &) ; \
         sleep 0.1; exit 5"
    );
    let ran = run(host(&script)).await;
    assert_eq!((ran.exit.code, ran.exit.ended_by), (Some(5), EndedBy::Itself));
    assert_eq!(processes_with(&format!("sleep {mark}")), Vec::<String>::new());
}

/// It starts itself anew all the time, and ends: whoever is looked at is gone already.
async fn runaways_are_caught() {
    let mark = mark("87");
    // Not for ever, whatever goes wrong.
    let script = "[ $2 -gt 0 ] && setsid /bin/sh -c \"$0\" \"$0\" $1 $(($2 - 1)) & exit";
    for _ in 0..5 {
        let argv = ["/bin/sh", "-c", script, script, &mark, "5000"];
        // The command itself ends at once, and what it started with it.
        let exit = start(host_argv(&argv)).await.unwrap().wait().await.unwrap();
        assert_eq!(exit.code, Some(0));
        assert_eq!(processes_with(&mark), Vec::<String>::new());
        let first = "/bin/sh -c \"$0\" \"$0\" $1 5000; sleep 60";
        let mut process = start(host_argv(&["/bin/sh", "-c", first, script, &mark])).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_ne!(processes_with(&mark), Vec::<String>::new());
        process.kill().unwrap();
        process.wait().await.unwrap();
        assert_eq!(processes_with(&mark), Vec::<String>::new());
    }
}

async fn dropping_a_process_kills_it() {
    let mark = mark("82");
    let process = start(host(&format!("setsid sleep {mark} & sleep {mark}"))).await.unwrap();
    settle(|| processes_with(&format!("sleep {mark}")).len() >= 2, || "it runs".to_owned()).await;
    drop(process);
    none_with(&format!("sleep {mark}")).await;
}

async fn what_is_used_is_told() {
    // Also of those nobody has waited for.
    let own = std::env::current_exe().unwrap();
    let script = format!("setsid {} fill use & wait", own.display());
    for job in [self::own(&["fill", "use"]), host(&script)] {
        let exit = run(job).await.exit;
        assert_eq!(exit.code, Some(0));
        assert!(exit.cpu >= Duration::from_millis(100), "{exit:?}");
        assert!(exit.max_rss_bytes >= 32 << 20, "{exit:?}");
    }
}

fn limited(limits: Limits, argv: &[&str]) -> HostJob {
    HostJob { limits, ..own(argv) }
}

async fn memory_is_limited() {
    let limits = Limits { memory_bytes: 96 * MIB, ..Limits::default() };
    let ran = run(limited(limits, &["fill", "memory for a while", "1024"])).await;
    assert_eq!((ran.exit.ended_by, ran.exit.signal), (EndedBy::Memory, Some(9)), "{ran:?}");
}

async fn processes_are_limited() {
    let counted = is_counted();
    if !counted && fs::metadata("/proc/self").unwrap().uid() == 0 {
        // Without cgroups nobody counts those of root.
        return;
    }
    let limits = Limits { processes: 50, ..Limits::default() };
    let ran = run(limited(limits, &["fill", "processes"])).await;
    let count: u32 = ran.stdout.trim().parse().unwrap_or_else(|_| panic!("{ran:?}"));
    // Where only the user's are counted, those of other tests count too.
    let expected = if counted { 48..=52 } else { 1..=500 };
    assert!(expected.contains(&count), "{count}");
}

async fn files_are_limited() {
    let limits = Limits { open_files: 50, ..Limits::default() };
    let ran = run(limited(limits, &["fill", "descriptors"])).await;
    assert_eq!(ran.stdout, "47\n", "{ran:?}");
    let folder = Folder::new();
    let target = folder.workspace.display().to_string();
    let limits = Limits { written_bytes: 48 * MIB, ..Limits::default() };
    let ran = run(limited(limits, &["fill", "disk", &target])).await;
    assert_eq!(ran.exit.ended_by, EndedBy::Written, "{ran:?}");
}

async fn processor_time_is_limited() {
    let limits = Limits { cpu_percent: Some(20), ..Limits::default() };
    match start(limited(limits, &["fill", "time", "1000"])).await {
        Ok(mut process) => {
            let exit = process.wait().await.unwrap();
            assert!(exit.cpu < Duration::from_millis(600), "{exit:?}");
        }
        // What cannot be limited is refused.
        Err(error) => assert!(!is_counted(), "{error:?}"),
    }
}

async fn nothing_of_a_sandbox_is_needed() {
    let settings = SandboxSettings { cgroups: Cgroups::Unused, ..SandboxSettings::default() };
    let sandbox = Sandbox::new(settings);
    let mark = mark("83");
    for _ in 0..3 {
        let script = format!("setsid sleep {mark} & echo out; exit 3");
        let mut process = sandbox.start_on_host(host(&script)).await.unwrap();
        let ran = finish(&mut process).await;
        assert_eq!((ran.exit.code, ran.stdout.as_str()), (Some(3), "out\n"));
        assert_eq!(processes_with(&format!("sleep {mark}")), Vec::<String>::new());
    }
    sandbox.shutdown().await;
    let result = sandbox.start_on_host(host("true")).await;
    assert!(matches!(result, Err(SandboxError::Stopped)), "{result:?}");
}

/// Where there are cgroups, what it ran is found by them.
async fn a_killed_launcher_leaves_nothing() {
    let mark = mark("84");
    let script = format!("setsid sleep {mark} & exec sleep {mark}");
    let mut process = start(host(&script)).await.unwrap();
    let named = format!("sleep {mark}");
    settle(|| processes_with(&named).len() == 2, || "it runs".to_owned()).await;
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.id())).unwrap();
    let launcher = stat.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap().to_owned();
    let killed = std::process::Command::new("/bin/kill").args(["-9", &launcher]).status();
    assert!(killed.unwrap().success());
    let result = process.wait().await;
    assert!(matches!(result, Err(SandboxError::LauncherDied)), "{result:?}");
    let left = usize::from(!is_counted());
    settle(|| processes_with(&named).len() <= left, || format!("{:?}", processes_with(&named)))
        .await;
    for pid in pids_with(&named) {
        drop(std::process::Command::new("/bin/kill").args(["-9", &pid]).status());
    }
}

fn pids_with(mark: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let fits = |path: PathBuf| {
        let line = fs::read(path.join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(mark).then(|| path.file_name().unwrap().to_string_lossy().into_owned())
    };
    entries.filter_map(|entry| fits(entry.path())).collect()
}

/// Starts something that would take long, and waits to be killed.
pub(crate) fn abandon(args: &[String]) -> ! {
    block_on(async {
        let mark = &args[0];
        let script = format!(
            "setsid sleep {mark} & (setsid sh -c 'sleep {mark} & sleep {mark}' &); exec sleep {mark}"
        );
        let _process = start(host(&script)).await.unwrap();
        println!("started");
        std::future::pending::<()>().await;
    });
    unreachable!("it is killed")
}

async fn a_killed_parent_leaves_nothing() {
    let mark = mark("85");
    let own = std::env::current_exe().unwrap();
    let mut parent = std::process::Command::new(own)
        .args(["abandon on host", &mark])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(parent.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "started\n");
    let named = format!("sleep {mark}");
    settle(|| processes_with(&named).len() >= 4, || "it runs".to_owned()).await;
    parent.kill().unwrap();
    parent.wait().unwrap();
    none_with(&named).await;
    let gone = || {
        drop(Sandbox::new(SandboxSettings::default()));
        groups_of(parent.id()).is_empty()
    };
    settle(gone, || format!("{:?}", groups_of(parent.id()))).await;
}

async fn nothing_is_left() {
    let mark = mark("86");
    let sandbox = Sandbox::new(SandboxSettings::default());
    for number in 0..3 {
        call(&sandbox, &mark, number).await;
    }
    let before = descriptors();
    for number in 0..100 {
        call(&sandbox, &mark, number).await;
    }
    settle(
        || descriptors() <= before + 8,
        || format!("{} descriptors, {before} before", descriptors()),
    )
    .await;
    none_with(&format!("sleep {mark}")).await;
    sandbox.shutdown().await;
    let unused = || {
        let groups = groups_of(std::process::id()).into_iter();
        groups.filter(|group: &PathBuf| is_unused(Path::new(group))).collect::<Vec<_>>()
    };
    settle(|| unused().is_empty(), || format!("{:?}", unused())).await;
}

async fn call(sandbox: &Sandbox, mark: &str, number: usize) {
    let script = format!("(setsid sleep {mark} &) ; nohup sleep {mark} > /dev/null 2>&1 &");
    let stdio =
        if number.is_multiple_of(5) { Stdio::Pty { rows: 2, cols: 2 } } else { Stdio::Piped };
    let script = if number.is_multiple_of(4) { script } else { format!("{script} sleep {mark}") };
    let mut process = sandbox.start_on_host(HostJob { stdio, ..host(&script) }).await.unwrap();
    match number % 4 {
        0 => drop(process.wait().await.unwrap()),
        1 => {
            let short = Duration::from_millis(5);
            assert!(tokio::time::timeout(short, process.wait()).await.is_err());
            process.kill().unwrap();
            process.wait().await.unwrap();
        }
        2 => drop(process),
        _ => {
            process.kill().unwrap();
            process.wait().await.unwrap();
        }
    }
}
