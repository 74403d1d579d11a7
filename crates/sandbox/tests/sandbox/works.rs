//! What works inside.

use std::{
    fs,
    os::{
        linux::net::SocketAddrExt,
        unix::fs::{MetadataExt, PermissionsExt},
    },
    path::PathBuf,
    time::Duration,
};

use libtest_mimic::Trial;
use sandbox::{
    Access, Bind, Changes, EndedBy, Home, Job, Level, Network, SandboxError, Scratch, Source, Stdio,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::helper::{
    Folder, finish, inside, is_counted, job, printed, run, shell, start, the_sandbox, trial,
};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_command_ends_with_its_code_or_signal", a_command_ends_with_its_code_or_signal),
        trial("nothing_printed_is_lost", nothing_printed_is_lost),
        trial("nothing_printed_to_a_terminal_is_lost", nothing_printed_to_a_terminal_is_lost),
        trial("a_command_reads_what_it_is_given", a_command_reads_what_it_is_given),
        trial("a_terminal_is_a_terminal", a_terminal_is_a_terminal),
        trial("descriptors_can_be_given", descriptors_can_be_given),
        trial(
            "the_environment_is_exactly_what_was_given",
            the_environment_is_exactly_what_was_given,
        ),
        trial("what_cannot_be_executed_is_said", what_cannot_be_executed_is_said),
        trial("what_cannot_be_set_up_is_said", what_cannot_be_set_up_is_said),
        trial("long_arguments_arrive", long_arguments_arrive),
        trial("changes_on_an_overlay_are_kept_apart", changes_on_an_overlay_are_kept_apart),
        trial(
            "changes_made_directly_belong_to_the_owner",
            changes_made_directly_belong_to_the_owner,
        ),
        trial("a_workspace_can_be_refused_changes", a_workspace_can_be_refused_changes),
        trial("no_socket_of_a_read_only_workspace_is_reached", no_socket_is_reached),
        trial("folders_can_lie_in_each_other", folders_can_lie_in_each_other),
        trial(
            "sources_with_links_or_missing_are_refused",
            sources_with_links_or_missing_are_refused,
        ),
        trial("targets_that_make_no_sense_are_refused", targets_that_make_no_sense_are_refused),
        trial("a_proxy_can_be_reached", a_proxy_can_be_reached),
        trial("loopback_works", loopback_works),
        trial("the_network_of_the_host_can_be_given", the_network_of_the_host_can_be_given),
        trial("links_at_protected_places_are_refused", links_at_protected_places_are_refused),
        trial("a_command_can_be_killed", a_command_can_be_killed),
        trial("a_command_gets_signals", a_command_gets_signals),
        trial("dropping_a_process_kills_it", dropping_a_process_kills_it),
        trial("many_run_at_once", many_run_at_once),
        trial("usual_programs_find_what_they_need", usual_programs_find_what_they_need),
        trial("the_report_says_what_was_found", the_report_says_what_was_found),
        trial("without_cgroups_a_command_is_watched", without_cgroups_a_command_is_watched),
        trial("what_is_used_is_told", what_is_used_is_told),
        trial("calls_do_not_see_each_other", calls_do_not_see_each_other),
    ]
}

async fn a_command_ends_with_its_code_or_signal() {
    for (script, code, signal) in [
        ("exit 0", Some(0), None),
        ("exit 42", Some(42), None),
        ("kill -TERM $$", None, Some(15)),
        ("kill -KILL $$", None, Some(9)),
    ] {
        let exit = run(shell(script)).await.exit;
        assert_eq!((exit.code, exit.signal), (code, signal), "{script}");
        assert_eq!(exit.ended_by, EndedBy::Itself, "{script}");
    }
}

async fn nothing_printed_is_lost() {
    for round in 0..150 {
        // Less and more than a pipe holds.
        let lines = if round % 2 == 0 { 10 } else { 20_000 };
        let text = printed(shell(&format!("seq {lines}"))).await;
        let expected = numbered(lines, "\n");
        assert_eq!(text.len(), expected.len());
        assert_eq!(text, expected);
    }
}

async fn nothing_printed_to_a_terminal_is_lost() {
    for _ in 0..60 {
        let stdio = Stdio::Pty { rows: 24, cols: 80 };
        let ran = run_terminal(Job { stdio, ..shell("seq 500") }).await;
        let expected = numbered(500, "\r\n");
        assert_eq!(ran, expected);
    }
}

