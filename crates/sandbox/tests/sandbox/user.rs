//! Everything again, as an ordinary user: once without cgroups, once with some of its own.

use std::{
    fs,
    os::unix::{fs::chown, process::CommandExt},
    path::PathBuf,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use crate::helper::is_counted;
use libtest_mimic::{Failed, Trial};

pub(crate) const USER: u32 = 64_991;
const GROUP: &str = "SANDBOX_TEST_GROUP";
/// Set for a process that is to do without user namespaces.
pub(crate) const WITHOUT_NAMESPACES: &str = "SANDBOX_TEST_WITHOUT_NAMESPACES";

pub(crate) fn trials() -> Vec<Trial> {
    if std::env::var_os(WITHOUT_NAMESPACES).is_some() {
        return Vec::new();
    }
    let mut trials = vec![
        Trial::test("confined_without_namespaces", || without_namespaces("confined")),
        Trial::test("bombs_without_namespaces", || without_namespaces("bomb: ")),
    ];
    if !is_root() {
        return trials;
    }
    trials.extend([
        Trial::test("everything_again_as_a_user", || again(&[])),
        Trial::test("limits_again_as_a_user_with_cgroups", || {
            if !is_counted() {
                // Root has none to give away here.
                return Ok(());
            }
            let groups = Groups::new();
            again(&groups.0)
        }),
    ]);
    trials
}

/// Runs this binary where no user namespace can be made.
fn without_namespaces(tests: &str) -> Result<(), Failed> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--test-threads=2", tests]).env(WITHOUT_NAMESPACES, "1");
    let output = command.stdin(Stdio::null()).output()?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let said = format!("{}\n{}", text(&output.stdout), text(&output.stderr));
    // A name that fits nothing would be no test.
    let ran = !said.contains("running 0 tests");
    if output.status.success() && ran { Ok(()) } else { Err(said.into()) }
}

/// What a process that is to live in groups waits for, before it looks where it lives.
pub(crate) fn wait_for_groups() {
    let Ok(name) = std::env::var(GROUP) else { return };
    let inside = || fs::read_to_string("/proc/self/cgroup").unwrap().matches(&name).count() == 3;
    while !inside() {
        thread::sleep(Duration::from_millis(5));
    }
    assert!(is_counted());
}

/// Runs this binary as somebody else, from a place everybody can read.
fn again(groups: &[PathBuf]) -> Result<(), Failed> {
    let folder = tempfile::Builder::new().prefix("sandbox-user-").tempdir_in("/var/tmp")?;
    let base = folder.path().canonicalize()?;
    let program = base.join("tests");
    fs::copy(std::env::current_exe()?, &program)?;
    chown(&base, Some(USER), Some(USER))?;
    let mut command = Command::new(&program);
    command.arg("--test-threads=2").env_clear().uid(USER).gid(USER);
    command.env("PATH", "/usr/bin:/bin").env("HOME", &base).env("SANDBOX_TEST_BASE", &base);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if !groups.is_empty() {
        command.arg("limit").env(GROUP, Groups::name());
    }
    let child = command.spawn()?;
    for group in groups {
        fs::write(group.join("cgroup.procs"), child.id().to_string())?;
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Err(format!("{}\n{}", text(&output.stdout), text(&output.stderr)).into())
}

pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|found| std::os::unix::fs::MetadataExt::uid(&found) == 0)
}

/// Groups beneath our own that belong to the user.
pub(crate) struct Groups(pub(crate) Vec<PathBuf>);

impl Groups {
    fn name() -> String {
        format!("toolgate-test-{}", std::process::id())
    }

    pub(crate) fn new() -> Self {
        Self::named(&Self::name())
    }

    pub(crate) fn named(name: &str) -> Self {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap();
        let mut groups = Vec::new();
        for line in own.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
            if !["memory", "pids", "cpu"].contains(&controllers) {
                continue;
            }
            let base = PathBuf::from("/sys/fs/cgroup").join(controllers);
            let group = base.join(path.trim_start_matches('/')).join(name);
            fs::create_dir(&group).unwrap();
            for file in ["", "cgroup.procs"] {
                chown(group.join(file), Some(USER), Some(USER)).unwrap();
            }
            groups.push(group);
        }
        Self(groups)
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        for group in &self.0 {
            for _ in 0..200 {
                // Those of a process that was killed are only removed when the next one starts.
                for inner in fs::read_dir(group).into_iter().flatten().flatten() {
                    drop(fs::remove_dir(inner.path()));
                }
                if fs::remove_dir(group).is_ok() {
                    break;
                }
                thread::sleep(Duration::from_millis(10));
            }
        }
    }
}
