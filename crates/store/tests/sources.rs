//! What untrusted content sessions have read, from outside.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use store::Db;
use tempfile::TempDir;
use tool::{CallIds, Caller, Clock};

#[derive(Debug)]
struct Noon;

impl Clock for Noon {
    fn now(&self) -> SystemTime {
        at(43_200)
    }
}

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

#[tokio::test]
async fn what_sessions_have_read_is_kept_apart_and_bounded() {
    let folder = TempDir::new().unwrap();
    let db = Db::open(folder.path()).await.unwrap();
    let (one, call) = (Caller::owner("main"), CallIds::new(Arc::new(Noon)).next());
    let two = Caller { session: "two".into(), ..one.clone() };
    for (source, second) in [("b", 1), ("a", 2), ("b", 3)] {
        db.remember_source(&one, source, call, at(second)).await.unwrap();
    }
    let another = Db::open(folder.path()).await.unwrap();
    assert_eq!(another.sources(&one).await.unwrap(), ["b", "a"]);
    assert_eq!(another.sources(&two).await.unwrap(), [""; 0]);
    for number in 0..110 {
        another.remember_source(&two, &number.to_string(), call, at(number)).await.unwrap();
    }
    let sources = db.sources(&two).await.unwrap();
    assert_eq!(
        (sources.len(), sources.last().map(String::as_str)),
        (101, Some("more than can be listed"))
    );
}

#[tokio::test]
async fn untrusted_files_are_marked_and_unmarked() {
    let folder = TempDir::new().unwrap();
    let db = Db::open(folder.path()).await.unwrap();
    let call = CallIds::new(Arc::new(Noon)).next();
    let paths = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    db.mark_files(&paths(&["/a", "/b", "/it's \"c\""]), "x", call, at(1)).await.unwrap();
    db.mark_files(&paths(&["/b"]), "y", call, at(2)).await.unwrap();
    db.unmark_files(&paths(&["/a", "/z"])).await.unwrap();
    let mut found: Vec<_> = db.untrusted_files().await.unwrap();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    let found: Vec<_> = found.iter().map(|file| (&*file.path, &*file.source)).collect();
    assert_eq!(found, [("/b", "y"), ("/it's \"c\"", "x")]);
    let many: Vec<_> = (0..20_001).map(|number| format!("/many/{number}")).collect();
    db.mark_files(&many, "z", call, at(3)).await.unwrap();
    let found = db.untrusted_files().await.unwrap();
    assert_eq!(found.len(), 20_000);
    assert!(found.iter().all(|file| file.source == "z"), "the oldest are forgotten");
}