/// Numbers from one, each with an end.
pub(crate) fn numbered(lines: usize, end: &str) -> String {
    let numbers: Vec<_> = (1..=lines).map(|line| line.to_string()).collect();
    numbers.join(end) + end
}

async fn run_terminal(job: Job) -> String {
    let mut process = start(job).await.unwrap();
    let _typed = process.take_stdin();
    let ran = finish(&mut process).await;
    assert_eq!(ran.exit.code, Some(0), "{}", ran.stdout);
    ran.stdout
}

async fn a_command_reads_what_it_is_given() {
    let mut process = start(job(["/bin/cat"])).await.unwrap();
    let mut stdin = process.take_stdin().unwrap();
    let text = "line\n".repeat(100_000);
    let write = async {
        stdin.write_all(text.as_bytes()).await.unwrap();
        drop(stdin);
    };
    let ((), ran) = tokio::join!(write, finish(&mut process));
    assert_eq!(ran.stdout, text);
}

async fn a_terminal_is_a_terminal() {
    let stdio = Stdio::Pty { rows: 33, cols: 101 };
    let text = run_terminal(Job { stdio, ..shell("tty; stty size; echo x > /dev/tty") }).await;
    assert_eq!(text, "/dev/pts/0\r\n33 101\r\nx\r\n");

    let stdio = Stdio::Pty { rows: 1, cols: 1 };
    let mut process = start(Job { stdio, ..shell("read x; stty size") }).await.unwrap();
    process.resize(44, 55).unwrap();
    let mut stdin = process.take_stdin().unwrap();
    stdin.write_all(b"go\n").await.unwrap();
    let text = finish(&mut process).await.stdout;
    assert_eq!(text, "go\r\n44 55\r\n");

    // What is typed can be a signal.
    let stdio = Stdio::Pty { rows: 1, cols: 1 };
    let mut process = start(Job { stdio, ..job(["/bin/cat"]) }).await.unwrap();
    let (mut stdin, mut stdout) = (process.take_stdin().unwrap(), process.take_stdout().unwrap());
    stdin.write_all(b"x\n").await.unwrap();
    let mut echo = [0; 6];
    stdout.read_exact(&mut echo).await.unwrap();
    assert_eq!(&echo, b"x\r\nx\r\n");
    stdin.write_all(b"\x03").await.unwrap();
    assert_eq!(process.wait().await.unwrap().signal, Some(2));
}

async fn descriptors_can_be_given() {
    let folder = Folder::new();
    let path = folder.path.join("out");
    let file = fs::File::create(&path).unwrap();
    let stdio = Stdio::Given {
        stdin: fs::File::open("/dev/null").unwrap().into(),
        stdout: file.try_clone().unwrap().into(),
        stderr: file.into(),
    };
    let mut process = start(Job { stdio, ..shell("cat; echo out; echo err >&2") }).await.unwrap();
    assert!(process.take_stdout().is_none());
    process.wait().await.unwrap();
    assert_eq!(fs::read_to_string(path).unwrap(), "out\nerr\n");
}

async fn the_environment_is_exactly_what_was_given() {
    assert_eq!(printed(job(["/usr/bin/env"])).await, "");
    let env = vec![("A".into(), "1".into()), ("B".into(), "x=y z".into())];
    assert_eq!(printed(Job { env, ..job(["/usr/bin/env"]) }).await, "A=1\nB=x=y z\n");
    let env = vec![("PATH".into(), "/nowhere:/bin".into())];
    assert_eq!(printed(Job { env, ..job(["echo", "found"]) }).await, "found\n");
    // A program can be called something else than its file.
    let called = Job { file: Some("/bin/sh".into()), ..job(["called", "-c", "echo $0"]) };
    assert_eq!(printed(called).await, "called\n");
}

async fn what_cannot_be_executed_is_said() {
    let folder = Folder::new();
    fs::write(folder.workspace.join("plain"), "text").unwrap();
    fs::write(folder.workspace.join("broken"), "text").unwrap();
    let broken = folder.workspace.join("broken");
    fs::set_permissions(&broken, fs::Permissions::from_mode(0o755)).unwrap();
    for (program, errno) in [
        ("no-such-program", libc::ENOENT),
        ("/no/such/program", libc::ENOENT),
        ("./plain", libc::EACCES),
        ("./broken", libc::ENOEXEC),
        ("/", libc::EACCES),
    ] {
        let workspace = Some(folder.workspace(Changes::Direct));
        let result =
            start(Job { workspace, cwd: folder.workspace.clone(), ..job([program]) }).await;
        match result {
            Err(SandboxError::Exec { source, .. }) => {
                assert_eq!(source.raw_os_error(), Some(errno), "{program}");
            }
            other => panic!("{program}: {other:?}"),
        }
    }
}

