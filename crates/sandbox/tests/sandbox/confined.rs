//! Behind Landlock and seccomp alone: what a command can and cannot do where namespaces are forbidden.
//!
//! The whole test binary runs again without user namespaces, as root and as an ordinary user, with the
//! tests below and the bombs.

use std::{
    fs,
    net::TcpListener,
    os::unix::{fs::PermissionsExt, net::UnixListener},
    path::Path,
    time::Duration,
};

use libtest_mimic::Trial;
use sandbox::{
    Access, Bind, Changes, EndedBy, IsolationWalls, Job, Level, Network, SandboxError, Scratch,
    Source,
};
use tokio::io::AsyncReadExt;

use crate::{
    helper::{Folder, finish, printed, run, shell, start, the_mode, the_sandbox, trial},
    leaks::{processes_with, settle},
};

pub(crate) fn trials() -> Vec<Trial> {
    if the_mode().walls != IsolationWalls::Landlock {
        return Vec::new();
    }
    vec![
        trial("confined: only the workspace can be changed", only_the_workspace_can_be_changed),
        trial("confined: a workspace can be read-only", a_workspace_can_be_read_only),
        trial("confined: masked files are not readable", masked_files_are_not_readable),
        trial("confined: no sockets lead out", no_sockets_lead_out),
        trial("confined: only the proxy is reached", only_the_proxy_is_reached),
        trial("confined: nothing outlives the command", nothing_outlives_the_command),
        trial("confined: other processes are out of reach", other_processes_are_out_of_reach),
        trial("confined: there are no rights to give", there_are_no_rights_to_give),
        trial("confined: folders are where they are", folders_are_where_they_are),
        trial("confined: what needs namespaces is refused", what_needs_namespaces_is_refused),
        trial("confined: writing is limited", writing_is_limited),
    ]
}

fn within(folder: &Folder, mode: Changes, script: &str) -> Job {
    let env = vec![("PATH".into(), "/usr/bin:/bin".into())];
    let workspace = Some(folder.workspace(mode));
    Job { workspace, cwd: folder.workspace.clone(), env, ..shell(script) }
}

async fn only_the_workspace_can_be_changed() {
    let folder = Folder::new();
    let outside = folder.path.join("outside");
    fs::write(&outside, "secret").unwrap();
    let at = outside.display();
    let script = format!(
        "echo in > inside; mkdir -p a/b; mv inside a/b/moved; cat a/b/moved; ln -s {at} link; \
         for try in 'cat {at}' 'cat link' 'echo x > {at}' 'echo x > {at}.new' 'rm {at}' \
           'truncate -s 0 {at}' 'ln {at} hard' 'mv {at} .' 'ls {dir}' 'cat /etc/shadow' \
           'echo x > /var/tmp/toolgate-test' 'echo x > /tmp/toolgate-test' 'echo x > /dev/shm/x'; do \
           sh -c \"$try\" > /dev/null 2>&1 && echo \"did $try\"; done; cat /etc/passwd > /dev/null && echo end",
        dir = folder.path.display()
    );
    let said = printed(within(&folder, Changes::Direct, &script)).await;
    assert_eq!(said, "in\nend\n");
    assert_eq!(fs::read_to_string(outside).unwrap(), "secret");
    assert_eq!(fs::read_to_string(folder.workspace.join("a/b/moved")).unwrap(), "in\n");
}

async fn a_workspace_can_be_read_only() {
    let folder = Folder::new();
    fs::write(folder.workspace.join("file"), "text").unwrap();
    let script = "cat file; for t in 'echo x > file' 'echo x > new' 'rm file' 'mkdir d'; do \
                  sh -c \"$t\" 2> /dev/null && echo \"did $t\"; done; true";
    assert_eq!(printed(within(&folder, Changes::Refused, script)).await, "text");
}

async fn masked_files_are_not_readable() {
    let folder = Folder::new();
    let tools = folder.path.join("tools");
    fs::create_dir_all(tools.join("deep/er")).unwrap();
    for name in ["token", "plain", "deep/token", "deep/plain", "deep/er/plain"] {
        fs::write(tools.join(name), name).unwrap();
    }
    let bind = || Bind {
        source: Source::Path(tools.clone()),
        target: tools.clone(),
        access: Access::ReadOnly,
    };
    let script =
        format!("cd {}; cat plain deep/plain deep/er/plain token deep/token", tools.display());
    let masked = vec![tools.join("token"), tools.join("deep/token"), folder.path.join("gone")];
    let job = Job { binds: vec![bind()], masked, ..within(&folder, Changes::Direct, &script) };
    let ran = run(job).await;
    assert_eq!(ran.stdout, "plaindeep/plaindeep/er/plain", "{ran:?}");
    // In a writable folder nothing can be hidden, so that is refused.
    let masked = vec![folder.workspace.join("data")];
    fs::create_dir(&masked[0]).unwrap();
    let job = Job { masked, ..within(&folder, Changes::Direct, "true") };
    let result = start(job).await;
    assert!(matches!(result, Err(SandboxError::NotHere(_))), "{result:?}");
}

const SOCKETS: &str = r#"
import socket, sys
def tries(name, do):
    try:
        do()
        print("did", name)
    except OSError:
        pass
