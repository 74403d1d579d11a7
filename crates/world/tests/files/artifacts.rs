//! What calls leave behind, and how long.

use std::time::Duration;

use tool::{ArtifactId, Caller, Capabilities};
use world::{Keep, Pruned};

use crate::helper::{Setup, read, shown};

#[test]
fn an_artifact_is_its_users_alone() {
    let setup = Setup::new();
    let (ada, bob) = (Caller::member("ada", "main"), Caller::member("../ada", "main"));
    let id = ArtifactId::new(setup.ids.next(), 1);
    let kept = setup.world.artifacts().put(&ada, id, "text/html", b"<p>").unwrap();
    let path = format!("artifact:{}", kept.id);
    let disk = |caller| setup.world.disk(caller).unwrap();
    assert_eq!(read(&*disk(&ada), &path), "<p>");
    assert_eq!(read(&*disk(&bob), &path), format!("file_not_found: `{path}` does not exist"));
    assert_eq!(setup.world.artifact(&ada, kept.id.as_str()).unwrap().mime, "text/html");
    for id in ["", ".", "..", "../ada/x", "a/b", "x.mime"] {
        let missing = setup.world.artifact(&ada, id).map(|_| ());
        assert!(shown(&missing.unwrap_err()).starts_with("file_not_found"), "{id}");
    }
    assert!(setup.write(&path, "x").starts_with("path_not_allowed"));
}

#[test]
fn the_oldest_go_first() {
    let setup = Setup::with(|settings, _| {
        settings.keep = Keep { bytes: 10, age: Duration::from_hours(2) };
    });
    let later = |hours| *setup.clock.0.lock().unwrap() += Duration::from_hours(hours);
    for content in ["first", "second", "third", "4"] {
        setup.write("a.txt", content);
        later(1);
    }
    let kept = setup.world.prune().unwrap();
    // `first` is too old; `second` and `third` are eleven bytes together.
    assert_eq!(kept, Pruned { files: 2, bytes: 11 });
    assert_eq!(setup.world.prune().unwrap(), Pruned::default());
}

#[test]
fn whoever_leaves_much_behind_takes_away_from_nobody_else() {
    let setup = Setup::with(|settings, _| {
        settings.keep = Keep { bytes: 100, age: Duration::from_hours(100) };
    });
    let later = || *setup.clock.0.lock().unwrap() += Duration::from_hours(1);
    let (ada, bob) = (Caller::member("ada", "main"), Caller::member("bob", "main"));
    let put = |caller: &Caller, bytes: usize| {
        later();
        let id = ArtifactId::new(setup.ids.next(), 1);
        setup.world.artifacts().put(caller, id, "a/b", &vec![b'x'; bytes]).unwrap().id
    };
    // Both are there before anything else, and so are the oldest.
    setup.write("a.txt", "needed for undo");
    setup.write("a.txt", "now");
    let bobs = put(&bob, 20);
    let adas: Vec<_> = (0..5).map(|_| put(&ada, 40)).collect();
    setup.world.prune().unwrap();
    let is_there =
        |caller: &Caller, id: &ArtifactId| setup.world.artifact(caller, id.as_str()).is_ok();
    assert!(is_there(&bob, &bobs));
    let left: Vec<_> = adas.iter().map(|id| is_there(&ada, id)).collect();
    assert_eq!(left, [false, false, false, false, true]);
    assert_eq!(setup.world.prune().unwrap(), Pruned::default());
}
