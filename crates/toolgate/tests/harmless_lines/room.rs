//! The sandbox in which lines run, and what is seen of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use sandbox::{
    Access, Bind, Changes, Job, Level, Limits, Sandbox, SandboxSettings, Scratch, Source, Workspace,
};
use tempfile::TempDir;

/// Programs that are themselves in the room; every other name only writes down that it ran.
const REAL: &[&str] = &[
    "[", "awk", "basename", "cat", "cut", "date", "dirname", "echo", "expr", "false", "find",
    "git", "grep", "head", "ls", "printf", "pwd", "sed", "seq", "sort", "stat", "tail", "tar",
    "test", "tr", "true", "uniq", "wc", "xargs",
];
/// What no output may have.
pub(crate) const SECRET: &str = "planted-secret-3f9c";
/// What only lines may print whose words are not all known before they run: such a word can name
/// any file that the sandbox shows, and in the real one there is nothing secret among those.
pub(crate) const OUTSIDE: &str = "planted-outside-81d2";
/// Files that are hidden in the sandbox of harmless lines.
const HIDDEN: &[&str] = &[".env", "deploy/server.key", "deploy/.aws/credentials", "id_rsa"];

/// Writes down that it ran.
const SHIM: &str = "#!@REAL@/bash -p\nprintf '%s\\n' \"${0##*/} $*\" >>@LOG@\n";

