//! The last steps before a command: inside, everything is given up; then it is executed.

use std::{
    ffi::{CString, c_char},
    io,
    os::fd::{BorrowedFd, OwnedFd},
    ptr,
};

use libc::sock_filter;
use rustix::{
    process::{
        Signal, chdir, fchdir, geteuid, ioctl_tiocsctty, set_parent_process_death_signal, setsid,
    },
    thread::{
        CapabilitiesSecureBits, CapabilitySet, CapabilitySets, clear_ambient_capability_set,
        set_capabilities, set_capabilities_secure_bits,
    },
};

use crate::{
    sys::{self, Resource},
    wire::{Answer, Bytes, Ceiling, Failure, Program, Step},
};

/// Why a command did not start.
#[derive(Debug)]
pub(super) enum NotStarted {
    /// A step before it failed.
    SetUp(Failure),
    /// The program cannot be executed.
    Exec(io::Error),
}

impl From<NotStarted> for Answer {
    fn from(why: NotStarted) -> Self {
        match why {
            NotStarted::SetUp(failure) => Self::SetUpFailed(failure),
            NotStarted::Exec(error) => Self::ExecFailed(error.raw_os_error().unwrap_or(libc::EIO)),
        }
    }
}

/// All that is needed, made before there is a process for it.
pub(super) struct Command<'a> {
    pub(super) program: &'a Program,
    pub(super) limits: &'a Ceiling,
    pub(super) stdio: [BorrowedFd<'a>; 3],
    /// Whether those are a terminal that is to be the command's own.
    pub(super) terminal: Option<&'a OwnedFd>,
    pub(super) ground: Ground<'a>,
}

/// Where a command runs.
pub(super) enum Ground<'a> {
    /// Inside, without any right.
    Sandbox { cwd: &'a Bytes, rules: &'a OwnedFd, filters: Vec<&'a [sock_filter]> },
    /// On the host, with ours.
    Host { cwd: BorrowedFd<'a>, cgroups: &'a [OwnedFd], walls: Option<Walls<'a>> },
}

/// What holds a command that shares the host's namespaces.
pub(super) struct Walls<'a> {
    pub(super) rules: &'a OwnedFd,
    pub(super) filter: &'a [sock_filter],
}

/// What `execve` takes: programs to try in order, and two lists of pointers.
struct Image {
    programs: Vec<CString>,
    _strings: Vec<CString>,
    argv: Vec<*const c_char>,
    env: Vec<*const c_char>,
}

impl Command<'_> {
    /// Starts it; returns when it runs.
    pub(super) fn start(&self) -> Result<sys::Child, NotStarted> {
        let image = Image::new(self.program).step("read the command").map_err(NotStarted::SetUp)?;
        // Until it has got as far as the last step it has not started, however it ended.
        let lost = Failure { step: "the process died on its way".to_owned(), errno: libc::EIO };
        let mut failed = Some(NotStarted::SetUp(lost));
        let mut task = || {
            failed = Some(if let Err(failure) = self.prepare() {
                NotStarted::SetUp(failure)
            } else {
                failed = None;
                NotStarted::Exec(image.execute())
            });
            127
        };
        let child = sys::run_and_wait(&mut task);
        let child = child.step("start a process").map_err(NotStarted::SetUp)?;
        match failed {
            None => Ok(child),
            Some(why) => Err(why),
        }
    }

    /// Runs in the new process. The order matters: each step needs what a later one gives up.
    fn prepare(&self) -> Result<(), Failure> {
        let Self { program: _, limits, stdio: [stdin, stdout, stderr], terminal, ground } = self;
        // The launcher has given all of them their usual meaning.
        sys::allow_signals().step("let signals in")?;
        setsid().step("a session")?;
        if let Some(terminal) = terminal {
            ioctl_tiocsctty(terminal).step("a terminal")?;
        }
        rustix::stdio::dup2_stdin(stdin).step("standard input")?;
        rustix::stdio::dup2_stdout(stdout).step("standard output")?;
        rustix::stdio::dup2_stderr(stderr).step("standard error")?;
        match ground {
            Ground::Sandbox { cwd, rules, filters } => {
                chdir(super::places::path(cwd))
                    .step(&format!("enter `{}`", String::from_utf8_lossy(cwd)))?;
                limit(limits).step("set limits")?;
                give_up_capabilities().step("give up capabilities")?;
                sys::no_new_privs().step("no new privileges")?;
                sys::landlock_restrict(rules).step("Landlock")?;
                sys::close_range(3, u32::MAX).step("close descriptors")?;
                filters.iter().try_for_each(|filter| sys::set_filter(filter)).step("seccomp")
            }
            Ground::Host { cwd, cgroups, walls } => {
                set_parent_process_death_signal(Some(Signal::KILL))
                    .step("die with the launcher")?;
                for cgroup in *cgroups {
                    rustix::io::write(cgroup, b"0").step("join the cgroup")?;
                }
                fchdir(cwd).step("enter the folder")?;
                limit(limits).step("set limits")?;
                let Some(Walls { rules, filter }) = walls else {
                    return sys::close_range(3, u32::MAX).step("close descriptors");
                };
                if geteuid().is_root() {
                    give_up_capabilities().step("give up capabilities")?;
                }
                sys::no_new_privs().step("no new privileges")?;
                sys::landlock_restrict(rules).step("Landlock")?;
                sys::close_range(3, u32::MAX).step("close descriptors")?;
                sys::set_filter(filter).step("seccomp")
            }
        }
    }
}

