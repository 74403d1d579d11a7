//! One program of a harmless line, in its own sandbox or on the host.

use std::{fs::File, path::PathBuf};

use sandbox::{Bind, Changes, Home, HostJob, Job, Process, Scratch, Stdio};
use tool::{Argv, FilePath, Reach, Run, Start, ToolError};
use world::World;

use super::{
    Ground, Runner, credential_masks,
    environment::{HOME, set},
    filter::folder_of,
    host,
    job::{Asked, Guards, Opened, job},
    problem::not_started,
    settings::RunSettings,
};

/// A program that is about to run.
pub(super) struct Argument {
    argv: Argv,
    asked: Asked,
}

impl Argument {
    pub(super) fn new(argv: Argv, cwd: &FilePath, start: Start<'_>) -> Self {
        let asked = Asked::from(start);
        let run = Run { cwd: cwd.clone(), reach: Reach::Nobody, ..asked.run };
        // What a person agreed to was looked at when the line began.
        Self { argv, asked: Asked { run, pinned: None, ..asked } }
    }

    pub(super) async fn begin(
        self,
        runner: &Runner,
        ground: Ground,
        stdio: Stdio,
    ) -> Result<Process, ToolError> {
        let world = runner.world.clone();
        // What is harmless was judged in a plain environment.
        let settings =
            RunSettings { env: Vec::new(), ..RunSettings::clone(&runner.settings.load()) };
        let started = match ground {
            Ground::Sandbox => {
                let prepare = move || self.in_sandbox(&world, &settings, stdio);
                let job = tokio::task::spawn_blocking(prepare).await;
                runner.sandbox.start(job.map_err(ToolError::internal)??).await
            }
            Ground::Host => {
                let prepare = move || self.on_host(&world, &settings, stdio);
                let job = tokio::task::spawn_blocking(prepare).await;
                runner.sandbox.start_on_host(job.map_err(ToolError::internal)??).await
            }
        };
        started.map_err(not_started)
    }

    /// A workspace that cannot be changed, folders that are gone afterwards, and no network.
    fn in_sandbox(
        self,
        world: &World,
        settings: &RunSettings,
        stdio: Stdio,
    ) -> Result<Job, ToolError> {
        let file = self.file()?;
        let path = world.root(&self.asked.caller)?;
        let root = File::open(&path).map_err(ToolError::internal)?.into();
        let changes = Changes::Refused;
        let workspace = Opened { root, path: path.clone(), changes, guards: Guards::default() };
        let mut job = job(world, settings, &self.asked, workspace)?;
        if self.asked.run.secret.is_none() {
            credential_masks::hide(world, &path, &file, &mut job)?;
        }
        let Argv { words, env, folder, .. } = self.argv;
        let mut all = job.env;
        for (name, value) in &env {
            set(&mut all, name, value);
        }
        let seen =
            |bind: &Bind| job.binds.iter().any(|known| bind.target.starts_with(&known.target));
        let own: Vec<_> = file.to_str().map(folder_of).unwrap_or_default();
        let own: Vec<_> = own.into_iter().filter(|bind| !seen(bind)).collect();
        Ok(Job {
            argv: words.into_iter().map(Into::into).collect(),
            file: Some(file),
            cwd: folder.map_or(job.cwd, PathBuf::from),
            env: all,
            binds: job.binds.into_iter().chain(own).collect(),
            temp: Scratch::default(),
            home: Some(Home { target: HOME.into(), scratch: Scratch::default() }),
            stdio,
            ..job
        })
    }

    fn on_host(
        self,
        world: &World,
        settings: &RunSettings,
        stdio: Stdio,
    ) -> Result<HostJob, ToolError> {
        let file = self.file()?;
        let root = world.root(&self.asked.caller)?;
        host::refuse_outside(&root, &self.asked.run.cwd, &self.argv.words)?;
        let job = host::job(world, settings, &self.asked)?;
        let Argv { words, env, folder, .. } = self.argv;
        let mut all = job.env;
        for (name, value) in &env {
            set(&mut all, name, value);
        }
        let cwd = match folder {
            Some(folder) => File::open(folder).map_err(ToolError::internal)?.into(),
            None => job.cwd,
        };
        Ok(HostJob {
            argv: words.into_iter().map(Into::into).collect(),
            file: Some(file),
            cwd,
            env: all,
            stdio,
            ..job
        })
    }

    /// Nothing is looked for here: what was judged is what runs.
    fn file(&self) -> Result<PathBuf, ToolError> {
        let path = self.argv.path.as_ref().map(PathBuf::from);
        path.ok_or_else(|| {
            ToolError::internal("a program of a harmless line is in no trusted folder")
        })
    }
}