/// Runs one line after the other, each in a shell of its own.
const DRIVER: &str = r#"
mapfile -d '' -t lines <"$1/lines"
cd "$1/ws" || exit 1
for ((at = 0; at < ${#lines[@]}; at++)); do
    printf '\036%s\n' "$at" >>"$1/log"
    printf '\036%s\n' "$at" >>"$1/out"
    "$2/timeout" -s KILL 20 "$2/bash" -p -c "${lines[at]}" 2>&1 </dev/null | "$2/head" -c 200000 >>"$1/out"
    if ((PIPESTATUS[0] == 137)); then printf '%s\n' "$at" >>"$1/endless"; fi
done
"#;

/// What was seen of some lines, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) started: BTreeMap<usize, Vec<String>>,
    pub(crate) leaked: BTreeSet<usize>,
    /// Lines that printed a file outside the workspace.
    pub(crate) outside: BTreeSet<usize>,
    pub(crate) endless: Vec<usize>,
    /// Files that are there, gone or different afterwards.
    pub(crate) changed: Vec<String>,
}

pub(crate) struct Room {
    folder: TempDir,
    sandbox: Sandbox,
    runtime: tokio::runtime::Runtime,
}

pub(crate) fn is_real(name: &str) -> bool {
    name == "bash" || REAL.contains(&name)
}

impl Room {
    pub(crate) fn new() -> Self {
        // Not in `/tmp`, which is another one inside.
        let folder = tempfile::Builder::new().prefix("lines-").tempdir_in("/var/tmp").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let settings = SandboxSettings { system: Vec::new(), ..SandboxSettings::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let room = Self { folder, sandbox: Sandbox::new(settings), runtime };
        room.furnish();
        room.workspace();
        room
    }

    fn tools(&self) -> PathBuf {
        self.folder.path().join("tools")
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn root(&self, path: &str) -> PathBuf {
        self.folder.path().join("root").join(path.trim_start_matches('/'))
    }

    /// Programs, and shims under every other name that this machine has.
    fn furnish(&self) {
        let real = self.tools().join("real");
        let shim = SHIM.replace("@REAL@", real.to_str().unwrap());
        let shim = shim.replace("@LOG@", self.work().join("log").to_str().unwrap());
        let folders = ["/usr/bin", "/bin", "/usr/local/bin"];
        let mut programs: Vec<_> =
            ["bash", "head", "timeout"].map(|name| (find(name), real.join(name))).to_vec();
        for folder in folders {
            let names =
                fs::read_dir(folder).into_iter().flatten().flatten().map(|one| one.file_name());
            let names: BTreeSet<_> = names.filter_map(|name| name.into_string().ok()).collect();
            let more = ["sh", "evil", "evil.sh"].map(str::to_owned);
            for name in names.into_iter().chain(more) {
                write(&self.root(folder).join(name), &shim, 0o755);
            }
        }
        for name in REAL {
            programs.push((find(name), self.root("/usr/bin").join(name)));
        }
        for (from, to) in &programs {
            copy(from, to, 0o755);
        }
        for file in libraries(programs.iter().map(|(from, _)| from.as_path())) {
            copy(&file, &self.root(file.to_str().unwrap()), 0o755);
        }
        for name in ["passwd", "shadow", "group"] {
            write(
                &self.root("/etc").join(name),
                &format!("root:x:0:0:{OUTSIDE}:/root:/bin/sh\n"),
                0o644,
            );
        }
        write(&self.tools().join("driver"), DRIVER, 0o644);
    }

    fn workspace(&self) {
        let ws = self.work().join("ws");
        let secret = format!("KEY={SECRET}\n");
        for (name, text) in [
            ("a.txt", "one x 1\ntwo y 2\none x 3\n"),
            ("b.txt", "one x 1\nthree 5\n"),
            ("data.csv", "a,3\nb,1\n"),
            ("list", "a.txt\n../x\n/etc/passwd\n.env\n"),
            ("list0", "a.txt\0/etc/passwd\0"),
            ("prog.awk", "BEGIN{system(\"touch x\")}\n"),
            ("s.sed", "w OUT\n"),
            ("src/main.rs", "fn main() {}\n"),
            ("src/lib.rs", ""),
            ("-o", "x\n"),
            ("--output=OUT", "x\n"),
            ("-exec", "x\n"),
            ("$(touch OUT)", "x\n"),
            ("a[$(touch OUT)]", "1\n"),
            ("evil.sh", "touch OUT\n"),
        ] {
            write(&ws.join(name), text, if name == "evil.sh" { 0o755 } else { 0o644 });
        }
        // By its name this is no secret, so a line may print it.
        write(&ws.join("server.txt"), "nothing\n", 0o644);
        for name in HIDDEN {
            write(&ws.join(name), &secret, 0o644);
        }
        let git = |args: &[&str]| {
            #[expect(clippy::disallowed_methods, reason = "the test makes a repository")]
            let mut git = Command::new("git");
            git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]).args(args);
            assert!(git.current_dir(&ws).output().unwrap().status.success(), "{args:?}");
        };
        git(&["init", "-q", "."]);
        git(&["add", "-f", "."]);
        git(&["commit", "-qm", "first"]);
        write(&ws.join("a.txt"), "one x 1\ntwo y 2\none x 3\nmore\n", 0o644);
        write(&ws.join(".env"), &format!("{secret}two\n"), 0o644);
        git(&["commit", "-qam", "second"]);
        git(&["tag", "-a", "v1", "-m", "v1"]);
        write(&ws.join(".env"), &format!("{secret}three\n"), 0o644);
        git(&["stash", "-q"]);
        for (name, program) in [
            ("core.fsmonitor", "evil"),
            ("core.pager", "evil"),
            ("diff.external", "evil"),
            ("core.sshCommand", "evil"),
            ("gpg.program", "evil"),
        ] {
            git(&["config", name, program]);
        }
        #[expect(clippy::disallowed_methods, reason = "the test makes an archive")]
        let tar =
            Command::new("tar").args(["-cf", "a.tar", "a.txt", "src"]).current_dir(&ws).status();
        assert!(tar.unwrap().success());
        open_to_all(&self.work());
    }

    /// Every file of the workspace and what is in it. The index of git is left out: `git diff` notes
    /// in it which files have not changed, where it can.
    pub(crate) fn snapshot(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        snapshot(&self.work().join("ws"), "", &mut found);
        found.remove("/.git/index");
        found
    }

    /// Runs the lines one after the other.
    pub(crate) fn run(&self, lines: &[String]) -> Seen {
        let work = self.work();
        for name in ["log", "out", "endless"] {
            fs::write(work.join(name), "").unwrap();
        }
        fs::write(work.join("lines"), lines.join("\0") + "\0").unwrap();
        open_to_all(&work);
        let before = self.snapshot();
        let exit = self.runtime.block_on(async {
            let process = self.sandbox.start(self.job()).await.unwrap();
            let mut process = process;
            drop(process.take_stdin());
            process.wait().await.unwrap()
        });
        let log = fs::read_to_string(work.join("log")).unwrap();
        let last = format!("\u{1e}{}\n", lines.len() - 1);
        assert!(log.contains(&last), "not all lines ran: {exit:?}");
        let mut seen = Seen::default();
        for (at, text) in parts(&log) {
            if !text.is_empty() {
                seen.started.entry(at).or_default().extend(text.lines().map(str::to_owned));
            }
        }
        let out = fs::read(work.join("out")).unwrap();
        for (at, text) in parts(&String::from_utf8_lossy(&out)) {
            if text.contains(SECRET) {
                seen.leaked.insert(at);
            }
            if text.contains(OUTSIDE) {
                seen.outside.insert(at);
            }
        }
        let endless = fs::read_to_string(work.join("endless")).unwrap();
        seen.endless.extend(endless.lines().filter_map(|line| line.parse::<usize>().ok()));
        let after = self.snapshot();
        let changed = |(name, text): (&String, &Vec<u8>)| {
            (before.get(name) != Some(text)).then(|| name.clone())
        };
        seen.changed.extend(after.iter().filter_map(changed));
        seen.changed.extend(before.keys().filter(|name| !after.contains_key(*name)).cloned());
        // The planted line of the first test leaves something behind.
        let _ = fs::remove_file(work.join("ws/written"));
        seen
    }

    fn job(&self) -> Job {
        let work = self.work();
        let real = self.tools().join("real");
        let argv: [OsString; 6] = [
            real.join("bash").into(),
            "--norc".into(),
            "--noprofile".into(),
            self.tools().join("driver").into(),
            work.clone().into(),
            real.into(),
        ];
        let root = self.root("/");
        let tops = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path());
        let mut binds: Vec<_> =
            tops.map(|top| (Path::new("/").join(top.file_name().unwrap()), top)).collect();
        binds.push((self.tools(), self.tools()));
        let bind = |(target, source)| Bind {
            source: Source::Path(source),
            target,
            access: Access::ReadOnly,
        };
        Job {
            cwd: work.clone(),
            env: vec![
                ("PATH".into(), "/usr/bin:/bin".into()),
                ("HOME".into(), "/tmp".into()),
                ("LANG".into(), "C".into()),
            ],
            binds: binds.into_iter().map(bind).collect(),
            masked: HIDDEN.iter().map(|name| work.join("ws").join(name)).collect(),
            workspace: Some(Workspace {
                source: Source::Path(work.canonicalize().unwrap()),
                target: work,
                mode: Changes::Direct,
            }),
            temp: Scratch::Memory { max_bytes: 64 << 20 },
            limits: Limits { memory_bytes: 4 << 30, file_bytes: 512 << 20, ..Limits::default() },
            minimum: Level::Reduced,
            ..Job::new(argv)
        }
    }
}

/// What stands behind each number.
fn parts(text: &str) -> Vec<(usize, String)> {
    let part = |part: &str| {
        let (at, text) = part.split_once('\n')?;
        Some((at.parse().ok()?, text.to_owned()))
    };
    text.split('\u{1e}').filter_map(part).collect()
}

fn snapshot(folder: &Path, name: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            found.insert(name.clone(), Vec::new());
            snapshot(&entry.path(), &name, found);
        } else {
            found.insert(name, fs::read(entry.path()).unwrap_or_default());
        }
    }
}

