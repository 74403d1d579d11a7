//! Commands on the host itself, as the person who started us. What they change is changed.

use std::{
    fs::File,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fs::{Mode, OFlags, ResolveFlags, openat2},
    io::Errno,
    process::geteuid,
};
use sandbox::HostJob;
use tool::{FilePath, Place, Process, Ran, Start, ToolError};
use world::World;

use super::{
    Runner,
    background::{self, Around, Running},
    environment::{Ingredients, Person, on_host},
    foreground::attend,
    identity::Author,
    job::{Asked, shell, stdio},
    pin,
    problem::not_started,
    settings::RunSettings,
    toolchains,
};

pub(super) const NOTE: &str =
    "it ran on the host, outside the sandbox; what it changed cannot be undone";

/// Runs a command to its end.
pub(super) async fn run(runner: &Runner, start: Start<'_>) -> Result<Ran, ToolError> {
    let output_bytes = runner.settings.load().output_bytes;
    let process = begin(runner, start).await?;
    let (ended, output) = attend(process, start, output_bytes).await?;
    let notes = vec![NOTE.to_owned()];
    Ok(Ran { ended, output, place: Place::Host, changed: Vec::new(), notes })
}

/// Starts a command that goes on after its call.
pub(super) async fn start(
    runner: &Runner,
    start: Start<'_>,
) -> Result<Arc<dyn Process>, ToolError> {
    runner.processes.refuse_too_many(start.caller)?;
    let process = begin(runner, start).await?;
    let around = Around::default();
    Ok(background::keep(runner, start, Running { process, place: Place::Host, around }))
}

async fn begin(runner: &Runner, start: Start<'_>) -> Result<sandbox::Process, ToolError> {
    let (settings, world) = (runner.settings.load_full(), runner.world.clone());
    let asked = Asked::from(start);
    let prepare = move || job(&world, &settings, &asked);
    let job = tokio::task::spawn_blocking(prepare).await.map_err(ToolError::internal)??;
    runner.sandbox.start_on_host(job).await.map_err(not_started)
}

/// Puts the job together. May block.
pub(super) fn job(
    world: &World,
    settings: &RunSettings,
    asked: &Asked,
) -> Result<HostJob, ToolError> {
    // Nothing can be mounted over a script here: what follows is the moment after this.
    pin::check(world, settings, asked)?;
    let Asked { run, how, caller, pinned: _ } = asked;
    let root = world.root(caller)?;
    let person = person();
    let shell = shell();
    let env = on_host(
        &Ingredients {
            run,
            terminal: how.terminal,
            toolchains: &toolchains::find(&person.home, &root),
            // `git` finds it where it always does.
            author: &Author::default(),
            passed: &settings.env,
            shell,
        },
        &person,
    );
    Ok(HostJob {
        argv: [shell, "-c", &run.command].map(Into::into).to_vec(),
        file: None,
        cwd: enter(&root, &run.cwd)?,
        env,
        limits: settings.limits.clone(),
        stdio: stdio(*how),
    })
}

/// Opens the folder a command starts in: beneath the workspace by the kernel's word.
fn enter(root: &Path, cwd: &FilePath) -> Result<OwnedFd, ToolError> {
    let beneath = Path::new(cwd.as_str());
    let beneath = beneath.strip_prefix(root).unwrap_or(beneath);
    let beneath = if beneath.as_os_str().is_empty() { Path::new(".") } else { beneath };
    let folder = File::open(root).map_err(ToolError::internal)?;
    open(folder.as_fd(), beneath, OFlags::DIRECTORY).map_err(|errno| match errno {
        Errno::XDEV => ToolError::failed(format!("`{cwd}` is not in the workspace")),
        errno => ToolError::failed(format!("cannot start in `{cwd}`: {errno}")),
    })
}

