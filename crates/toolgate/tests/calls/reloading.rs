//! The configuration changes while calls run.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::{StreamExt, stream};
use serde_json::json;
use store::Journal;
use toolgate::Caller;

use crate::helper::{Setup, With, line};

const CALLS: u64 = 10_000;
const RELOADS: u64 = 100;

/// Longer than anything takes, also on a machine that does much else.
const PATIENCE: Duration = Duration::from_mins(1);

/// Counts how often the policy changed, and says whether `stat` is denied: odd is denied, and each
/// change counts twice, before and after it is made.
#[derive(Default)]
struct Changes(AtomicU64);

impl Changes {
    /// Whether `stat` is denied, if that is certain.
    fn denied(&self) -> (u64, Option<bool>) {
        let count = self.0.load(Ordering::SeqCst);
        (count, count.is_multiple_of(2).then(|| (count / 2).is_multiple_of(2)))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reloads_during_calls_break_none_and_hold_at_once() {
    let denying = "[tools]\ndeny = [\"stat\"]";
    let setup = Setup::with(With {
        config: denying,
        more: |builder| builder.journal(Journal::null()),
        ..With::default()
    });
    let (setup, changes, done) =
        (Arc::new(setup), Arc::new(Changes::default()), Arc::new(AtomicBool::new(false)));
    let reloading = tokio::spawn({
        let (setup, changes, done) = (setup.clone(), changes.clone(), done.clone());
        async move {
            let mut reloads = 0;
            while reloads < RELOADS || !done.load(Ordering::SeqCst) {
                let text = if reloads % 2 == 0 { "" } else { denying };
                let config = config::parse(text, "t.toml").unwrap();
                changes.0.fetch_add(1, Ordering::SeqCst);
                setup.gate.reload(config).unwrap();
                changes.0.fetch_add(1, Ordering::SeqCst);
                reloads += 1;
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            reloads
        }
    });
    let (certain, refused) = (AtomicU64::new(0), AtomicU64::new(0));
    let calls = stream::iter(0..CALLS / 2).map(|_| async {
        let kept = setup.outcome("get_current_time", json!({})).await;
        assert_eq!(kept.status(), "success", "{kept:?}");
        let (before, denied) = changes.denied();
        let outcome = setup.outcome("stat", json!({"path": "hello.txt"})).await;
        let (after, _) = changes.denied();
        match outcome.status() {
            "success" => {}
            "tool_not_available" => drop(refused.fetch_add(1, Ordering::SeqCst)),
            other => panic!("{other}: {outcome:?}"),
        }
        // Nothing changed meanwhile, so there is only one right outcome.
        if let Some(denied) = denied.filter(|_| before == after) {
            certain.fetch_add(1, Ordering::SeqCst);
            assert_eq!(outcome.status() == "success", !denied, "{outcome:?}");
        }
    });
    calls.buffer_unordered(8).for_each(|()| std::future::ready(())).await;
    done.store(true, Ordering::SeqCst);
    let reloads = reloading.await.unwrap();
    let (certain, refused) = (certain.into_inner(), refused.into_inner());
    assert!(reloads >= RELOADS && certain > 0 && refused > 0, "{reloads} {certain} {refused}");
}

/// Waits until `holds`.
async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let begin = Instant::now();
    while !holds().await {
        assert!(begin.elapsed() < PATIENCE, "never: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// multiuser-009: what is broken or half written changes nothing, and is recorded with its line.
#[tokio::test]
async fn a_changed_file_is_taken_over_and_a_broken_one_is_not() {
    let setup = Setup::new();
    let file = setup.data().with_file_name("toolgate.toml");
    let write = |text: &str| {
        // As an editor does it: the file is never seen half written by accident.
        let new = file.with_extension("new");
        fs::write(&new, text).unwrap();
        fs::rename(new, &file).unwrap();
    };
    let _watch = setup.gate.watch(&file, |path: &Path| config::load_with_warnings(path));
    let status = async || setup.outcome("read", json!({"path": "hello.txt"})).await.status();
    assert_eq!(status().await, "success");

    write("[tools]\ndeny = [\"read\"]\n");
    until("read is denied", async || status().await == "tool_not_available").await;

    for (text, said) in [
        ("[tools]\ndeny = [\"read\"", "toolgate.toml:2"),
        (
            "[tools]\ndeny = [\"exce\"]\n",
            "`tools.deny`: no tool is called `exce`; did you mean `exec`?",
        ),
        ("[tools]\ndenny = []\n", "unknown key `tools.denny`; did you mean `tools.deny`?"),
        ("", "took over"),
    ] {
        write(text);
        until(said, async || {
            let last = setup.entries().into_iter().rfind(|entry| entry.tool_name == "reload");
            last.is_some_and(|entry| format!("{entry:?}").contains(said))
        })
        .await;
        let expected = if text.is_empty() { "success" } else { "tool_not_available" };
        assert_eq!(status().await, expected, "{text}");
    }

    fs::remove_file(&file).unwrap();
    until("the file is gone", async || {
        setup.entries().iter().filter(|entry| entry.tool_name == "reload").count() == 6
    })
    .await;
    assert_eq!(status().await, "success");
}

#[tokio::test]
async fn nobody_acts_as_an_agent_that_is_gone() {
    let setup = Setup::new();
    let scribe = Caller::owner("scribe");
    let child =
        Caller { agent: "other".into(), parent: Some(Arc::new(scribe.clone())), ..scribe.clone() };
    let gone = "permission_denied: agent `scribe` was removed, or cannot work any more";
    for (config, expected) in [
        ("[agents.scribe.tools]\ndeny = [\"write\"]", "success"),
        // Without its rules it could do more than before.
        ("", gone),
        ("[tools]\ndeny = [\"write\"]", gone),
        ("[agents.scribe]", "success"),
    ] {
        setup.gate.reload(config::parse(config, "t.toml").unwrap()).unwrap();
        for caller in [&scribe, &child] {
            let outcome = setup.gate.call(caller, "get_current_time", json!({})).await;
            let said = if outcome.status() == "success" { "success" } else { &*line(&outcome) };
            assert_eq!(said, expected, "{config}");
        }
    }
}
