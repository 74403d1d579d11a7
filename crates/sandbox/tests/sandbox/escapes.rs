//! Attempts to get out, or to leave something behind. None succeeds, and each fails for its reason.

use std::{
    fs,
    net::TcpListener,
    os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::PermissionsExt,
            net::{SocketAddr, UnixListener},
        },
    },
    path::Path,
};

use libtest_mimic::Trial;
use sandbox::{Access, Bind, Changes, Job, Source};

use crate::helper::{Folder, inside, run, trial};

/// A name, what is attempted (`@` stands for the folder around the workspace), and what stops it.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

const ATTEMPTS: &[Row] = &[
    // Files that are not the command's.
    ("a secret beside the workspace", &["read", "@/secret"], &["ENOENT"]),
    ("the folder around the workspace", &["read", "@/workspace/../secret"], &["ENOENT"]),
    ("a link to a secret", &["read through link", "@/secret"], &["ENOENT"]),
    ("a secret through /proc/self/root", &["read through proc", "@/secret"], &["ENOENT"]),
    ("a secret through /proc/self/cwd", &["read through cwd", "secret"], &["ENOENT"]),
    (
        "a secret by swapping a folder for a link",
        &["read after swap", "@/secret"],
        &["entity not found"],
    ),
    ("password hashes", &["read", "/etc/shadow"], &["ENOENT"]),
    ("group password hashes", &["read", "/etc/gshadow"], &["ENOENT"]),
    ("host keys", &["list", "/etc/ssh"], &["ENOENT"]),
    ("sudo rules", &["read", "/etc/sudoers"], &["ENOENT"]),
    ("private TLS keys", &["list", "/etc/ssl/private"], &["ENOENT"]),
    ("keys of root", &["list", "/root/.ssh"], &["ENOENT"]),
    ("keys of the user", &["list", "@HOME/.ssh"], &["ENOENT"]),
    ("the machine's name", &["read", "/etc/machine-id"], &["ENOENT"]),
    ("the socket of containers", &["connect unix", "/var/run/docker.sock"], &["ENOENT"]),
    ("the system bus", &["connect unix", "/run/dbus/system_bus_socket"], &["ENOENT"]),
    ("kernel settings in /sys", &["list", "/sys/kernel"], &["ENOENT"]),
    ("cgroups", &["list", "/sys/fs/cgroup"], &["ENOENT"]),
    ("the disk", &["read", "/dev/vda"], &["ENOENT"]),
    ("physical memory", &["read", "/dev/mem"], &["ENOENT"]),
    ("the kernel's messages", &["read", "/dev/kmsg"], &["ENOENT"]),
    ("FUSE", &["append", "/dev/fuse"], &["ENOENT"]),
    ("network tunnels", &["append", "/dev/net/tun"], &["ENOENT"]),
    ("a program of the system", &["append", "/usr/bin/env"], &["EROFS", "EACCES"]),
    ("a new program of the system", &["create", "/usr/bin/new"], &["EROFS", "EACCES"]),
    ("the user list", &["write", "/etc/passwd"], &["EROFS", "EACCES"]),
    ("a preloaded library", &["create", "/etc/ld.so.preload"], &["EROFS", "EACCES"]),
    ("the root folder", &["create", "/new"], &["EROFS", "EACCES"]),
    (
        "a link to a file of the system",
        &["hard link", "/etc/passwd", "mine"],
        &["EXDEV", "EACCES", "EPERM"],
    ),
    (
        "the workspace itself",
        &["rename", "@/workspace", "@/gone"],
        &["EROFS", "EACCES", "EBUSY", "EXDEV"],
    ),
    // What the job guards in the workspace.
    ("a protected file", &["write", ".git/hooks/pre-commit"], &["EROFS"]),
    ("a new file in a protected folder", &["create", ".git/hooks/post-commit"], &["EROFS"]),
    ("removing a protected file", &["remove", "settings.json"], &["EBUSY", "EROFS"]),
    (
        "replacing a protected file",
        &["rename", "plain", "settings.json"],
        &["EBUSY", "EROFS", "EXDEV"],
    ),
    (
        "moving a protected folder away",
        &["rename", ".git/hooks", "hooks"],
        &["EBUSY", "EROFS", "EXDEV"],
    ),
    ("moving the folder above away", &["rename", ".git", "git"], &["EBUSY", "EXDEV"]),
    ("a file that must not come into being", &["create", ".envrc"], &["EEXIST", "EROFS", "EACCES"]),
    ("writing where nothing must be", &["write", ".envrc"], &["Is a directory (os error 21)"]),
    ("a folder that must not come into being", &["make folder", ".vscode"], &["EEXIST"]),
    ("a file in that folder", &["create", ".vscode/tasks.json"], &["EROFS", "EACCES"]),
    ("what is masked", &["read non-empty", "masked"], &["unexpected end of file"]),
    ("a socket in the workspace", &["connect unix", "socket"], &["ECONNREFUSED", "EACCES"]),
    ("a socket in a folder to read", &["connect unix", "@/shown/socket"], &["ECONNREFUSED"]),
    ("a file in a folder to read", &["create", "@/shown/new"], &["EROFS"]),
    // Setuid bits, which would count outside.
    ("chmod 4755", &["chmod", "mine", "4755"], &["EPERM"]),
    ("chmod 2755", &["chmod", "mine", "2755"], &["EPERM"]),
    ("open with 4755", &["open setuid"], &["EPERM"]),
    ("open with 2755", &["open setgid"], &["EPERM"]),
    ("an unnamed file with 4755", &["open unnamed setuid"], &["EPERM"]),
    ("openat2", &["open anew setuid"], &["ENOSYS"]),
    ("mkdir with 2755", &["folder setgid"], &["EPERM"]),
    ("fchmodat2 with 4755", &["chmod anew setuid"], &["EPERM"]),
    ("mknod with 4755", &["make setuid node"], &["EPERM"]),
    ("a block device", &["make device"], &["EPERM"]),
    ("a character device", &["make character device"], &["EPERM"]),
    (
        "capabilities on a file",
        &["set capability"],
        &["EPERM", "Operation not supported (os error 95)"],
    ),
    ("a file of root's", &["chown root"], &["EINVAL", "EPERM"]),
    // Other processes.
    ("ptrace of the first process", &["ptrace first"], &["EPERM"]),
    ("being traced", &["ptrace me"], &["EPERM"]),
    ("memory of the first process", &["read memory"], &["EPERM"]),
    ("writing into the first process", &["write memory"], &["EPERM"]),
    ("environment of the first process", &["read", "/proc/1/environ"], &["EACCES", "EPERM"]),
    ("memory of the first process as a file", &["read", "/proc/1/mem"], &["EACCES"]),
    ("descriptors of the first process", &["list", "/proc/1/fd"], &["EACCES", "EPERM"]),
    ("root folder of the first process", &["list", "/proc/1/root"], &["EACCES", "EPERM"]),
    ("descriptors of other processes", &["take descriptor"], &["EPERM"]),
    ("comparing processes", &["compare processes"], &["EPERM"]),
    ("a process of the host", &["read", "/proc/@PID/environ"], &["ENOENT"]),
    ("a signal to a process of the host", &["signal", "@PID"], &["ESRCH"]),
    ("a signal to the first process", &["signal", "1"], &["EPERM"]),
    ("a signal to everybody", &["signal all"], &["EPERM", "ESRCH"]),
    ("descriptors that leaked", &["descriptors"], &["EBADF"]),
    ("variables that leaked", &["environment"], &["entity not found"]),
    // Mounts and namespaces.
    ("mount", &["mount"], &["EPERM"]),
    ("umount", &["unmount"], &["EPERM"]),
    ("pivot_root", &["pivot root"], &["EPERM"]),
    ("chroot", &["change root"], &["EPERM"]),
    ("open_tree", &["open tree"], &["EPERM"]),
    ("move_mount", &["move mount"], &["EPERM"]),
    ("fsopen", &["open file system"], &["EPERM"]),
    ("fspick", &["pick file system"], &["EPERM"]),
    ("mount_setattr", &["set mount"], &["EPERM"]),
    ("a user namespace", &["new user"], &["EPERM"]),
    ("a mount namespace", &["new mounts"], &["EPERM"]),
    ("a network namespace", &["new network"], &["EPERM"]),
    ("a time namespace", &["new time"], &["EPERM"]),
    ("a process in a user namespace", &["clone user"], &["EPERM"]),
    ("clone3", &["clone anew"], &["ENOSYS"]),
    ("setns", &["enter namespace"], &["EPERM"]),
    // The kernel.
    ("session keyring", &["join session keyring"], &["EPERM"]),
    ("add_key", &["add key"], &["EPERM"]),
    ("request_key", &["request key"], &["EPERM"]),
    ("keys in /proc", &["read non-empty", "/proc/keys"], &["unexpected end of file", "ENOENT"]),
    ("bpf", &["load program"], &["EPERM"]),
    ("io_uring", &["io_uring"], &["EPERM"]),
    ("userfaultfd", &["handle faults"], &["EPERM"]),
    ("perf_event_open", &["perf"], &["EPERM"]),
    ("fanotify", &["watch all files"], &["EPERM"]),
    ("name_to_handle_at", &["handle of file"], &["EPERM"]),
    ("open_by_handle_at", &["file by handle"], &["EPERM"]),
    ("kexec_load", &["load kernel"], &["EPERM"]),
    ("init_module", &["load module"], &["EPERM"]),
    ("finit_module", &["load module file"], &["EPERM"]),
    ("delete_module", &["remove module"], &["EPERM"]),
    ("reboot", &["reboot"], &["EPERM"]),
    ("swapon", &["swap on"], &["EPERM"]),
    ("syslog", &["kernel log"], &["EPERM"]),
    ("clock_settime", &["set clock"], &["EPERM"]),
    ("adjtimex", &["adjust clock"], &["EPERM"]),
    ("settimeofday", &["set time"], &["EPERM"]),
    ("sethostname", &["name machine"], &["EPERM"]),
    ("acct", &["account"], &["EPERM"]),
    ("quotactl", &["quota"], &["EPERM"]),
    ("vhangup", &["hang up"], &["EPERM"]),
    ("another personality", &["odd personality"], &["EPERM"]),
    ("memfd_secret", &["secret memory"], &["ENOSYS"]),
    ("a call from the future", &["newer call"], &["ENOSYS"]),
    ("the entry of 32-bit programs", &["32-bit entry"], &["signal 31"]),
    ("what handles core dumps", &["write", "/proc/sys/kernel/core_pattern"], &["EROFS", "EACCES"]),
    ("magic keys", &["write", "/proc/sysrq-trigger"], &["EROFS", "EACCES", "ENOENT"]),
    (
        "kernel memory",
        &["read non-empty", "/proc/kcore"],
        &["unexpected end of file", "ENOENT", "EACCES"],
    ),
    ("being killed last", &["write", "/proc/self/oom_score_adj"], &["EROFS", "EACCES"]),
    // Rights.
    ("being root, or having any capability", &["be root"], &["EPERM"]),
    ("setuid(0)", &["become root"], &["EINVAL", "EPERM"]),
    ("setgroups", &["join groups"], &["EPERM"]),
    ("capset", &["take capabilities"], &["EPERM"]),
    ("setuid programs", &["exec as another"], &["EPERM"]),
    ("more open files", &["raise files"], &["EPERM"]),
    ("real-time priority", &["real time"], &["EPERM", "EINVAL"]),
    ("a higher priority", &["go first"], &["EACCES", "EPERM"]),
    // The network.
    ("a server on the host", &["connect", "127.0.0.1:@PORT"], &["ECONNREFUSED"]),
    ("the metadata address", &["connect", "169.254.169.254:80"], &["ENETUNREACH"]),
    ("a public address", &["connect", "192.0.2.1:443"], &["ENETUNREACH"]),
    (
        "a public IPv6 address",
        &["connect", "[2001:db8::1]:443"],
        &["ENETUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT"],
    ),
    (
        "an abstract socket of the host",
        &["connect abstract", "@ABSTRACT"],
        &["ECONNREFUSED", "EPERM"],
    ),
    ("a raw socket", &["raw socket"], &["EAFNOSUPPORT"]),
    ("a packet socket", &["packet socket"], &["EAFNOSUPPORT"]),
    ("a socket to the hypervisor", &["vm socket"], &["EAFNOSUPPORT"]),
    ("a crypto socket", &["crypto socket"], &["EAFNOSUPPORT"]),
    ("an audit socket", &["audit socket"], &["EAFNOSUPPORT"]),
    ("a bluetooth socket", &["bluetooth socket"], &["EAFNOSUPPORT"]),
    ("typing into a terminal", &["type for others"], &["EPERM"]),
    ("driving the console", &["drive console"], &["EPERM"]),
];

