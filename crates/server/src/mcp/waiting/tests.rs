use tokio::{
    sync::{Barrier, Notify},
    task::yield_now,
    time::sleep,
};

use super::{
    super::{
        client::{Client, ProgressToken},
        driven::Reins,
    },
    *,
};

const MINUTE: Duration = Duration::from_mins(1);
const NOW: SystemTime = SystemTime::UNIX_EPOCH;

fn form(text: &str) -> Map<String, Value> {
    crate::events::fields(json!({"approval": {"method": "elicitation/create", "params": text}}))
}

fn bound() -> Bound {
    let [who, place, what] = ["who", "place", "what"].map(Digest::of);
    Bound { who, place, what }
}

/// A request that asks: what it wants, and itself.
async fn asking<F>(work: impl FnOnce(Client) -> F) -> (Driven, Ask)
where
    F: Future<Output = Answered> + Send + 'static,
{
    let (client, outs) = Client::new(Arc::default());
    let cancel = CancellationToken::new();
    let reins = Reins { cancel, progress_token: ProgressToken::new(None) };
    let mut driven = Driven::new(work(client), outs, reins);
    let Step::Out(Out::Ask(ask)) = driven.step().await else { panic!("it asks") };
    (driven, ask)
}

/// One that asks once.
async fn simple() -> (Driven, Ask) {
    asking(async |client| {
        let answers = client.ask(form("a question")).await;
        Ok(crate::events::fields(json!({"answers": answers})))
    })
    .await
}

impl Waiting {
    /// Lets it wait, and gives its name.
    fn parked(self: &Arc<Self>, request: (Driven, Ask)) -> String {
        let told = self.park(request, (bound(), None), (NOW, MINUTE)).ok().unwrap();
        told["requestState"].as_str().unwrap().to_owned()
    }

    async fn come_back(&self, state: String, answers: &Map<String, Value>) -> Resumed {
        let taken = self.take(&state, bound(), NOW).await.ok().unwrap();
        taken.resume(Back { state, answers: answers.clone(), progress_token: None })
    }
}

#[tokio::test]
async fn what_a_client_was_not_shown_it_does_not_answer() {
    let waiting = Arc::new(Waiting::new().unwrap());
    let elsewhere = Arc::new(Notify::new());
    let answered_elsewhere = elsewhere.clone();
    let request = asking(async move |client| {
        tokio::select! {
            _ = client.ask(form("the first question")) => {}
            () = answered_elsewhere.notified() => {}
        }
        let answers = client.ask(form("the second question")).await;
        Ok(crate::events::fields(json!({"answers": answers})))
    });
    let state = waiting.parked(request.await);
    elsewhere.notify_one();
    for _ in 0..50 {
        yield_now().await;
    }
    let answers = form("yes");
    let Resumed::Again(driven, ask) = waiting.come_back(state, &answers).await else {
        panic!("it asks again")
    };
    assert_eq!(ask.requests, form("the second question"));
    let state = waiting.parked((driven, ask));
    let Resumed::GoesOn(mut driven) = waiting.come_back(state, &answers).await else {
        panic!("it goes on")
    };
    let mut step = driven.step().await;
    // That the first question is over is said, too.
    while let Step::Out(Out::Withdraw(_)) = step {
        step = driven.step().await;
    }
    let Step::Done(Ok(done)) = step else { panic!("it is done") };
    assert_eq!(done["answers"], Value::Object(form("yes")));
}

#[tokio::test(start_paused = true)]
async fn what_was_allowed_elsewhere_has_a_time_of_its_own_and_its_result_is_kept_for_a_while() {
    for (back_after, comes) in [(Duration::ZERO, true), (KEPT + MINUTE, false)] {
        let waiting = Arc::new(Waiting::new().unwrap());
        let request = asking(async |client| {
            tokio::select! {
                _ = client.ask(form("a question")) => {}
                () = sleep(MINUTE / 2) => {}
            }
            sleep(MINUTE * 10).await;
            Ok(crate::events::fields(json!({"done": true})))
        });
        let state = waiting.parked(request.await);
        sleep(MINUTE * 11 + back_after).await;
        let taken = waiting.take(&state, bound(), NOW).await;
        assert_eq!(taken.is_ok(), comes);
        if let Ok(taken) = taken {
            let back = Back::empty(None);
            assert!(matches!(taken.resume(back), Resumed::Done(Ok(done)) if done["done"] == true));
        }
        assert_eq!(waiting.count(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn what_nobody_answers_ends_with_its_time_or_when_nobody_can_come_back() {
    let waiting = Arc::new(Waiting::new().unwrap());
    let over = waiting.until_dropped();
    waiting.parked(simple().await);
    sleep(MINUTE * 2).await;
    assert_eq!(waiting.count(), 0);
    waiting.parked(simple().await);
    yield_now().await;
    assert_eq!(waiting.count(), 1);
    drop(over);
    sleep(Duration::from_millis(1)).await;
    assert_eq!(waiting.count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_one_client_only_so_many_wait_however_many_come_at_once() {
    let waiting = Arc::new(Waiting::new().unwrap());
    let all = Arc::new(Barrier::new(MOST_OF_ONE * 2));
    let tries = (0..MOST_OF_ONE * 2).map(|_| {
        let (waiting, all) = (waiting.clone(), all.clone());
        tokio::spawn(async move {
            let request = simple().await;
            all.wait().await;
            waiting.park(request, (bound(), None), (NOW, MINUTE)).is_ok()
        })
    });
    let parked = futures_util::future::join_all(tries).await;
    let parked = parked.into_iter().filter(|parked| *parked.as_ref().unwrap()).count();
    assert_eq!((parked, waiting.count()), (MOST_OF_ONE, MOST_OF_ONE));
}

#[tokio::test]
async fn a_client_that_has_nothing_more_to_ask_with_gets_its_oldest_question_again() {
    let waiting = Arc::new(Waiting::new().unwrap());
    let (first, second) = (waiting.parked(simple().await), waiting.parked(simple().await));
    let other = Bound { what: Digest::of("something else"), ..bound() };
    assert!(waiting.take_same(bound(), 3).await.is_none(), "another question may be asked");
    assert!(waiting.take_same(other, 2).await.is_none(), "nothing of the kind waits");
    let elsewhere = Bound { place: Digest::of("another session"), ..bound() };
    let asked = waiting.park(simple().await, (elsewhere, None), (NOW, MINUTE));
    assert!(asked.is_ok());
    assert!(waiting.take_same(elsewhere, 2).await.is_none(), "only one was asked in that session");
    let stranger = Bound { who: Digest::of("somebody else"), ..bound() };
    assert!(waiting.take_same(stranger, 0).await.is_none(), "it is somebody else's");
    let taken = waiting.take_same(bound(), 2).await.unwrap();
    let again = taken.resume(Back::empty(None));
    assert!(matches!(again, Resumed::Again(_, ask) if ask.requests == form("a question")));
    assert!(waiting.take(&first, bound(), NOW).await.is_err());
    assert!(waiting.take(&second, bound(), NOW).await.is_ok());
}
