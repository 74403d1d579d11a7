//! The thread that starts launchers and sees them off.
//!
//! Both take milliseconds, which no call is to wait for.

use std::{
    os::fd::AsFd,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::Duration,
};

use tokio::sync::oneshot;

use crate::{
    SandboxError,
    cgroup::{Bases, Group},
    parked::{Kind, Leaving, Parked},
    pool::Idle,
    wire::{Order, SetUp},
};

// How often it looks whether a launcher that was let go has ended.
const GLANCE: Duration = Duration::from_millis(2);

/// How launchers are made.
#[derive(Debug)]
pub(crate) struct Recipe {
    pub(crate) bases: Option<Bases>,
    pub(crate) set_up: SetUp,
    pub(crate) parked: usize,
}

/// What the thread is asked for.
pub(crate) enum Task {
    /// A launcher.
    Start(Kind, oneshot::Sender<Result<Parked, SandboxError>>),
    /// One to spare, if there is none.
    Refill,
    /// To see off this one.
    Bury(Box<Parked>),
    /// To say when everybody who was let go is gone.
    Flush(oneshot::Sender<()>),
}

/// A way to the thread; when the last one is gone, it lets everybody go and ends.
pub(crate) fn start(recipe: Recipe, idle: Arc<Idle>) -> std::io::Result<Sender<Task>> {
    let (sender, tasks) = channel();
    let keeper = Keeper { recipe, idle, leaving: Vec::new(), waiting: Vec::new() };
    thread::Builder::new().name("launchers".to_owned()).spawn(move || keeper.run(&tasks))?;
    Ok(sender)
}

struct Keeper {
    recipe: Recipe,
    idle: Arc<Idle>,
    leaving: Vec<Leaving>,
    waiting: Vec<oneshot::Sender<()>>,
}

impl Keeper {
    fn run(mut self, tasks: &Receiver<Task>) {
        loop {
            let task = if self.leaving.is_empty() {
                tasks.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                tasks.recv_timeout(GLANCE)
            };
            match task {
                Ok(task) => self.do_task(task),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.glance();
        }
        self.leaving.extend(self.idle.take_all().into_iter().map(Parked::let_go));
        while !self.leaving.is_empty() {
            thread::sleep(GLANCE);
            self.glance();
        }
    }

    fn do_task(&mut self, task: Task) {
        match task {
            Task::Start(kind, answer) => {
                let started = self.launch(kind);
                if let Err(Ok(unwanted)) = answer.send(started) {
                    self.leaving.push(unwanted.let_go());
                }
            }
            Task::Refill => self.refill(),
            Task::Bury(parked) => self.leaving.push(parked.let_go()),
            Task::Flush(answer) => self.waiting.push(answer),
        }
    }

    /// A launcher that cannot be started now may be later, by who needs it and can say so.
    fn refill(&mut self) {
        if self.idle.len() > 0 {
            return;
        }
        let Ok(parked) = self.launch(Kind::Isolated) else { return };
        if let Some(unwanted) = self.idle.put(parked, self.recipe.parked) {
            self.leaving.push(unwanted.let_go());
        }
    }

    fn launch(&self, kind: Kind) -> Result<Parked, SandboxError> {
        let group = self.recipe.bases.as_ref().map(Group::new).transpose();
        let group = group.map_err(SandboxError::Launcher)?;
        let doors = group.as_ref().map_or_else(|| Ok(Vec::new()), Group::doors);
        let doors = doors.map_err(SandboxError::Launcher)?;
        let parked = Parked::spawn(group, kind).map_err(SandboxError::Launcher)?;
        let set_up = |host_network| SetUp { host_network, ..self.recipe.set_up.clone() };
        let order = match kind {
            Kind::Isolated => Order::SetUp(set_up(false)),
            Kind::Networked => Order::SetUp(set_up(true)),
            Kind::OnHost => Order::Stay,
        };
        let doors: Vec<_> = doors.iter().map(AsFd::as_fd).collect();
        parked.order(&order, &doors).map_err(SandboxError::Launcher)?;
        Ok(parked)
    }

    fn glance(&mut self) {
        self.leaving.retain_mut(|leaving| !leaving.is_gone());
        if self.leaving.is_empty() {
            for waiting in self.waiting.drain(..) {
                // Who does not wait any more does not need to know.
                let _nobody = waiting.send(());
            }
        }
    }
}