/// Commands run as another user if we are root.
fn open_to_all(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            open_to_all(&entry.path());
        }
        if !kind.is_symlink() {
            let runs = entry.metadata().unwrap().permissions().mode() & 0o111 != 0;
            let mode = if kind.is_dir() || runs { 0o777 } else { 0o666 };
            fs::set_permissions(entry.path(), fs::Permissions::from_mode(mode)).unwrap();
        }
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
}

fn find(name: &str) -> PathBuf {
    let folders = ["/usr/bin", "/bin", "/usr/local/bin"];
    let mut places = folders.iter().map(|folder| Path::new(folder).join(name));
    let found = places.find(|path| path.exists());
    let found = found.unwrap_or_else(|| panic!("this machine has no `{name}`"));
    fs::canonicalize(found).unwrap()
}

/// The libraries of some programs.
fn libraries<'a>(programs: impl Iterator<Item = &'a Path>) -> Vec<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "it only lists what is loaded")]
    let list = Command::new("ldd").args(programs).output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    let path = |line: &str| {
        let mut words = line.split_whitespace();
        words.find(|word| word.starts_with('/') && !word.ends_with(':')).map(PathBuf::from)
    };
    list.lines().filter_map(path).collect()
}

fn copy(from: &Path, to: &Path, mode: u32) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    let _ = fs::remove_file(to);
    fs::copy(from, to).unwrap();
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).unwrap();
}

fn write(path: &Path, text: &str, mode: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