async fn what_cannot_be_set_up_is_said() {
    let result = start(Job { cwd: "/no/such/folder".into(), ..shell("true") }).await;
    let error = result.unwrap_err();
    assert!(matches!(error, SandboxError::SetUp { .. }), "{error:?}");
    let message = "the sandbox could not be set up, so nothing ran: enter `/no/such/folder`: \
                   No such file or directory (os error 2)";
    assert_eq!(error.to_string(), message);
    for argv in [vec![], vec![""], vec!["a\0b"]] {
        let result = start(job(argv)).await;
        assert!(matches!(result, Err(SandboxError::Invalid(_))), "{result:?}");
    }
}

async fn long_arguments_arrive() {
    let long = "x".repeat(120_000);
    let argv = ["/bin/sh", "-c", "echo ${#1} ${#2} ${#3}", "sh", &long, &long, &long];
    assert_eq!(printed(job(argv)).await, "120000 120000 120000\n");
}

async fn changes_on_an_overlay_are_kept_apart() {
    let folder = Folder::new();
    let file = |name: &str| folder.workspace.join(name);
    fs::write(file("kept"), "1").unwrap();
    fs::write(file("changed"), "1").unwrap();
    fs::write(file("removed"), "1").unwrap();
    fs::set_permissions(file("changed"), fs::Permissions::from_mode(0o640)).unwrap();
    let (upper, mode) = folder.overlay("layers");
    let script =
        "cat kept; echo 2 > changed; rm removed; mkdir new; echo 3 > new/file; cat changed; ls";
    let workspace = Some(folder.workspace(mode));
    let cwd = folder.workspace.clone();
    let text = printed(Job { workspace, cwd, ..shell(script) }).await;
    assert_eq!(text, "12\nchanged\nkept\nnew\n");
    // Nothing has happened to the workspace.
    assert_eq!(fs::read_to_string(file("changed")).unwrap(), "1");
    assert!(file("removed").exists() && !file("new").exists());
    // What has changed is in the layer, as the owner of the workspace would have done it.
    assert_eq!(fs::read_to_string(upper.join("changed")).unwrap(), "2\n");
    assert_eq!(fs::read_to_string(upper.join("new/file")).unwrap(), "3\n");
    let stat = |path: PathBuf| fs::symlink_metadata(path).unwrap();
    assert_eq!(stat(upper.join("changed")).mode() & 0o7777, 0o640);
    let owner = stat(folder.workspace.clone()).uid();
    assert_eq!(stat(upper.join("new/file")).uid(), owner);
    // What was removed is marked by a device of number zero.
    assert_eq!(stat(upper.join("removed")).rdev(), 0);
    assert_eq!(stat(upper.join("removed")).mode() & 0o170_000, 0o020_000);
}

async fn changes_made_directly_belong_to_the_owner() {
    let folder = Folder::new();
    let workspace = Some(folder.workspace(Changes::Direct));
    let script = "id -u > id; mkdir d; echo x > d/f; stat -c %u . d/f";
    let cwd = folder.workspace.clone();
    let text = printed(Job { workspace, cwd, ..shell(script) }).await;
    let inside = fs::read_to_string(folder.workspace.join("id")).unwrap();
    assert_ne!(inside, "0\n");
    assert_eq!(text, format!("{inside}{inside}"));
    let owner = fs::metadata(&folder.workspace).unwrap().uid();
    assert_eq!(fs::metadata(folder.workspace.join("d/f")).unwrap().uid(), owner);
}

async fn a_workspace_can_be_refused_changes() {
    let folder = Folder::new();
    fs::write(folder.workspace.join("file"), "text").unwrap();
    let workspace = Some(folder.workspace(Changes::Refused));
    let cwd = folder.workspace.clone();
    let script =
        "cat file; (echo x > file) 2>/dev/null || echo no; (echo x > new) 2>/dev/null || echo no";
    assert_eq!(printed(Job { workspace, cwd, ..shell(script) }).await, "textno\nno\n");
}

