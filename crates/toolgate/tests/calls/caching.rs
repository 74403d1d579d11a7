//! Results that are used again.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolgate::{Caller, Info, Profile, Tool, ToolContext, ToolOutput, ToolResult};

use crate::helper::{Setup, With, line};

static RUNS: AtomicUsize = AtomicUsize::new(0);

/// Say how often this ran, and for whom.
#[derive(Deserialize, JsonSchema)]
struct Mine {
    /// Something to tell calls apart by.
    #[serde(default)]
    about: u64,
}

impl Tool for Mine {
    const NAME: &'static str = "mine";
    const INFO: Info = Info {
        cache: Some(Duration::from_hours(1)),
        profiles: &[Profile::Gateway],
        ..Info::DEFAULT
    };

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let run = RUNS.fetch_add(1, Ordering::SeqCst);
        Ok(ToolOutput::text(format!("{} {} {run}", ctx.caller().user, self.about)))
    }
}

fn setup() -> Setup {
    Setup::with(With { more: |builder| builder.tool::<Mine>(), ..With::default() })
}

async fn call(setup: &Setup, caller: &Caller, args: Value) -> String {
    line(&setup.gate.call(caller, "mine", args).await)
}

/// multiuser-011: whoever asks the same gets an answer that was made for them.
#[tokio::test]
async fn a_result_is_used_again_for_the_same_caller_only() {
    let setup = setup();
    let in_session = |caller: Caller, session: &str| Caller { session: session.into(), ..caller };
    let callers = [
        Caller::owner("main"),
        Caller::owner("other"),
        Caller::member("ada", "main"),
        Caller::member("bo", "main"),
        in_session(Caller::member("bo", "main"), "second"),
    ];
    let mut seen = Vec::new();
    for caller in &callers {
        let first = call(&setup, caller, json!({})).await;
        assert!(first.starts_with(&*caller.user), "{first} for {caller:?}");
        assert_eq!(call(&setup, caller, json!({})).await, first);
        assert_ne!(call(&setup, caller, json!({"about": 1})).await, first);
        assert!(!seen.contains(&first), "{first} was made for somebody else");
        seen.push(first);
    }
    let answered = setup.entries().into_iter().filter(|entry| entry.answered_by.is_some());
    assert_eq!(answered.count(), callers.len());
    // Under another policy it is another question.
    setup.gate.reload(config::parse("", "t.toml").unwrap()).unwrap();
    assert!(!seen.contains(&call(&setup, &callers[0], json!({})).await));
}
