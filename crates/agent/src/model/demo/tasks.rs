//! Tasks, as `list_tasks` shows them.

use serde_json::Value;

/// The tasks in a result, if there are any to be seen.
pub(super) fn listed(result: &str) -> Option<Vec<Value>> {
    let value: Value = serde_json::from_str(result).ok()?;
    value.get("tasks")?.as_array().cloned()
}

/// The id of the task that somebody means: by its id, its title, or a part of it that only one has.
pub(super) fn meant(tasks: &[Value], which: &str) -> Result<String, String> {
    let which = which.trim();
    let field = |task: &Value, name: &str| {
        task.get(name).and_then(Value::as_str).unwrap_or_default().to_lowercase()
    };
    let wanted = which.to_lowercase();
    let by = |fits: &dyn Fn(&Value) -> bool| tasks.iter().filter(|task| fits(task)).collect();
    let mut found: Vec<&Value> = by(&|task| field(task, "id") == wanted);
    for fits in [
        &(|task: &Value| field(task, "title") == wanted) as &dyn Fn(&Value) -> bool,
        &|task: &Value| field(task, "title").contains(&wanted),
    ] {
        if found.is_empty() {
            found = by(fits);
        }
    }
    match found.as_slice() {
        [task] => Ok(task.get("id").and_then(Value::as_str).unwrap_or_default().to_owned()),
        [] => Err(format!("There is no open task `{which}`.")),
        several => {
            let titles = several.iter().take(5).map(|task| shown(task));
            Err(format!(
                "More than one task is like `{which}`; say which:\n{}",
                titles.collect::<Vec<_>>().join("\n")
            ))
        }
    }
}

/// One line about a task.
pub(super) fn shown(task: &Value) -> String {
    let field = |name: &str| task.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let due = field("due_date").map(|due| format!("due {due}"));
    let priority = field("priority").filter(|priority| *priority != "medium");
    let status = field("status").filter(|status| *status != "pending");
    let more = [due.as_deref(), priority, status].into_iter().flatten().collect::<Vec<_>>();
    let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join(", ")) };
    format!("- {}{more}", field("title").unwrap_or("?"))
}