async fn no_socket_is_reached() {
    let folder = Folder::new();
    let socket = folder.workspace.join("s.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    fs::write(folder.workspace.join("file"), "text").unwrap();
    let script = "cat file; python3 -c \"
import socket
s = socket.socket(socket.AF_UNIX)
try:
    s.connect('s.sock'); print('reached')
except OSError as e:
    print('', e.errno)
\"";
    let workspace = Some(folder.workspace(Changes::Refused));
    let job = Job { workspace, cwd: folder.workspace.clone(), ..shell(script) };
    // Nobody listens there.
    assert_eq!(printed(job).await, "text 111\n");
}

async fn folders_can_lie_in_each_other() {
    let folder = Folder::new();
    let (temp, home, tools) =
        (folder.path.join("temp"), folder.path.join("home"), folder.path.join("tools"));
    for path in [&temp, &home, &tools] {
        fs::create_dir(path).unwrap();
    }
    fs::write(tools.join("tool"), "tool").unwrap();
    fs::write(folder.workspace.join("file"), "file").unwrap();
    let job = Job {
        temp: Scratch::Folder(Source::Path(temp.clone())),
        home: Some(Home {
            target: "/home/somebody".into(),
            scratch: Scratch::Folder(Source::Path(home.clone())),
        }),
        workspace: Some(sandbox::Workspace {
            source: Source::Path(folder.workspace.clone()),
            target: "/home/somebody/project".into(),
            mode: Changes::Direct,
        }),
        binds: vec![
            Bind {
                source: Source::Path(tools.join("tool")),
                target: "/home/somebody/project/.tools/tool".into(),
                access: Access::ReadOnly,
            },
            Bind {
                source: Source::Path(tools.clone()),
                target: "/opt/deep/tools".into(),
                access: Access::ReadOnly,
            },
        ],
        cwd: "/home/somebody/project".into(),
        env: vec![("HOME".into(), "/home/somebody".into())],
        ..shell(
            "cat file .tools/tool /opt/deep/tools/tool; echo t > /tmp/t; echo h > ~/h; ls /home",
        )
    };
    assert_eq!(printed(job).await, "filetooltoolsomebody\n");
    assert_eq!(fs::read_to_string(temp.join("t")).unwrap(), "t\n");
    assert_eq!(fs::read_to_string(home.join("h")).unwrap(), "h\n");
}

async fn sources_with_links_or_missing_are_refused() {
    let folder = Folder::new();
    let real = folder.path.join("real");
    fs::create_dir_all(real.join("below")).unwrap();
    std::os::unix::fs::symlink(&real, folder.path.join("link")).unwrap();
    for name in ["link", "link/below", "link/missing", "missing", "real/missing"] {
        let source = Source::Path(folder.path.join(name));
        let bind = Bind { source, target: "/data".into(), access: Access::ReadOnly };
        let result = start(Job { binds: vec![bind], ..shell("true") }).await;
        assert!(matches!(result, Err(SandboxError::Source { .. })), "{name}: {result:?}");
    }
    // What was opened before is what is mounted, whatever became of its path.
    let opened = fs::File::open(&real).unwrap();
    fs::write(real.join("mark"), "right").unwrap();
    let bind = Bind {
        source: Source::Fd(opened.into()),
        target: "/data".into(),
        access: Access::ReadOnly,
    };
    assert_eq!(printed(Job { binds: vec![bind], ..shell("cat /data/mark") }).await, "right");
    let source = Source::Path(real.clone());
    let bind = Bind { source, target: "/data".into(), access: Access::ReadOnlyWithoutSockets };
    assert_eq!(printed(Job { binds: vec![bind], ..shell("cat /data/mark") }).await, "right");
}

async fn targets_that_make_no_sense_are_refused() {
    let folder = Folder::new();
    for target in ["/", "relative", "/a/../b", "/proc/x", "/dev/null", "/.empty/file"] {
        let source = Source::Path(folder.workspace.clone());
        let bind = Bind { source, target: target.into(), access: Access::ReadOnly };
        let result = start(Job { binds: vec![bind], ..shell("true") }).await;
        assert!(matches!(result, Err(SandboxError::Invalid(_))), "{target}: {result:?}");
    }
    // A place that would have to be made in a folder of the system.
    let source = Source::Path(folder.workspace.clone());
    let bind = Bind { source, target: "/usr/no/such".into(), access: Access::ReadOnly };
    let result = start(Job { binds: vec![bind], ..shell("true") }).await;
    assert!(matches!(result, Err(SandboxError::SetUp { .. })), "{result:?}");
}

async fn a_proxy_can_be_reached() {
    let network = Network::Proxied { port: 3128 };
    let mut process = start(Job { network, ..inside(&["attack", "talk", "3128"]) }).await.unwrap();
    let listener = process.take_listener().unwrap();
    let proxy = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        std::io::Write::write_all(&mut stream, b"hello from the proxy").unwrap();
    });
    let ran = finish(&mut process).await;
    assert_eq!(ran.stdout, "hello from the proxy\n");
    proxy.join().unwrap();
}

