//! One measurement: so many calls, and what they cost the server.

use std::{
    mem,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use tokio::{task::JoinSet, time::sleep};

use crate::{
    client::Client,
    message::{Call, Endpoint},
    owned::Owned,
};

/// What a server does after it has answered belongs to the call: wait until that is done.
const SETTLE: Duration = Duration::from_millis(100);

/// A round is cut into so many slices, and the servers take turns: how fast a machine is changes within seconds,
/// and so it changes for all of them.
pub(crate) const SLICES: u32 = 10;

/// How much is asked of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) calls: u32,
    pub(crate) connections: u32,
}

/// What a round of calls cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// CPU time of the server, a call.
    pub(crate) cpu: Duration,
    pub(crate) calls_per_second: f64,
}

/// A server that is measured.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    pub(crate) server: Owned,
    pub(crate) endpoint: Endpoint,
    pub(crate) call: Call,
    pub(crate) load: Load,
}

impl Subject {
    /// What the tool says, and how long the whole answer is.
    pub(crate) async fn probe(&self) -> Result<(String, usize)> {
        let answer = async { Client::connect(&self.endpoint, &self.call).await?.call(0).await };
        answer.await.with_context(|| format!("`{}` does not answer as it should", self.name))
    }

    /// Opens connections and warms up.
    pub(crate) async fn warm(&self) -> Result<Round<'_>> {
        let mut clients = Vec::new();
        for _ in 0..self.load.connections {
            clients.push(Client::connect(&self.endpoint, &self.call).await?);
        }
        let clients = spend(clients, warm_up(self.load.calls)).await?;
        sleep(SETTLE).await;
        Ok(Round { subject: self, clients, cpu: Duration::ZERO, took: Duration::ZERO })
    }
}

/// A server in the middle of a round.
#[derive(Debug)]
pub(crate) struct Round<'a> {
    subject: &'a Subject,
    clients: Vec<Client>,
    cpu: Duration,
    took: Duration,
}

impl Round<'_> {
    /// One slice of the calls.
    pub(crate) async fn slice(&mut self) -> Result<()> {
        let (server, calls) = (&self.subject.server, self.subject.load.calls / SLICES);
        let (before, start) = (server.cpu()?, Instant::now());
        let done = spend(mem::take(&mut self.clients), calls).await;
        self.clients = done.with_context(|| format!("`{}` failed", self.subject.name))?;
        self.took += start.elapsed();
        sleep(SETTLE).await;
        self.cpu += server.cpu()?.saturating_sub(before);
        Ok(())
    }

    /// What all slices together cost.
    pub(crate) fn cost(self) -> Cost {
        let calls = self.subject.load.calls;
        let calls_per_second = f64::from(calls) / self.took.as_secs_f64();
        Cost { cpu: self.cpu / calls, calls_per_second }
    }
}

/// How many calls are made before those that count.
pub(crate) const fn warm_up(calls: u32) -> u32 {
    calls / 10
}

/// Makes so many calls, whichever client is free. Every answer is checked.
async fn spend(clients: Vec<Client>, calls: u32) -> Result<Vec<Client>> {
    let next = Arc::new(AtomicU64::new(0));
    let mut working = JoinSet::new();
    for mut client in clients {
        let next = next.clone();
        working.spawn(async move {
            loop {
                let id = next.fetch_add(1, Ordering::Relaxed);
                if id >= u64::from(calls) {
                    return anyhow::Ok(client);
                }
                client.call(id).await?;
            }
        });
    }
    let mut clients = Vec::new();
    while let Some(client) = working.join_next().await {
        clients.push(client??);
    }
    Ok(clients)
}