pub(crate) fn trials() -> Vec<Trial> {
    let one = |row: &'static Row| trial(&format!("held: {}", row.0), move || attempt(row));
    let mut trials: Vec<_> = ATTEMPTS.iter().map(one).collect();
    assert!(trials.len() >= 60);
    trials.push(trial("nothing_comes_out_of_a_direct_workspace", nothing_comes_out));
    trials
}

async fn attempt((name, attack, expected): &Row) {
    let target = Target::new();
    let args: Vec<_> = attack.iter().map(|arg| target.fill(arg)).collect();
    let args: Vec<_> = ["attack"].into_iter().chain(args.iter().map(String::as_str)).collect();
    let ran = run(target.job(&args)).await;
    let outcome = match ran.exit.signal {
        Some(signal) => format!("held: signal {signal}"),
        None => ran.stdout.trim_end().to_owned(),
    };
    let held = expected.iter().any(|reason| outcome == format!("held: {reason}"));
    assert!(held, "{name}: {outcome}, expected one of {expected:?}; {}", ran.stderr);
    target.is_unharmed();
}

/// What is attacked.
struct Target {
    folder: Folder,
    tcp: TcpListener,
    _unix: [UnixListener; 2],
    _abstract: UnixListener,
    name: String,
}

impl Target {
    fn new() -> Self {
        let folder = Folder::new();
        let inside = |name: &str| folder.workspace.join(name);
        fs::write(folder.path.join("secret"), "the secret").unwrap();
        fs::create_dir_all(inside(".git/hooks")).unwrap();
        fs::write(inside(".git/hooks/pre-commit"), "hook").unwrap();
        for name in ["settings.json", "plain", "masked"] {
            fs::write(inside(name), name).unwrap();
        }
        fs::create_dir(folder.path.join("shown")).unwrap();
        fs::write(folder.path.join("shown/file"), "shown").unwrap();
        let sockets = [inside("socket"), folder.path.join("shown/socket")];
        let unix = sockets.map(|path| UnixListener::bind(path).unwrap());
        let name = folder.path.display().to_string();
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let nameless = UnixListener::bind_addr(&address).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        Self { folder, tcp, _unix: unix, _abstract: nameless, name }
    }