unix = lambda kind=socket.SOCK_STREAM: socket.socket(socket.AF_UNIX, kind)
tries("inet", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
tries("inet6", lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))
tries("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
tries("datagram", lambda: unix(socket.SOCK_DGRAM).sendto(b"x", "socket"))
tries("connect", lambda: unix().connect("socket"))
tries("abstract", lambda: unix().connect("\0abstract"))
one, other = socket.socketpair()
one.send(b"pair")
print(other.recv(4).decode())
"#;

async fn no_sockets_lead_out() {
    let folder = Folder::new();
    let _listener = UnixListener::bind(folder.workspace.join("socket")).unwrap();
    fs::write(folder.workspace.join("tries.py"), SOCKETS).unwrap();
    let said = printed(within(&folder, Changes::Direct, "/usr/bin/python3 tries.py")).await;
    assert_eq!(said, "pair\n");
}

async fn only_the_proxy_is_reached() {
    let folder = Folder::new();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let script = format!(
        "p=${{http_proxy##*:}}; exec 3<>/dev/tcp/127.0.0.1/$p && echo hello >&3; \
         (exec 4<>/dev/tcp/127.0.0.1/{}) 2> /dev/null && echo reached; true",
        other.local_addr().unwrap().port()
    );
    let mut job = within(&folder, Changes::Direct, "");
    job.argv = ["/bin/bash", "-c", &script].map(Into::into).to_vec();
    job.env.push(("http_proxy".into(), "http://127.0.0.1:3128".into()));
    job.network = Network::Proxied { port: 3128 };
    let mut process = start(job).await.unwrap();
    let listener = process.take_listener().unwrap();
    listener.set_nonblocking(true).unwrap();
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let accept = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).await.unwrap();
        said
    };
    let (said, ran) = tokio::join!(accept, finish(&mut process));
    assert_eq!((said.as_str(), ran.stdout.as_str()), ("hello\n", ""), "{ran:?}");
}

async fn nothing_outlives_the_command() {
    let folder = Folder::new();
    let mark = format!("91{}", std::process::id());
    let script = format!("setsid sh -c 'sleep {mark}' & (sleep {mark} &) ; sleep 0.1; echo out");
    assert_eq!(printed(within(&folder, Changes::Direct, &script)).await, "out\n");
    let named = format!("sleep {mark}");
    settle(|| processes_with(&named).is_empty(), || format!("{:?}", processes_with(&named))).await;
    let mut process =
        start(within(&folder, Changes::Direct, &format!("setsid sleep {mark}"))).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    process.kill().unwrap();
    assert_eq!(process.wait().await.unwrap().ended_by, EndedBy::Killed);
    settle(|| processes_with(&named).is_empty(), || format!("{:?}", processes_with(&named))).await;
}

async fn other_processes_are_out_of_reach() {
    let folder = Folder::new();
    let own = std::process::id();
    let script = format!(
        "for t in 'cat /proc/{own}/environ' 'cat /proc/{own}/maps' 'readlink /proc/{own}/fd/0' 'kill -0 {own}'; do \
         sh -c \"$t\" > /dev/null 2>&1 && echo \"did $t\"; done; true"
    );
    let said = printed(within(&folder, Changes::Direct, &script)).await;
    // Landlock holds signals since version 6, and says so where it does not.
    let lacks = &the_sandbox().0.report_now().unwrap().lacks;
    let signals = lacks.iter().any(|lack| lack.starts_with("guards against signals"));
    assert!(said.is_empty() || signals && said == format!("did kill -0 {own}\n"), "{said}");
}

async fn there_are_no_rights_to_give() {
    let folder = Folder::new();
    let script = "grep -E 'CapEff|CapPrm|NoNewPrivs|Seccomp:' /proc/self/status; \
                  cp /bin/true mine; chmod 4755 mine 2> /dev/null && echo did; \
                  unshare -U true 2> /dev/null && echo did; true";
    let said = printed(within(&folder, Changes::Direct, script)).await;
    let expected =
        "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n";
    assert_eq!(said, expected);
    let mode = fs::metadata(folder.workspace.join("mine")).unwrap().permissions().mode();
    assert_eq!(mode & 0o6000, 0);
}

async fn folders_are_where_they_are() {
    let folder = Folder::new();
    let temp = folder.path.join("temp");
    fs::create_dir(&temp).unwrap();
    let script = "echo x > $TMPDIR/file && pwd && echo $TMPDIR";
    let mut job = within(&folder, Changes::Direct, script);
    job.temp = Scratch::Folder(Source::Path(temp.clone()));
    job.env.push(("TMPDIR".into(), "/tmp".into()));
    let expected = format!("{}\n{}\n", folder.workspace.display(), temp.display());
    assert_eq!(printed(job).await, expected);
    assert!(temp.join("file").exists());
    assert!(!Path::new("/tmp/file").exists());
}

async fn what_needs_namespaces_is_refused() {
    let folder = Folder::new();
    let overlay = folder.overlay("layers").1;
    let result = start(within(&folder, overlay, "true")).await;
    assert!(matches!(result, Err(SandboxError::NotHere(_))), "{result:?}");
    let job = Job { minimum: Level::Full, ..within(&folder, Changes::Direct, "touch mark") };
    let error = start(job).await.unwrap_err();
    assert!(matches!(error, SandboxError::TooWeak { .. }), "{error:?}");
    assert!(error.to_string().contains("user namespaces"), "{error}");
    assert!(!folder.workspace.join("mark").exists());
}

async fn writing_is_limited() {
    let folder = Folder::new();
    let script = "i=0; while [ $i -lt 200 ]; do head -c 4000000 /dev/zero > $i; i=$((i+1)); done";
    let mut job = within(&folder, Changes::Direct, script);
    job.limits.written_bytes = 48 << 20;
    let ran = run(job).await;
    assert_eq!(ran.exit.ended_by, EndedBy::Written, "{ran:?}");
}
