//! Agents made over the API.

use serde_json::json;

use crate::{Setup, at};

#[tokio::test]
async fn agents_are_added_changed_and_removed() {
    let setup = Setup::new().await;
    let db = &setup.db;
    let made = db.add_agent("writer", "ada", &json!({"model": "m"}), at(100)).await.unwrap();
    assert_eq!((made.owner.as_str(), &made.settings), ("ada", &json!({"model": "m"})));
    let again = db.add_agent("writer", "bob", &json!({}), at(200)).await.unwrap_err();
    assert_eq!(again.to_string(), "there is an agent `writer` already; choose another id");
    assert_eq!(db.agent("writer").await.unwrap(), Some(made));

    let changed = db.change_agent("writer", &json!({"model": "n"}), at(300)).await.unwrap();
    let changed = changed.unwrap();
    assert_eq!((changed.created_at, changed.changed_at), (at(100), at(300)));
    assert_eq!(db.change_agent("nobody", &json!({}), at(300)).await.unwrap(), None);

    db.add_agent("a", "bob", &json!(null), at(400)).await.unwrap();
    for (owner, expected) in [(None, "a writer"), (Some("ada"), "writer"), (Some("eve"), "")] {
        let found = db.agents(owner).await.unwrap();
        let ids: Vec<_> = found.iter().map(|agent| agent.id.as_str()).collect();
        assert_eq!(ids.join(" "), expected);
    }
    assert!(db.remove_agent("writer").await.unwrap());
    assert!(!db.remove_agent("writer").await.unwrap());
    assert_eq!(db.agent("writer").await.unwrap(), None);
}
