#![allow(clippy::all, clippy::pedantic, clippy::restriction, missing_docs)]
use serde_json::json;
use std::{sync::Arc, time::*};
use store::*;
use tool::*;
#[derive(Debug)]
struct Now;
impl Clock for Now {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}
fn intent(call: CallId, caller: &Arc<Caller>, tool: &Arc<str>) -> Record {
    Record::Intent(Box::new(Intent {
        call,
        provider_call_id: None,
        message_id: None,
        caller: caller.clone(),
        tool: tool.clone(),
        input: json!({"path":"src/lib.rs","limit":200}),
        plan: json!([{"read":"src/lib.rs"}]),
        effects: Effects::of(&[Effect::Read]),
        decision: "allow".into(),
        rule: "smart".into(),
        reason: "reads only".into(),
        started: SystemTime::now(),
    }))
}
fn outcome(call: CallId) -> Record {
    Record::Outcome(Box::new(Ending {
        call,
        error_type: None,
        message: None,
        detail: None,
        output: json!("a text of some length ".repeat(10)),
        decision: "allow".into(),
        rule: "smart".into(),
        approval: None,
        place: None,
        effects: Effects::of(&[Effect::Read]),
        changed: json!([]),
        duration_ms: 3,
        answered_by: None,
        finished: SystemTime::now(),
    }))
}
fn main() {
    let rt =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let dir = std::path::PathBuf::from(std::env::args().nth(1).unwrap());
    let t = Instant::now();
    let j = Journal::open(&dir, Arc::new(Now)).unwrap();
    println!("open {:?}", t.elapsed());
    let ids = CallIds::new(Arc::new(Now));
    let caller = Arc::new(Caller::owner("main"));
    let tool: Arc<str> = "read".into();
    rt.block_on(async {
        let n = 20000;
        let mut each = Vec::with_capacity(2 * n);
        let t = Instant::now();
        for _ in 0..n {
            let c = ids.next();
            let s = Instant::now();
            j.append(vec![intent(c, &caller, &tool)], Durability::Process).await.unwrap();
            each.push(s.elapsed());
            let s = Instant::now();
            j.append(vec![outcome(c)], Durability::Process).await.unwrap();
            each.push(s.elapsed());
        }
        println!("mean {:?} per record", t.elapsed() / (2 * n as u32));
        each.sort();
        println!(
            "median {:?} p99 {:?} p999 {:?} max {:?}",
            each[n],
            each[2 * n * 99 / 100],
            each[2 * n * 999 / 1000],
            each[2 * n - 1]
        );
        let t = Instant::now();
        for _ in 0..50 {
            let c = ids.next();
            j.append(vec![intent(c, &caller, &tool), outcome(c)], Durability::Disk).await.unwrap();
        }
        println!("disk one {:?}", t.elapsed() / 50);
        let t = Instant::now();
        let mut all = vec![];
        for _ in 0..500 {
            let c = ids.next();
            let j = j.clone();
            let r = vec![intent(c, &caller, &tool), outcome(c)];
            all.push(tokio::spawn(async move { j.append(r, Durability::Disk).await.unwrap() }));
        }
        for a in all {
            a.await.unwrap();
        }
        println!("disk 500 at once {:?} each", t.elapsed() / 500);
    });
    let t = Instant::now();
    let v = j.verify(None).unwrap();
    println!("verify {:?} {:?}", t.elapsed(), v);
    let t = Instant::now();
    let v = j.entries(&Filter::default()).unwrap();
    println!("entries {:?} {}", t.elapsed(), v.len());
    let t = Instant::now();
    drop(j);
    println!("close {:?}", t.elapsed());
    let t = Instant::now();
    let j = Journal::open(&dir, Arc::new(Now)).unwrap();
    println!("open {:?}", t.elapsed());
    let t = Instant::now();
    drop(j);
    println!("close {:?}", t.elapsed());
    let db = rt.block_on(Db::open(&dir)).unwrap();
    let t = Instant::now();
    for _ in 0..10000 {
        db.version().unwrap();
    }
    println!("version {:?}", t.elapsed() / 10000);
}