async fn loopback_works() {
    assert_eq!(printed(inside(&["attack", "loopback"])).await, "127.0.0.1 works\n");
}

async fn the_network_of_the_host_can_be_given() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    for (network, expected) in
        [(Network::Host, "ESCAPED: connected\n"), (Network::None, "held: ECONNREFUSED\n")]
    {
        let job = Job { network, ..inside(&["attack", "connect", &address]) };
        assert_eq!(printed(job).await, expected, "{network:?}");
    }
    // But not what only looks like the network.
    let name = format!("toolgate-test-{}", std::process::id());
    let abstract_name = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind_addr(&abstract_name).unwrap();
    let job = Job { network: Network::Host, ..inside(&["attack", "connect abstract", &name]) };
    assert_eq!(printed(job).await, "held: EPERM\n");
}

async fn links_at_protected_places_are_refused() {
    let folder = Folder::new();
    std::os::unix::fs::symlink("elsewhere", folder.workspace.join(".envrc")).unwrap();
    std::os::unix::fs::symlink("elsewhere", folder.workspace.join(".git")).unwrap();
    fs::write(folder.workspace.join("file"), "").unwrap();
    let at = |name: &str| vec![folder.workspace.join(name)];
    for (read_only, masked, absent) in [
        (at(".envrc"), vec![], vec![]),
        (at(".git/hooks"), vec![], vec![]),
        (vec![], at(".git/socket"), vec![]),
        (vec![], vec![], at(".envrc")),
        (vec![], vec![], at(".git/hooks")),
    ] {
        let workspace = Some(folder.workspace(Changes::Direct));
        let result = start(Job { workspace, read_only, masked, absent, ..shell("true") }).await;
        assert!(matches!(result, Err(SandboxError::SetUp { .. })), "{result:?}");
    }
    // A file where a folder would have to be must stay one.
    let job = Job {
        workspace: Some(folder.workspace(Changes::Direct)),
        cwd: folder.workspace.clone(),
        absent: at("file/hooks"),
        ..shell("rm file 2>/dev/null || echo no; mv file f 2>/dev/null || echo no")
    };
    assert_eq!(printed(job).await, "no\nno\n");
}

async fn a_command_can_be_killed() {
    let mut process = start(shell("sleep 60 & setsid sleep 60 & sleep 60")).await.unwrap();
    process.kill().unwrap();
    let exit = process.wait().await.unwrap();
    assert_eq!((exit.ended_by, exit.signal, exit.code), (EndedBy::Killed, Some(9), None));
    // Again, and after the end, it does no harm.
    process.kill().unwrap();
    assert_eq!(process.wait().await.unwrap(), exit);
}

async fn a_command_gets_signals() {
    let script = "trap 'echo got it; exit 7' USR1; echo ready; while :; do sleep 0.02; done";
    let mut process = start(shell(script)).await.unwrap();
    assert_ne!(process.id(), 0);
    let mut output = process.take_stdout().unwrap();
    let mut text = vec![0; 6];
    output.read_exact(&mut text).await.unwrap();
    process.signal(libc::SIGUSR1).unwrap();
    output.read_to_end(&mut text).await.unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), "ready\ngot it\n");
    assert_eq!(process.wait().await.unwrap().code, Some(7));
}

