//! Questions about calls, and who may answer them.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::{
    client::{Answer, send},
    helper::{Site, Who, until},
};

impl Site {
    /// Answers a question as whoever has the token.
    async fn answer(&self, token: &str, question: &Value, answer: Value) -> Answer {
        let path = format!("/v1/approvals/{}", question["id"].as_str().unwrap());
        send(self.request_as(token, "POST", &path).json(&answer)).await
    }

    /// How a question stands.
    async fn status(&self, question: &Value) -> Value {
        let path = format!("/v1/approvals/{}", question["id"].as_str().unwrap());
        self.get(&path).await.json()["status"].take()
    }

    /// Rings in a session, and the question about it if there is one.
    async fn ring(&self, session: &str, shout: &str) -> (JoinHandle<Answer>, Option<Value>) {
        let request = self.request("POST", "/v1/tools/ring").header("toolgate-session", session);
        let call = tokio::spawn(send(request.json(&json!({"shout": shout}))));
        let mut question = None;
        until("it asks or is done", async || {
            question = self.get("/v1/approvals").await.json()["approvals"].get(0).cloned();
            question.is_some() || call.is_finished()
        })
        .await;
        (call, question)
    }

    /// Whether ringing in a session needs an answer, which is no.
    async fn asks(&self, approver: &str, session: &str, shout: &str) -> bool {
        let (call, question) = self.ring(session, shout).await;
        let Some(question) = question else {
            assert_eq!(call.await.unwrap().status, 200);
            return false;
        };
        let denied = self.answer(approver, &question, json!({"decision": "deny"})).await;
        assert_eq!(denied.status, 200, "{denied:?}");
        assert_eq!(call.await.unwrap().status, 403);
        true
    }

    /// What the journal has about answers: by whom, whether they counted, and the rule if not.
    fn answers(&self) -> Vec<(String, String, String)> {
        let entries = self.entries().into_iter().filter(|entry| entry.tool_name == "answer");
        let facts =
            |entry: store::Entry| (entry.user_id, entry.error_type.unwrap_or_default(), entry.rule);
        entries.map(facts).collect()
    }
}