/// Refuses arguments that lead out of the workspace through a link. In the sandbox there is little to
/// be found there; here there is everything. What names no file is passed over.
pub fn refuse_outside(root: &Path, cwd: &FilePath, words: &[String]) -> Result<(), ToolError> {
    let folder = File::open(root).map_err(ToolError::internal)?;
    let values = |word: &str| -> Vec<String> {
        let attached = word.strip_prefix('-').map(|letters| letters.chars().skip(1).collect());
        let behind = word.split_once('=').map(|(_, value)| value.to_owned());
        [Some(word.to_owned()), attached, behind].into_iter().flatten().collect()
    };
    let leads_out = |value: &String| {
        // As it is written: a link before `..` leads elsewhere.
        let path = Path::new(cwd.as_str()).join(value);
        !value.is_empty()
            && !value.starts_with('/')
            && matches!(open(folder.as_fd(), &path, OFlags::empty()), Err(Errno::XDEV))
    };
    match words.iter().skip(1).flat_map(|word| values(word)).find(leads_out) {
        Some(value) => Err(ToolError::failed(format!("`{value}` leads out of the workspace"))),
        None => Ok(()),
    }
}

fn open(root: BorrowedFd<'_>, beneath: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    // A rename elsewhere in the tree makes the kernel give up on `..`; it rarely happens twice.
    const TRIES: usize = 64;
    let flags = flags | OFlags::PATH | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let open = || openat2(root, beneath, flags, Mode::empty(), resolve);
    let mut opened = open();
    for _ in 0..TRIES {
        if !matches!(opened, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
        opened = open();
    }
    opened
}

/// The person we run as: what the environment says, else what the system does.
fn person() -> Person {
    let set = |name: &str| config::environment(name).filter(|value| !value.is_empty());
    let known = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let known = find(&known, geteuid().as_raw()).unwrap_or_default();
    let name = set("USER").or_else(|| set("LOGNAME")).unwrap_or(known.0);
    Person { name, home: set("HOME").map_or(known.1, PathBuf::from) }
}

/// Name and home folder of a user.
fn find(passwd: &str, id: u32) -> Option<(String, PathBuf)> {
    let id = id.to_string();
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == id).then_some(())?;
        Some((name.to_owned(), fields.nth(2)?.into()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_knows_people_by_number() {
        let passwd = "root:x:0:0:root:/:/bin/sh\nbad\nada:x:1000:1000::/home/ada:/bin/bash\n";
        for (id, expected) in
            [(0, Some(("root", "/"))), (1000, Some(("ada", "/home/ada"))), (7, None)]
        {
            let expected = expected.map(|(name, home)| (name.to_owned(), PathBuf::from(home)));
            assert_eq!(find(passwd, id), expected, "{id}");
        }
    }

    #[test]
    fn a_folder_is_entered_only_beneath_the_workspace() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap().join("workspace");
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("file"), "").unwrap();
        std::os::unix::fs::symlink("a/b", root.join("inside")).unwrap();
        std::os::unix::fs::symlink("/usr", root.join("outside")).unwrap();
        std::os::unix::fs::symlink("..", root.join("above")).unwrap();
        let whole = root.join("a").display().to_string();
        for (cwd, expected) in [
            (".", Ok("")),
            ("a/b", Ok("a/b")),
            ("inside", Ok("a/b")),
            (whole.as_str(), Ok("a")),
            ("outside", Err("`outside` is not in the workspace")),
            ("above", Err("`above` is not in the workspace")),
            ("../x", Err("`../x` is not in the workspace")),
            ("/usr", Err("`/usr` is not in the workspace")),
        ] {
            let entered = enter(&root, &FilePath::new(cwd)).map_err(|error| error.to_string());
            let path = entered.map(|fd| {
                let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&fd));
                std::fs::read_link(link).unwrap()
            });
            let expected = expected.map(|path| root.join(path).components().collect::<PathBuf>());
            assert_eq!(path, expected.map_err(str::to_owned), "{cwd}");
        }
        assert!(enter(&root, &FilePath::new("missing")).is_err());
        assert!(enter(&root, &FilePath::new("file")).is_err());
    }
}
