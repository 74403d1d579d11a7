//! Tasks, and the order they are shown in.

use tool::{NewDueDate, NewTask, Priority, Task, TaskChange, TaskStatus};

use store::By;

use crate::{Setup, at, by};

fn new(title: &str, due: Option<&str>, priority: Priority) -> NewTask {
    NewTask { title: title.into(), due_date: due.map(|due| due.parse().unwrap()), priority }
}

impl Setup {
    pub(crate) async fn task(&self, user: &str, title: &str) -> Task {
        self.db.add_task(user, new(title, None, Priority::Medium), by(100)).await.unwrap()
    }

    async fn change(&self, user: &str, task: &Task, change: TaskChange) -> Option<Task> {
        self.db.change_task(user, &task.id, change, by(200)).await.unwrap()
    }
}

fn done() -> TaskChange {
    TaskChange { status: Some(TaskStatus::Completed), ..TaskChange::default() }
}

#[tokio::test]
async fn a_task_is_kept_as_it_was_given() {
    let setup = Setup::new().await;
    let new = new("Call", Some("2026-11-20T15:00+01:00"), Priority::High);
    let task = setup.db.add_task("ada", new.clone(), by(100)).await.unwrap();
    let expected = Task {
        id: task.id.clone(),
        title: "Call".into(),
        due_date: new.due_date,
        status: TaskStatus::Pending,
        priority: Priority::High,
        created_at: at(100),
        completed_at: None,
        untrusted: None,
    };
    assert_eq!(task, expected);
    let short = task.id.short().parse().unwrap();
    assert_eq!(setup.another().await.task("ada", &short).await.unwrap(), Some(expected));
    assert_eq!(setup.db.task("bob", &short).await.unwrap(), None);
}

#[tokio::test]
async fn what_is_to_be_done_next_comes_first() {
    let setup = Setup::new().await;
    for (title, due, priority) in [
        ("old", None, Priority::Medium),
        ("young", None, Priority::Medium),
        ("low", None, Priority::Low),
        ("high", None, Priority::High),
        ("later", Some("2026-11-21"), Priority::High),
        ("that day", Some("2026-11-20"), Priority::High),
        ("at three", Some("2026-11-20T15:00"), Priority::Low),
        ("at two, written as three", Some("2026-11-20T15:00+01:00"), Priority::Low),
        ("done", Some("2026-11-01"), Priority::High),
    ] {
        setup.db.add_task("ada", new(title, due, priority), by(100)).await.unwrap();
    }
    let all = setup.db.tasks("ada", None, 99).await.unwrap();
    setup.change("ada", &all[0], done()).await.unwrap();
    setup.task("bob", "bob's").await;
    let pending = [
        "at two, written as three",
        "at three",
        "that day",
        "later",
        "high",
        "old",
        "young",
        "low",
    ];
    let everything: Vec<_> = pending.into_iter().chain(["done"]).collect();
    for (status, limit, expected) in [
        (None, 99, &everything[..]),
        (Some(TaskStatus::Pending), 99, &pending),
        (Some(TaskStatus::Completed), 99, &["done"]),
        (None, 2, &pending[..2]),
    ] {
        let found = setup.db.tasks("ada", status, limit).await.unwrap();
        let titles: Vec<_> = found.iter().map(|task| task.title.as_str()).collect();
        assert_eq!(titles, expected, "{status:?}");
    }
}

#[tokio::test]
async fn only_what_is_given_changes() {
    let setup = Setup::new().await;
    let task = setup.task("ada", "Call").await;
    let due: tool::DueDate = "2026-11-20".parse().unwrap();
    let none = TaskChange::default();
    assert_eq!(setup.change("ada", &task, none.clone()).await, Some(task.clone()));
    let all = TaskChange {
        title: Some("Write".into()),
        due_date: Some(NewDueDate::By(due.clone())),
        priority: Some(Priority::Low),
        status: Some(TaskStatus::Completed),
    };
    let changed = Task {
        title: "Write".into(),
        due_date: Some(due),
        priority: Priority::Low,
        status: TaskStatus::Completed,
        completed_at: Some(at(200)),
        ..task.clone()
    };
    assert_eq!(setup.change("ada", &task, all).await, Some(changed.clone()));
    assert_eq!(setup.change("ada", &task, none.clone()).await, Some(changed.clone()));
    let again =
        TaskChange { due_date: Some(NewDueDate::Never), status: Some(TaskStatus::Pending), ..none };
    let expected =
        Task { due_date: None, status: TaskStatus::Pending, completed_at: None, ..changed };
    assert_eq!(setup.change("ada", &task, again).await, Some(expected.clone()));
    assert_eq!(setup.db.task("ada", &task.id).await.unwrap(), Some(expected));
}

#[tokio::test]
async fn what_is_written_after_untrusted_content_says_so() {
    let setup = Setup::new().await;
    let tainted = By { untrusted: Some("https://example.org/"), ..by(100) };
    let source = Some("https://example.org/");
    let note = tool::NewNote { title: "n".into(), ..tool::NewNote::default() };
    let note = setup.db.add_note("ada", note, tainted).await.unwrap();
    assert_eq!(setup.db.note("ada", &note.id).await.unwrap().unwrap().untrusted.as_deref(), source);

    let task = setup.task("ada", "t").await;
    let title = |title: &str| TaskChange { title: Some(title.into()), ..TaskChange::default() };
    for (change, by, expected) in [
        (done(), tainted, None),
        (title("a"), tainted, source),
        (done(), by(200), source),
        (title("b"), by(200), None),
    ] {
        let changed = setup.db.change_task("ada", &task.id, change, by).await.unwrap().unwrap();
        assert_eq!(changed.untrusted.as_deref(), expected);
    }
}

#[tokio::test]
async fn nobody_changes_or_removes_a_task_of_somebody_else() {
    let setup = Setup::new().await;
    let task = setup.task("ada", "Call").await;
    assert_eq!(setup.change("bob", &task, done()).await, None);
    assert_eq!(setup.db.remove_task("bob", &task.id, by(1)).await.unwrap(), None);
    assert_eq!(setup.db.task("ada", &task.id).await.unwrap(), Some(task.clone()));
    assert_eq!(setup.db.remove_task("ada", &task.id, by(1)).await.unwrap(), Some(task.clone()));
    assert_eq!(setup.db.task("ada", &task.id).await.unwrap(), None);
}
