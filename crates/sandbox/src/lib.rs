//! Runs processes: isolated by the kernel, limited, and never left behind.
//!
//! This crate alone spawns, and it alone has `unsafe` (in `sys`). It must not know tools, stages,
//! policy or storage: a caller says exactly what a command sees, and gets exactly that or an error.
//! A step that fails refuses the call; nothing ever runs weaker than asked for.
//!
//! How a call runs: a *launcher* is our own binary, executed again and waiting ([`init`]). It sits in
//! cgroups and namespaces already, with a root file system that has what every command sees. For a
//! [`Job`] it forks the *first process* of a new process namespace, which mounts what the job names,
//! gives up every right, and starts the command. When the command ends the first process does, and
//! the kernel kills what is left.
//!
//! Where namespaces are forbidden, a launcher on the host starts the command behind Landlock and seccomp
//! alone. [`Sandbox::report`] says which of the two it is, and what is missing.
//!
//! A [`HostJob`] is for commands that are not to be isolated. A launcher of its own stays on the host,
//! starts the command, and adopts what it leaves behind; when the command ends, it kills all of that.
//!
//! Start from [`Sandbox`], which is what you call, and [`Job`], which is what you give it.

mod error;
mod exit;
mod level;
mod limits;
mod mode;
mod report;
mod settings;
mod stats;

// Namespaces, Landlock and seccomp are Linux. Elsewhere there is a `Sandbox` that says so.
#[cfg(target_os = "linux")]
mod ancestry;
#[cfg(target_os = "linux")]
mod cgroup;
#[cfg(target_os = "linux")]
mod channel;
#[cfg(target_os = "linux")]
mod confined;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod features;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod furniture;
#[cfg(target_os = "linux")]
mod id_map;
#[cfg(target_os = "linux")]
mod init;
mod job;
#[cfg(target_os = "linux")]
mod keeper;
#[cfg(target_os = "linux")]
mod launcher;
#[cfg(target_os = "linux")]
mod parked;
#[cfg(target_os = "linux")]
mod pool;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod rights;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(target_os = "linux")]
mod scope;
#[cfg(target_os = "linux")]
mod source;
#[cfg(target_os = "linux")]
mod spec;
#[cfg(target_os = "linux")]
mod stat;
#[cfg(target_os = "linux")]
mod stdio;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod wire;

#[cfg(not(target_os = "linux"))]
pub use self::elsewhere::{Process, Sandbox, descends_from_command, init};
#[cfg(target_os = "linux")]
pub use self::{
    ancestry::descends_from_command,
    init::init,
    process::Process,
    sandbox::Sandbox,
    stdio::{Input, Output},
    sys::watch,
};
pub use self::{
    error::SandboxError,
    exit::{EndedBy, Exit},
    job::{Access, Bind, Changes, Home, HostJob, Job, Network, Scratch, Source, Stdio, Workspace},
    level::Level,
    limits::Limits,
    mode::{IsolationMode, IsolationWalls, LimitKeeper},
    report::{Feature, Found, Report},
    settings::{Cgroups, SandboxSettings},
    stats::SandboxStats,
};
