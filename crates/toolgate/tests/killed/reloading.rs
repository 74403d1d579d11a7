//! What holds when agents are made and removed, whatever became of the configuration file.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::{helper::Talk, http::Answer};

const FILE: &str = "[agents.scribe]\ndescription = \"writes\"\n[tools]\ndeny = [\"stat\"]\n";
const BROKEN: &str = "[tools]\ndeny = [\"stat\"";

impl Talk {
    fn config(&self) -> PathBuf {
        self.server.data().join("toolgate.toml")
    }

    fn make(&self, id: &str, settings: &Value) -> Answer {
        let body = json!({"id": id, "settings": settings}).to_string();
        self.send(("POST", "/v1/agents"), &body)
    }

    fn change(&self, id: &str, settings: &Value) -> Answer {
        let body = json!({"settings": settings}).to_string();
        self.send(("PATCH", &format!("/v1/agents/{id}")), &body)
    }

    fn remove(&self, id: &str) -> Answer {
        self.send(("DELETE", &format!("/v1/agents/{id}")), "")
    }

    fn agents(&self) -> Vec<String> {
        let list = self.get("/v1/agents");
        let ids = list["agents"].as_array().unwrap().iter();
        ids.map(|agent| agent["id"].as_str().unwrap().to_owned()).collect()
    }

    /// Whether the file's policy does not hold.
    fn may_stat(&self) -> bool {
        let answer = self.send(("POST", "/v1/tools/stat"), r#"{"path": "."}"#);
        assert!([200, 404].contains(&answer.status), "{answer:?}");
        answer.status == 200
    }

    /// Waits until the log says `what`, and gives how often it does.
    fn said(&self, what: &str) -> usize {
        self.until(what, || self.server.log().contains(what));
        self.server.log().matches(what).count()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_come_and_go_while_the_file_is_gone() {
    let talk = Talk::new(FILE, Vec::new()).await;
    let away = talk.config().with_extension("away");
    fs::rename(talk.config(), &away).unwrap();
    let made = talk.make("helper", &json!({}));
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(talk.agents(), ["helper", "main", "scribe"]);
    assert!(!talk.may_stat());
    // One that another process makes comes another way; that process needs the file it is given.
    fs::rename(&away, talk.config()).unwrap();
    let (code, _, wrong) = talk.run(&["agents", "add", "other"]);
    assert_eq!(code, Some(0), "{wrong}");
    fs::rename(talk.config(), &away).unwrap();
    talk.until("the other agent", || talk.agents() == ["helper", "main", "other", "scribe"]);
    assert_eq!(talk.remove("other").status, 200);
    assert_eq!(talk.remove("helper").status, 200);
    assert_eq!(talk.agents(), ["main", "scribe"]);
    assert!(!talk.may_stat());
    // The file comes back, and holds again.
    let text = fs::read_to_string(&away).unwrap().replace("stat", "read");
    fs::write(&away, text).unwrap();
    fs::rename(&away, talk.config()).unwrap();
    talk.until("the new policy", || talk.may_stat());
    assert_eq!(talk.agents(), ["main", "scribe"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_removed_is_said_once_and_changes_nothing() {
    let talk = Talk::new(FILE, Vec::new()).await;
    fs::remove_file(talk.config()).unwrap();
    assert_eq!(talk.said("the old configuration stays"), 1);
    for id in ["a", "b", "c"] {
        assert_eq!(talk.make(id, &json!({})).status, 201);
    }
    assert_eq!(talk.agents(), ["a", "b", "c", "main", "scribe"]);
    assert!(!talk.may_stat());
    assert_eq!(talk.said("the old configuration stays"), 1);
    assert!(!talk.server.log().contains("not taken over"), "{}", talk.server.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_come_and_go_while_the_file_is_broken() {
    let talk = Talk::new(FILE, Vec::new()).await;
    fs::write(talk.config(), BROKEN).unwrap();
    let made = talk.make("helper", &json!({"description": "helps"}));
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(talk.said("the old configuration stays"), 1);
    assert_eq!(talk.agents(), ["helper", "main", "scribe"]);
    assert!(!talk.may_stat());
    assert_eq!(talk.remove("helper").status, 200);
    assert_eq!(talk.agents(), ["main", "scribe"]);
    assert!(!talk.may_stat());
    assert!(!talk.server.log().contains("not taken over"), "{}", talk.server.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_taken_over_is_not_stored() {
    let secret = tempfile::NamedTempFile::new().unwrap();
    fs::write(secret.path(), "a secret of some length").unwrap();
    let config = format!("{FILE}[secrets]\nx = \"file:{}\"\n", secret.path().display());
    let talk = Talk::new(&config, Vec::new()).await;
    assert_eq!(talk.make("helper", &json!({"description": "helps"})).status, 201);
    let nonsense = talk.make("odd", &json!({"modle": "x"}));
    assert_eq!(nonsense.status, 400, "{nonsense:?}");
    // A folder it cannot have, for a new one and for one that is there.
    let hidden = json!({"workspace": talk.server.data().join("data")});
    for refused in [talk.make("odd", &hidden), talk.change("helper", &hidden)] {
        assert_eq!(refused.status, 409, "{refused:?}");
        assert!(refused.body.contains("nothing is changed"), "{refused:?}");
        assert_eq!(talk.agents(), ["helper", "main", "scribe"]);
    }
    assert!(talk.said("is in the data folder") > 0);
    // Whatever else is in the way.
    secret.close().unwrap();
    for refused in [
        talk.make("odd", &json!({})),
        talk.change("helper", &json!({"description": "other"})),
        talk.remove("helper"),
    ] {
        assert_eq!(refused.status, 409, "{refused:?}");
        assert!(refused.body.contains("nothing is changed"), "{refused:?}");
    }
    let list = talk.get("/v1/agents");
    assert_eq!(list["agents"][0]["description"], "helps", "{list}");
    let (code, out, wrong) = talk.run(&["agents", "list", "--json"]);
    assert_eq!(code, Some(0), "{wrong}");
    let stored: Value = serde_json::from_str(&out).unwrap();
    let ids: Vec<_> = stored.as_array().unwrap().iter().map(|agent| &agent["id"]).collect();
    assert_eq!(ids, ["helper", "main", "scribe"]);
    assert_eq!(stored[0]["settings"], json!({"description": "helps"}));
    assert!(!talk.may_stat());
}
