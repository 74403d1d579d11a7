//! What a sandboxed command costs, compared with a plain one: medians of one interleaved run.
//!
//! `cargo run --release -p sandbox --example spawn [ROUNDS]`, on an idle machine.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "an example that measures")]

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use sandbox::{Changes, Job, Level, Sandbox, SandboxSettings, Source, Workspace};

type Outcome<T> = Result<T, Box<dyn Error>>;

const COMMAND: &str = "/bin/true";
const BWRAP: &[&str] = &[
    "--unshare-all",
    "--ro-bind",
    "/usr",
    "/usr",
    "--symlink",
    "usr/bin",
    "/bin",
    "--symlink",
    "usr/lib",
    "/lib",
    "--symlink",
    "usr/lib64",
    "/lib64",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
    "--die-with-parent",
];

fn main() -> Outcome<()> {
    sandbox::init();
    let rounds = std::env::args().nth(1).map_or(Ok(200), |rounds| rounds.parse())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(measure(rounds))
}

async fn measure(rounds: usize) -> Outcome<()> {
    let sandbox = Sandbox::new(SandboxSettings::default());
    let report = sandbox.report().await?;
    println!("level {:?} {}", report.level, report.missing());
    let minimum = report.level.max(Level::Reduced);
    let folder = Path::new("/var/tmp").join(format!("sandbox-spawn-{}", std::process::id()));
    let workspace = folder.join("workspace");
    fs::create_dir(&folder)?;
    sandbox::spread(fs::File::open(&folder)?)?;
    fs::create_dir(&workspace)?;

    let mut times: [(&str, Vec<Duration>); 5] =
        ["plain", "sandbox", "direct", "overlay", "bwrap"].map(|name| (name, Vec::new()));
    for round in 0..rounds + 5 {
        let layers = folder.join(round.to_string());
        fs::create_dir(&layers)?;
        for (name, times) in &mut times {
            let start = Instant::now();
            match *name {
                "plain" => drop(Command::new(COMMAND).status()?),
                "bwrap" => {
                    let status = Command::new("bwrap")
                        .args(BWRAP)
                        .args(["--bind"])
                        .arg(&workspace)
                        .arg(&workspace)
                        .arg(COMMAND)
                        .status();
                    if !status.is_ok_and(|status| status.success()) {
                        continue;
                    }
                }
                "sandbox" => run(&sandbox, job(minimum, None)).await?,
                "direct" => {
                    run(&sandbox, job(minimum, Some((&workspace, Changes::Direct)))).await?;
                }
                _ => {
                    let layers = Source::Path(layers.clone());
                    let changes = Changes::Overlay { layers };
                    run(&sandbox, job(minimum, Some((&workspace, changes)))).await?;
                }
            }
            // The first ones start launchers.
            if round >= 5 {
                times.push(start.elapsed());
            }
            // As between two calls of an agent; a launcher gets ready for its next command.
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    sandbox.shutdown().await;
    fs::remove_dir_all(&folder)?;
    let plain = median(&mut times[0].1);
    for (name, times) in &mut times {
        let median = median(times);
        let ratio = median.as_secs_f64() / plain.as_secs_f64();
        println!("{name:8} {:8.0} µs  {ratio:.2} ×", median.as_secs_f64() * 1e6);
    }
    Ok(())
}

fn job(minimum: Level, workspace: Option<(&PathBuf, Changes)>) -> Job {
    let workspace = workspace.map(|(path, mode)| Workspace {
        source: Source::Path(path.clone()),
        target: path.clone(),
        mode,
    });
    Job { workspace, minimum, ..Job::new([COMMAND]) }
}

async fn run(sandbox: &Sandbox, job: Job) -> Outcome<()> {
    let exit = sandbox.start(job).await?.wait().await?;
    if exit.code == Some(0) { Ok(()) } else { Err(format!("{exit:?}").into()) }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