impl Image {
    fn new(program: &Program) -> io::Result<Self> {
        let Program { argv, file, env, path } = program;
        let strings = |list: &[Vec<u8>]| -> io::Result<Vec<CString>> {
            list.iter().map(|bytes| Ok(CString::new(bytes.clone())?)).collect()
        };
        let name = argv.first().ok_or(io::ErrorKind::InvalidInput)?;
        let programs =
            file.as_ref().map_or_else(|| candidates(name, path), |file| vec![file.clone()]);
        let programs = strings(&programs)?;
        let (mut argv, env) = (strings(argv)?, strings(env)?);
        let pointers = |list: &[CString]| -> Vec<_> {
            list.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
        };
        let (argv_pointers, env_pointers) = (pointers(&argv), pointers(&env));
        argv.extend(env);
        Ok(Self { programs, _strings: argv, argv: argv_pointers, env: env_pointers })
    }

    /// Tries each in turn, as a shell does. Returns only if none can be executed.
    fn execute(&self) -> io::Error {
        let mut refused = None;
        let mut last = io::Error::from_raw_os_error(libc::ENOENT);
        for program in &self.programs {
            let error = sys::execute(program, &self.argv, &self.env);
            match error.raw_os_error() {
                Some(libc::ENOENT | libc::ENOTDIR) => last = error,
                // A later one may do; if none does, this is what to say.
                Some(libc::EACCES) => refused = Some(error),
                _ => return error,
            }
        }
        refused.unwrap_or(last)
    }
}

/// The files a name may stand for.
fn candidates(name: &[u8], path: &[u8]) -> Vec<Vec<u8>> {
    if name.contains(&b'/') || name.is_empty() {
        return vec![name.to_vec()];
    }
    let folders = path.split(|byte| *byte == b':').filter(|folder| !folder.is_empty());
    folders.map(|folder| [folder, b"/", name].concat()).collect()
}

fn limit(ceiling: &Ceiling) -> io::Result<()> {
    let Ceiling { open_files, file_bytes, written_bytes: _, shared_bytes: _, memory: _, processes } =
        ceiling;
    lower(Resource::Core, 0)?;
    lower(Resource::OpenFiles, *open_files)?;
    lower(Resource::FileSize, *file_bytes)?;
    if let Some(processes) = processes {
        lower(Resource::Processes, *processes)?;
    }
    Ok(())
}

/// What is lower already stays.
fn lower(resource: Resource, to: u64) -> io::Result<()> {
    let hard = sys::hard_limit(resource)?.min(to);
    sys::set_limit(resource, hard)
}

fn give_up_capabilities() -> io::Result<()> {
    sys::drop_bounding_set()?;
    clear_ambient_capability_set()?;
    // Being user 0 of a namespace would mean nothing either.
    set_capabilities_secure_bits(
        CapabilitiesSecureBits::NO_ROOT
            | CapabilitiesSecureBits::NO_ROOT_LOCKED
            | CapabilitiesSecureBits::NO_SETUID_FIXUP
            | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
            | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED,
    )?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_for_in_the_folders_of_the_path() {
        for (name, path, expected) in [
            ("ls", "/usr/bin:/bin", vec!["/usr/bin/ls", "/bin/ls"]),
            ("./ls", "/usr/bin", vec!["./ls"]),
            ("/bin/ls", "", vec!["/bin/ls"]),
            // An empty entry would mean the current folder.
            ("ls", ":/bin:", vec!["/bin/ls"]),
            ("ls", "", vec![]),
            ("", "/bin", vec![""]),
        ] {
            let found = candidates(name.as_bytes(), path.as_bytes());
            let found: Vec<_> = found.iter().map(|name| str::from_utf8(name).unwrap()).collect();
            assert_eq!(found, expected, "{name} in {path}");
        }
    }
}