async fn dropping_a_process_kills_it() {
    let process = start(shell("sleep 60")).await.unwrap();
    let id = process.id();
    let alive = || PathBuf::from(format!("/proc/{id}")).exists();
    assert!(alive());
    drop(process);
    while alive() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn many_run_at_once() {
    let mut running = Vec::new();
    for number in 0..12 {
        let mut process = start(shell(&format!("sleep 0.2; exit {number}"))).await.unwrap();
        running.push(tokio::spawn(async move { process.wait().await.unwrap().code }));
    }
    for (number, process) in running.into_iter().enumerate() {
        assert_eq!(process.await.unwrap(), i32::try_from(number).ok());
    }
}

async fn usual_programs_find_what_they_need() {
    for (script, expected) in [
        ("hostname", "sandbox\n"),
        ("id -un", "agent\n"),
        ("ls /run /home", "/home:\n\n/run:\n"),
        ("echo x > /tmp/f && cat /tmp/f", "x\n"),
        ("echo x > /dev/shm/f && cat /dev/shm/f", "x\n"),
        ("echo x > /dev/null; head -c 3 /dev/zero | wc -c", "3\n"),
        ("cat /proc/self/comm", "cat\n"),
        ("test -r /etc/ld.so.cache && echo yes", "yes\n"),
        ("umask", "0022\n"),
        ("ps -e -o comm= 2>/dev/null | wc -l | grep -q . && echo yes", "yes\n"),
        ("grep -c processor /proc/cpuinfo > /dev/null && echo yes", "yes\n"),
        ("mkfifo /tmp/p && (echo x > /tmp/p & cat /tmp/p)", "x\n"),
    ] {
        let env = vec![("PATH".into(), "/usr/bin:/bin".into())];
        assert_eq!(printed(Job { env, ..shell(script) }).await, expected, "{script}");
    }
}

async fn the_report_says_what_was_found() {
    let (sandbox, level) = the_sandbox();
    let report = sandbox.report().await.unwrap();
    assert_eq!(report.level, *level);
    assert!(report.features.len() >= 16, "{report:#?}");
    assert_eq!(*level, Level::Full, "{report:#?}");
    if is_counted() {
        assert_eq!((report.missing(), report.lacks.len()), (String::new(), 0));
    } else {
        assert!(report.missing().starts_with("cgroups: "), "{}", report.missing());
        assert_eq!(report.lacks.len(), 1, "{:?}", report.lacks);
    }
}

async fn without_cgroups_a_command_is_watched() {
    let settings = sandbox::SandboxSettings {
        cgroups: sandbox::Cgroups::Unused,
        ..sandbox::SandboxSettings::default()
    };
    let sandbox = sandbox::Sandbox::new(settings);
    let report = sandbox.report().await.unwrap();
    let mode = report.mode.map(|mode| mode.to_string());
    assert_eq!((report.level, mode.as_deref()), (Level::Full, Some("namespaces+watching")));
    let result = sandbox.start(Job { minimum: Level::Full, ..shell("true") }).await;
    assert_eq!(result.unwrap().wait().await.unwrap().code, Some(0));
    let limits = sandbox::Limits { cpu_percent: Some(50), ..sandbox::Limits::default() };
    let result = sandbox.start(Job { limits, ..shell("true") }).await;
    assert!(matches!(result, Err(SandboxError::NoProcessorLimit(_))), "{result:?}");
    sandbox.shutdown().await;
    let result = sandbox.start(Job { minimum: Level::Reduced, ..shell("true") }).await;
    assert!(matches!(result, Err(SandboxError::Stopped)), "{result:?}");
}

async fn what_is_used_is_told() {
    let exit = run(inside(&["fill", "use"])).await.exit;
    assert_eq!(exit.code, Some(0));
    assert!(exit.cpu >= Duration::from_millis(100), "{exit:?}");
    assert!(exit.max_rss_bytes >= 32 << 20, "{exit:?}");
    assert!(exit.wall >= exit.cpu / 64, "{exit:?}");
}

async fn calls_do_not_see_each_other() {
    let folder = Folder::new();
    let look =
        "ls /tmp /dev/shm; find / -xdev -name 'sandbox-test-*' 2>/dev/null; ipcs -m | grep -c 0x";
    for round in 0..6 {
        let leave = "touch /tmp/x /dev/shm/x; ipcmk -M 100 > /dev/null";
        let workspace = (round % 2 == 0).then(|| folder.workspace(Changes::Direct));
        let job = Job { workspace, ..shell(&format!("{look}; {leave}")) };
        let ran = run(job).await;
        let seen = folder.path.file_name().unwrap().to_str().unwrap();
        let text = ran.stdout.lines().filter(|line| !line.ends_with(seen)).collect::<Vec<_>>();
        assert_eq!(text, ["/dev/shm:", "", "/tmp:", "0"], "{round}: {}", ran.stdout);
        assert_eq!(ran.stdout.contains(seen), round % 2 == 0, "{}", ran.stdout);
    }
}