/// What is recorded of an attempt is read by whoever made it.
#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_see_a_question_learns_nothing_from_the_record_of_an_answer() {
    let site = Site::new().await;
    let [ada, bob] = [site.token(Who::member("ada")).await, site.token(Who::member("bob")).await];
    let (call, question) = site.start_asking(&ada).await;
    let none = json!({"id": tool::ItemId::random()});
    let mut watching = site.socket(&bob).await;
    watching.get("events.subscribe", json!({})).await;
    for status in ["pending", "denied"] {
        assert_eq!(site.status(&question).await, status);
        for question in [&question, &none] {
            let answer = site.answer(&bob, question, json!({"decision": "allow_once"})).await;
            assert_eq!(answer.error(), (404, "not_found".to_owned()));
        }
        let approver = site.token(Who::OWNER).await;
        site.answer(&approver, &question, json!({"decision": "deny"})).await;
    }
    assert_eq!(call.await.unwrap().status, 403);
    let left = send(site.request_as(&bob, "GET", "/v1/calls")).await;
    assert!(!left.text().contains(question["call"].as_str().unwrap()), "{left:?}");
    let facts = |call: &Value| {
        assert_eq!(call["input"].as_object().unwrap().len(), 2, "{call}");
        ["tool_name", "status", "error_type", "rule", "error"].map(|name| call[name].clone())
    };
    let left: Vec<_> = left.json()["calls"].as_array().unwrap().iter().map(facts).collect();
    assert_eq!(left.len(), 4);
    assert!(left.iter().all(|one| *one == left[0] && one[0] == "answer"), "{left:?}");
    let told = watching.all().await;
    let told = told.iter().filter(|event| event["method"] == "call.finished");
    let told: Vec<_> = told.map(|event| event["params"]["message"].clone()).collect();
    assert!(told.len() == 4 && told.iter().all(|one| *one == told[0]), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_counts_for_as_much_as_it_says() {
    for (answer, here, elsewhere, other, later) in [
        (json!({"decision": "allow_once"}), true, true, true, true),
        (json!({"decision": "allow_session"}), false, true, true, false),
        (json!({"decision": "allow_always"}), false, false, true, false),
        (json!({"decision": "allow_always", "scope": "exact"}), false, false, true, false),
        (json!({"decision": "allow_always", "expires": "1h"}), false, false, true, true),
    ] {
        let site = Site::new().await;
        let approver = site.token(Who::OWNER).await;
        let (call, question) = site.ring("one", "now").await;
        let question = question.expect("it asks");
        assert_eq!(
            (&question["tool"], &question["input"]["shout"]),
            (&json!("ring"), &json!("now"))
        );
        let answered = site.answer(&approver, &question, answer.clone()).await;
        assert_eq!(answered.status, 200, "{answered:?}");
        let said = answered.json();
        assert_eq!((&said["status"], &said["decision"]), (&json!("allowed"), &answer["decision"]));
        assert_eq!(said["answered_by"], "owner (token test)");
        let outcome = call.await.unwrap();
        assert_eq!((outcome.status, &outcome.json()["result"]), (200, &json!("rang")), "{answer}");
        assert_eq!(site.asks(&approver, "one", "now").await, here, "{answer}: the same again");
        assert_eq!(site.asks(&approver, "two", "now").await, elsewhere, "{answer}: elsewhere");
        assert_eq!(site.asks(&approver, "one", "then").await, other, "{answer}: something else");
        site.pass(Duration::from_hours(2));
        assert_eq!(site.asks(&approver, "one", "now").await, later, "{answer}: later");
        let called = site.entries().into_iter().find(|entry| entry.tool_name == "ring").unwrap();
        assert_eq!(called.approval.as_deref(), question["id"].as_str());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_is_passed_on_with_what_the_person_says() {
    let site = Site::new().await;
    let approver = site.token(Who::OWNER).await;
    let (call, question) = site.start_asking(&site.owner).await;
    let answer = json!({"decision": "deny", "message": "not before noon"});
    let answered = site.answer(&approver, &question, answer).await.json();
    assert_eq!(
        (&answered["status"], &answered["message"]),
        (&json!("denied"), &json!("not before noon"))
    );
    let outcome = call.await.unwrap();
    assert_eq!(outcome.error(), (403, "permission_denied".to_owned()));
    assert!(outcome.json()["message"].as_str().unwrap().contains("not before noon"));
    assert_eq!(outcome.json()["details"]["rule"], "approval.denied");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_makes_no_sense_leaves_the_question_open() {
    let site = Site::new().await;
    let approver = site.token(Who::OWNER).await;
    let (call, question) = site.start_asking(&site.owner).await;
    for (answer, expected) in [
        (json!({}), 400),
        (json!({"decision": "yes"}), 400),
        (json!({"decision": "ALLOW_ONCE"}), 400),
        (json!({"decision": "allow_once", "scope": "exact"}), 400),
        (json!({"decision": "deny", "expires": "1h"}), 400),
        (json!({"decision": "allow_always", "expires": "soon"}), 400),
        (json!({"decision": "allow_always", "expire": "1h"}), 400),
        (json!({"decision": "allow_always", "scope": "everything"}), 403),
        (json!([]), 400),
    ] {
        let answered = site.answer(&approver, &question, answer.clone()).await;
        assert_eq!(answered.status, expected, "{answer}: {answered:?}");
        assert_eq!(site.status(&question).await, "pending", "{answer}");
    }
    for (id, expected) in [("none", 400), ("ap_0000000000", 404), ("..%2f..%2ftokens", 400)] {
        let answer = json!({"decision": "allow_once"});
        let answered = site.answer(&approver, &json!({"id": id}), answer).await;
        assert!([400, 404].contains(&answered.status), "{id} {expected}: {answered:?}");
    }
    assert!(!call.is_finished());
    call.abort();
    until("it is withdrawn", async || site.status(&question).await == "withdrawn").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approver_over_their_rate_is_told_when_to_come_back() {
    let site = Site::with("tools.approvers = ['ann']\n[users.ann.limits]\nrate = '1/h'").await;
    let [ann, bo] = [site.token(Who::member("ann")).await, site.token(Who::member("bo")).await];
    let (call, question) = site.start_asking(&bo).await;
    let used = site.request_as(&ann, "POST", "/v1/tools/get_current_time").json(&json!({}));
    assert_eq!(send(used).await.status, 200);
    let early = site.answer(&ann, &question, json!({"decision": "allow_once"})).await;
    assert_eq!(early.error(), (429, "rate_limited".to_owned()), "{early:?}");
    let wait: u64 = early.header("retry-after").parse().unwrap();
    assert!((3_000..=3_600).contains(&wait), "{wait}");
    assert!(early.json()["details"]["retry_after_ms"].as_u64() > Some(3_000_000), "{early:?}");
    let mut socket = site.socket(&ann).await;
    let answer = json!({"id": question["id"], "decision": "allow_once"});
    assert_eq!(socket.error("approvals.resolve", answer).await.0, -32029);
    assert_eq!(site.status(&question).await, "pending");
    call.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_answers_at_once_one_counts() {
    let site = Site::new().await;
    let approver = site.token(Who::OWNER).await;
    for round in 0..8 {
        let (call, question) = site.start_asking(&site.owner).await;
        let (yes, no) = tokio::join!(
            site.answer(&approver, &question, json!({"decision": "allow_once"})),
            site.answer(&approver, &question, json!({"decision": "deny"})),
        );
        let mut statuses = [yes.status, no.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{round}: {yes:?} {no:?}");
        let expected = if yes.status == 200 { 200 } else { 403 };
        assert_eq!(call.await.unwrap().status, expected, "{round}");
    }
    let counted = site.answers().iter().filter(|(_, error, _)| error.is_empty()).count();
    assert_eq!((counted, site.answers().len()), (8, 16));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_comes_too_late_changes_nothing() {
    let site = Site::new().await;
    let approver = site.token(Who::OWNER).await;
    let yes = json!({"decision": "allow_always"});
    // Answered already.
    let (call, answered) = site.start_asking(&site.owner).await;
    assert_eq!(site.answer(&approver, &answered, json!({"decision": "deny"})).await.status, 200);
    assert_eq!(call.await.unwrap().status, 403);
    // Whoever asked has gone.
    let (call, withdrawn) = site.start_asking(&site.owner).await;
    call.abort();
    until("it is withdrawn", async || site.status(&withdrawn).await == "withdrawn").await;
    // Nobody answered in time.
    let (call, expired) = site.start_asking(&site.owner).await;
    site.pass(Duration::from_mins(31));
    assert_eq!(call.await.unwrap().error(), (403, "permission_denied".to_owned()));
    for question in [&answered, &withdrawn, &expired] {
        let late = site.answer(&approver, question, yes.clone()).await;
        assert_eq!(late.error(), (409, "conflict".to_owned()), "{late:?}");
    }
    assert!(
        site.entries().iter().all(|entry| entry.tool_name != "ring" || entry.error_type.is_some())
    );
    assert!(site.asks(&approver, "main", "").await, "no late yes is remembered");
    let late = site.answers().into_iter().filter(|(_, error, _)| error == "permission_denied");
    assert_eq!(late.map(|(_, _, rule)| rule).collect::<Vec<_>>(), ["approve:approval.late"; 3]);
}

/// approval-012: whoever is not meant to answer does not, over HTTP or a WebSocket, and the journal says
/// who tried. approval-013: least of all whoever asked: not with the token the call was made with, nor
/// with one that is for agents, nor a person about a call of their own.
#[tokio::test(flavor = "multi_thread")]
async fn only_whom_the_owner_named_answers_and_never_about_their_own() {
    let site =
        Site::with("tools.approvers = ['ann', 'cy']\n[agents.helper]\ndescription = 'helps'").await;
    let cy = site.token(Who::member("cy")).await;
    let stranger = site.token(Who::member("dan")).await;
    let owners_agent = site.token(Who { agents: Some(&["main", "helper"]), ..Who::OWNER }).await;
    let approvers_agent = site.token(Who { agents: Some(&["helper"]), ..Who::member("ann") }).await;
    let ann = site.token(Who::member("ann")).await;
    let (call, question) = site.start_asking(&cy).await;
    // Who does not see a question does not learn that there is one; it is recorded all the same.
    let (refused, unseen) = ((403, "permission_denied", -32003), (404, "not_found", -32004));
    for (token, who, rule, (status, kind, code)) in [
        (&stranger, "dan", "approve:approval.unknown", unseen),
        (&cy, "cy", "approve:approval.own", refused),
        (&site.token(Who::member("cy")).await, "cy", "approve:approval.approver", refused),
        (&owners_agent, "owner", "approve:approval.agent", unseen),
        (&approvers_agent, "ann", "approve:approval.agent", unseen),
    ] {
        let before = site.answers().len();
        let refused = site.answer(token, &question, json!({"decision": "allow_once"})).await;
        assert_eq!(refused.error(), (status, kind.to_owned()), "{who} {rule}");
        let mut socket = site.socket(token).await;
        let answer = json!({"id": question["id"], "decision": "allow_always"});
        assert_eq!(socket.error("approvals.resolve", answer).await.0, code, "{who} {rule}");
        let expected = (who.to_owned(), "permission_denied".to_owned(), rule.to_owned());
        assert_eq!(site.answers().split_off(before), [expected.clone(), expected]);
        assert_eq!(site.status(&question).await, "pending", "{who} {rule}");
    }
    for token in ["tg_unknown", ""] {
        let refused = site.answer(token, &question, json!({"decision": "allow_once"})).await;
        assert_eq!(refused.status, 401);
    }
    assert!(!call.is_finished());
    assert_eq!(site.answer(&ann, &question, json!({"decision": "allow_once"})).await.status, 200);
    assert_eq!(call.await.unwrap().status, 200);
    // The owner asks with one token: that one does not answer, another one and a browser do.
    let (call, question) = site.start_asking(&site.owner).await;
    let own = site.answer(&site.owner, &question, json!({"decision": "allow_once"})).await;
    assert_eq!(own.status, 403, "{own:?}");
    assert!(own.json()["message"].as_str().unwrap().contains("this very token"));
    let path = format!("/v1/approvals/{}", question["id"].as_str().unwrap());
    let browser = site.anonymous("POST", &path).header("cookie", &site.cookie().await);
    let browser = browser.header("toolgate-request", "1").json(&json!({"decision": "allow_once"}));
    let answered = send(browser).await;
    assert_eq!(answered.json()["answered_by"], "owner (browser)", "{answered:?}");
    assert_eq!(call.await.unwrap().status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_seen_by_whose_they_are_and_who_may_answer() {
    let site = Site::with("tools.approvers = ['ann']").await;
    let [ann, bo, dan] = [
        site.token(Who::member("ann")).await,
        site.token(Who::member("bo")).await,
        site.token(Who::member("dan")).await,
    ];
    let (call, question) = site.start_asking(&bo).await;
    let path = format!("/v1/approvals/{}", question["id"].as_str().unwrap());
    let seen = async |token: &str| {
        let list = send(site.request_as(token, "GET", "/v1/approvals?status=all")).await.json();
        let open = send(site.request_as(token, "GET", "/v1/approvals")).await.json();
        let count = |list: &Value| list["approvals"].as_array().unwrap().len();
        (count(&open), count(&list), send(site.request_as(token, "GET", &path)).await.status)
    };
    for (token, expected) in
        [(&site.owner, (1, 1, 200)), (&bo, (1, 1, 200)), (&ann, (1, 0, 200)), (&dan, (0, 0, 404))]
    {
        assert_eq!(seen(token).await, expected);
    }
    assert_eq!(site.answer(&ann, &question, json!({"decision": "deny"})).await.status, 200);
    assert_eq!(call.await.unwrap().status, 403);
    // What is over is nobody's business but whose it was.
    for (token, expected) in
        [(&site.owner, (0, 1, 200)), (&bo, (0, 1, 200)), (&ann, (0, 0, 404)), (&dan, (0, 0, 404))]
    {
        assert_eq!(seen(token).await, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_answered_over_a_socket_too() {
    let site = Site::new().await;
    let approver = site.token(Who::OWNER).await;
    let mut socket = site.socket(&approver).await;
    let (call, question) = site.start_asking(&site.owner).await;
    let listed = socket.get("approvals.list", json!({})).await;
    assert_eq!(listed["approvals"][0]["id"], question["id"]);
    let answer = json!({"id": question["id"], "decision": "allow_once"});
    let (code, message) = socket.error("permissions.resolve", answer.clone()).await;
    assert!(code == -32602 && message.contains("`approvals.resolve`"), "{message}");
    let answered = socket.get("approvals.resolve", answer.clone()).await;
    assert_eq!(answered["status"], "allowed");
    assert_eq!(socket.error("approvals.resolve", answer).await.0, -32009, "only once");
    assert_eq!(call.await.unwrap().status, 200);
    assert_eq!(socket.get("approvals.list", json!({})).await["approvals"], json!([]));
    let none = json!({"id": "ap_none", "decision": "deny"});
    assert!([-32004, -32602].contains(&socket.error("approvals.resolve", none).await.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_is_asked_for_once_and_kept() {
    let site = Site::with("tools.profile = 'full'").await;
    let bo = site.token(Who::member("bo")).await;
    let mut socket = site.socket(&site.owner).await;
    socket
        .get("events.subscribe", json!({"kinds": ["permission.requested", "permission.resolved"]}))
        .await;
    let read = || {
        let request = site.request_as(&bo, "POST", "/v1/tools/read");
        tokio::spawn(send(request.json(&json!({"path": "hello.txt"}))))
    };
    for (answer, granted) in [
        (json!({"decision": "deny"}), "ask"),
        (json!({"decision": "allow_once"}), "ask"),
        (json!({"decision": "allow_always", "scope": "permission:files"}), "granted"),
    ] {
        let call = read();
        let question = socket.told("permission.requested").await;
        assert_eq!(
            (&question["rule"], &question["user"]),
            (&json!("permission:files"), &json!("bo"))
        );
        let mut answering = answer.clone();
        answering["id"] = question["id"].clone();
        let (_, message) = socket.error("approvals.resolve", answering.clone()).await;
        assert!(message.contains("`permissions.resolve`"), "{message}");
        let mut own = site.socket(&bo).await;
        assert_eq!(own.error("permissions.resolve", answering.clone()).await.0, -32003);
        socket.get("permissions.resolve", answering).await;
        assert_eq!(socket.told("permission.resolved").await["id"], question["id"]);
        let expected = if answer["decision"] == "deny" { 403 } else { 200 };
        assert_eq!(call.await.unwrap().status, expected, "{answer}");
        let listed = own.get("permissions.list", json!({})).await;
        let listed = listed["permissions"].as_array().unwrap();
        let files = listed.iter().find(|one| one["capability"] == "files").unwrap();
        assert_eq!(files["state"], granted, "{answer}");
    }
    assert_eq!(read().await.unwrap().status, 200, "and nobody is asked");
}

/// approval-008: what a command says is shown as text, whatever it looks like.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_question_shows_is_data_and_the_page_puts_it_in_as_text() {
    let site = Site::new().await;
    let hostile = "`rm -rf ~` ```\n**ok** [x](javascript:alert(1)) <img src=x onerror=alert(1)>\
                   </script><script>alert(1)</script> \u{202e}txt.exe\u{200b}\u{1b}[2K &lt; ${7*7} {{7*7}}";
    let approver = site.token(Who::OWNER).await;
    let (call, question) = site.ring("main", hostile).await;
    let path = format!("/v1/approvals/{}", question.unwrap()["id"].as_str().unwrap());
    for path in ["/v1/approvals", &path] {
        let answer = site.get(path).await;
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        let shown = answer.json();
        let shown = if path == "/v1/approvals" { &shown["approvals"][0] } else { &shown };
        // All of it, byte for byte: nothing that a person should see is left out or made up.
        assert_eq!(shown["input"]["shout"], hostile);
    }
    let id = path.rsplit('/').next().unwrap();
    site.answer(&approver, &json!({"id": id}), json!({"decision": "deny"})).await;
    assert_eq!(call.await.unwrap().status, 403);
    let page = send(site.anonymous("GET", "/")).await;
    let text = page.text();
    for markup in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "DOMParser",
        "srcdoc",
        "eval(",
    ] {
        assert!(!text.contains(markup), "{markup}");
    }
    // Whatever goes into an element goes through here, and what cannot be seen is written out: controls,
    // format characters, what is unassigned, private or no character, and spaces that are none.
    let all = text.matches(".textContent =").count();
    assert!(all > 0 && text.matches("visible(").count() >= all, "{all}");
    for class in
        [r"\p{Cc}", r"\p{Cf}", r"\p{Cn}", r"\p{Co}", r"\p{Cs}", r"\p{Zl}", r"\p{Zp}", r"\u2800"]
    {
        assert!(text.contains(class), "{class}");
    }
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
}
