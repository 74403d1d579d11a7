//! What calls did to notes and tasks can be taken back.

use store::By;
use tool::{Priority, Task, TaskChange};

use crate::{Setup, by};

impl Setup {
    async fn titles(&self) -> String {
        let notes = self.db.notes("ada", 0, 99).await.unwrap();
        let tasks = self.db.tasks("ada", None, 99).await.unwrap();
        let titles = notes.into_iter().map(|note| note.title);
        titles.chain(tasks.into_iter().map(|task| task.title)).collect::<Vec<_>>().join(" ")
    }

    async fn undo(&self, call: By<'_>) -> Result<String, String> {
        let looked = self.db.undoable_rows(call.call).await.map_err(|error| error.to_string());
        let undone = self.db.undo_rows(call.call, by(900)).await;
        let undone = undone.map_err(|error| error.to_string());
        assert_eq!(undone, looked, "what was looked at is what is done");
        undone.map(|undone| undone.join(", "))
    }

    async fn rename(&self, task: &Task, title: &str, by: By<'_>) {
        let change = TaskChange { title: Some(title.into()), ..TaskChange::default() };
        self.db.change_task("ada", &task.id, change, by).await.unwrap().unwrap();
    }
}

fn note(title: &str) -> tool::NewNote {
    tool::NewNote { title: title.into(), content: "words".into(), tags: vec!["t".into()] }
}

fn task(title: &str) -> tool::NewTask {
    tool::NewTask { title: title.into(), due_date: None, priority: Priority::Low }
}

#[tokio::test]
async fn what_a_call_added_goes_away() {
    let setup = Setup::new().await;
    let (first, second) = (by(100), by(100));
    setup.db.add_note("ada", note("n"), first).await.unwrap();
    setup.db.add_task("ada", task("t"), first).await.unwrap();
    setup.db.add_task("ada", task("other"), second).await.unwrap();
    assert_eq!(setup.undo(first).await.unwrap(), "note `n`, task `t`");
    assert_eq!(setup.titles().await, "other");
    assert!(setup.found("ada", "words", &[]).await.is_empty());
    assert!(
        setup.undo(first).await.unwrap_err().ends_with("was changed since; take that back first")
    );
    assert_eq!(setup.undo(by(1)).await.unwrap(), "", "it changed nothing");
}

#[tokio::test]
async fn what_a_call_removed_comes_back_as_it_was() {
    let setup = Setup::new().await;
    let made = setup.db.add_note("ada", note("n"), by(100)).await.unwrap();
    let job = setup.db.add_task("ada", task("t"), by(100)).await.unwrap();
    let removal = by(200);
    setup.db.remove_note("ada", &made.id, removal).await.unwrap();
    setup.db.remove_task("ada", &job.id, removal).await.unwrap();
    assert_eq!(setup.titles().await, "");
    assert_eq!(setup.undo(removal).await.unwrap(), "note `n`, task `t`");
    assert_eq!(setup.db.note("ada", &made.id).await.unwrap(), Some(made));
    assert_eq!(setup.db.task("ada", &job.id).await.unwrap(), Some(job));
    assert_eq!(setup.found("ada", "words", &["t"]).await, ["n"]);
}

#[tokio::test]
async fn a_later_change_is_not_lost() {
    let setup = Setup::new().await;
    let (added, first, second) = (by(100), by(200), by(300));
    let made = setup.db.add_task("ada", task("a"), added).await.unwrap();
    setup.rename(&made, "b", first).await;
    setup.rename(&made, "c", second).await;
    for early in [added, first] {
        let error = setup.undo(early).await.unwrap_err();
        let expected = format!("task `{}` was changed since; take that back first", made.id);
        assert_eq!(error, expected);
        assert_eq!(setup.titles().await, "c");
    }
    for (call, left) in [(second, "b"), (first, "a"), (added, "")] {
        setup.undo(call).await.unwrap();
        assert_eq!(setup.titles().await, left);
    }
}

#[tokio::test]
async fn all_of_a_call_is_taken_back_or_nothing() {
    let setup = Setup::new().await;
    let call = by(100);
    setup.db.add_note("ada", note("n"), call).await.unwrap();
    let made = setup.db.add_task("ada", task("t"), call).await.unwrap();
    setup.rename(&made, "u", by(200)).await;
    setup.undo(call).await.unwrap_err();
    assert_eq!(setup.titles().await, "n u");
}

#[tokio::test]
async fn what_a_call_changed_twice_goes_back_to_the_beginning() {
    let setup = Setup::new().await;
    let made = setup.db.add_task("ada", task("a"), by(100)).await.unwrap();
    let call = by(200);
    setup.rename(&made, "b", call).await;
    setup.rename(&made, "c", call).await;
    assert_eq!(setup.undo(call).await.unwrap(), "task `c`");
    assert_eq!(setup.titles().await, "a");
}

#[tokio::test]
async fn taking_back_can_be_taken_back() {
    let setup = Setup::new().await;
    let (call, back) = (by(100), by(200));
    let made = setup.db.add_note("ada", note("n"), call).await.unwrap();
    setup.db.undo_rows(call.call, back).await.unwrap();
    assert_eq!(setup.titles().await, "");
    assert_eq!(setup.undo(back).await.unwrap(), "note `n`");
    assert_eq!(setup.db.note("ada", &made.id).await.unwrap(), Some(made));
}

#[tokio::test]
async fn only_so_many_changes_of_a_user_are_kept() {
    let setup = Setup::new().await;
    let (old, of_bob) = (by(100), by(100));
    setup.db.add_note("bob", note("n"), of_bob).await.unwrap();
    setup.db.add_task("ada", task("old"), old).await.unwrap();
    let last = setup.db.add_task("ada", task("new"), by(100)).await.unwrap();
    for _ in 0..1_000 {
        setup.rename(&last, "newer", by(200)).await;
    }
    assert_eq!(setup.undo(old).await.unwrap(), "", "it is forgotten");
    assert_eq!(setup.undo(of_bob).await.unwrap(), "note `n`");
}
