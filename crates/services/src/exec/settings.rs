//! Configuration in the form commands need it.

use std::{path::PathBuf, time::Duration};

use config::{Config, Isolation, Minimum};
use rustix::system::sysinfo;
use sandbox::{Level, Limits};
use tool::Place;

const MIB: u64 = 1 << 20;
/// The least memory that people can build software with.
const LEAST_MEMORY: u64 = 2_048 * MIB;

/// How commands run.
#[derive(Debug, Clone)]
pub(super) struct RunSettings {
    pub(super) minimum: Level,
    /// Whether people are told that isolation is not full.
    pub(super) is_announced: bool,
    /// Whether commands usually run on the host, where the sandbox is not needed.
    pub(super) on_host: bool,
    pub(super) limits: Limits,
    /// Folders besides the usual ones that commands can read.
    pub(super) read: Vec<PathBuf>,
    /// Variables of ours that commands get.
    pub(super) env: Vec<(String, String)>,
    /// The longest a command may run.
    pub(super) timeout: Duration,
    /// What is captured of the output of a command.
    pub(super) output_bytes: usize,
}

impl RunSettings {
    pub(super) fn new(config: &Config) -> Self {
        let isolation = &config.tools.isolation;
        let passed = config.tools.exec.env.value.iter().filter_map(|name| {
            let name = &name.value;
            config::environment(name).map(|value| (name.clone(), value))
        });
        Self {
            minimum: match isolation.minimum.value {
                Minimum::Full => Level::Full,
                Minimum::Auto | Minimum::Reduced => Level::Reduced,
            },
            is_announced: isolation.minimum.value == Minimum::Auto,
            on_host: config.tools.exec.host.value == Place::Host,
            limits: limits(isolation),
            read: isolation.read.value.iter().map(|path| path.value.clone()).collect(),
            env: passed.collect(),
            timeout: config.tools.exec.timeout.value,
            output_bytes: usize::try_from(config.limits.output_bytes.value).unwrap_or(usize::MAX),
        }
    }
}

fn limits(isolation: &Isolation) -> Limits {
    let Isolation { memory, processes, open_files, written, cpu_percent, .. } = isolation;
    let written = written.as_ref().map_or(10_000_000_000, |written| written.value);
    Limits {
        memory_bytes: memory.as_ref().map_or_else(a_quarter, |memory| memory.value),
        processes: processes.as_ref().map_or(2_048, |processes| processes.value),
        cpu_percent: cpu_percent.as_ref().map(|percent| percent.value),
        file_bytes: written,
        open_files: open_files.as_ref().map_or(1_024, |files| files.value),
        written_bytes: written,
    }
}

/// A quarter of the machine's memory.
fn a_quarter() -> u64 {
    let system = sysinfo();
    let total = system.totalram.saturating_mul(u64::from(system.mem_unit));
    (total / 4).max(LEAST_MEMORY)
}