    fn fill(&self, arg: &str) -> String {
        let home = std::env::var("HOME").unwrap_or_else(|_| "/root".to_owned());
        arg.replace("@HOME", &home)
            .replace("@PID", &std::process::id().to_string())
            .replace("@PORT", &self.tcp.local_addr().unwrap().port().to_string())
            .replace("@ABSTRACT", &self.name)
            .replace('@', &self.folder.path.display().to_string())
    }

    fn job(&self, args: &[&str]) -> Job {
        let at = |name: &str| self.folder.workspace.join(name);
        let mut job = inside(args);
        job.binds.push(self.shown());
        Job {
            workspace: Some(self.folder.workspace(Changes::Direct)),
            cwd: self.folder.workspace.clone(),
            read_only: vec![at(".git/hooks"), at("settings.json"), at("not-there")],
            masked: vec![at("masked"), at("socket"), at("not-there")],
            absent: vec![at(".envrc"), at(".vscode/tasks.json"), at(".git/hooks/new")],
            ..job
        }
    }

    /// A folder of the host's that can be read.
    fn shown(&self) -> Bind {
        let target = self.folder.path.join("shown");
        let source = Source::Path(target.clone());
        Bind { source, target, access: Access::ReadOnlyWithoutSockets }
    }

    /// Nothing outside has changed, and nothing is left that counts more outside than inside.
    fn is_unharmed(&self) {
        let Folder { path, workspace, .. } = &self.folder;
        assert_eq!(fs::read_to_string(path.join("secret")).unwrap(), "the secret");
        assert_eq!(fs::read_to_string(workspace.join(".git/hooks/pre-commit")).unwrap(), "hook");
        assert_eq!(fs::read_to_string(workspace.join("settings.json")).unwrap(), "settings.json");
        assert_eq!(fs::read_dir(workspace.join(".git/hooks")).unwrap().count(), 1);
        for absent in [".envrc", ".vscode"] {
            assert!(!workspace.join(absent).exists(), "{absent}");
        }
        no_special_files(workspace);
    }
}

fn no_special_files(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let found = entry.metadata().unwrap();
        assert_eq!(found.permissions().mode() & 0o6000, 0, "{}", entry.path().display());
        let kind = found.file_type();
        let usual =
            kind.is_file() || kind.is_dir() || kind.is_symlink() || entry.file_name() == "socket";
        assert!(usual, "{}", entry.path().display());
        if kind.is_dir() {
            no_special_files(&entry.path());
        }
    }
}

/// All ways to make special files, from a shell, one after the other.
async fn nothing_comes_out() {
    let folder = Folder::new();
    let script = "cp /bin/true t; chmod u+s t; chmod 6755 t; install -m 4755 /bin/true i; mkdir -m 2777 d; \
                  chmod g+s d; mknod b b 8 0; mknod c c 1 1; cp -a /usr/bin/su s; tar cf x.tar t; tar xpf x.tar; :";
    let job = Job {
        workspace: Some(folder.workspace(Changes::Direct)),
        cwd: folder.workspace.clone(),
        ..crate::helper::shell(script)
    };
    let ran = run(job).await;
    assert_eq!(ran.exit.code, Some(0), "{}", ran.stderr);
    no_special_files(&folder.workspace);
}
