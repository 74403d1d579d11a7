//! Who somebody is comes from their token, and from nothing else.

use std::time::Duration;

use serde_json::json;

use crate::{
    client::{Request, send},
    helper::{Site, Who},
};

const REFUSED: u16 = 401;

#[tokio::test(flavor = "multi_thread")]
async fn everything_but_a_few_needs_a_token() {
    let site = Site::new().await;
    for (method, path, expected) in [
        ("GET", "/", 200),
        ("GET", "/healthz", 200),
        ("HEAD", "/healthz", 200),
        ("GET", "/readyz", 200),
        ("POST", "/v1/sign-in", 415),
        ("GET", "/v1/tools", REFUSED),
        ("GET", "/v1/tools/read", REFUSED),
        ("POST", "/v1/tools/read", REFUSED),
        ("POST", "/v1/check/command", REFUSED),
        ("GET", "/v1/calls", REFUSED),
        ("GET", "/v1/approvals", REFUSED),
        ("POST", "/v1/sign-out", REFUSED),
        ("GET", "/metrics", REFUSED),
        ("GET", "/openapi.json", REFUSED),
        ("GET", "/no/such/path", REFUSED),
        ("DELETE", "/healthz", REFUSED),
        ("GET", "/healthz/", REFUSED),
        ("GET", "//healthz", REFUSED),
        ("GET", "/v1/sign-in", REFUSED),
    ] {
        let answer = send(site.anonymous(method, path)).await;
        assert_eq!(answer.status, expected, "{method} {path}: {answer:?}");
        if expected == REFUSED {
            assert_eq!(answer.header("www-authenticate"), "Bearer", "{path}");
            assert_eq!(answer.json()["error_type"], "unauthenticated", "{path}");
            assert_eq!(answer.json()["status"], "error", "{path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_comes_in_one_of_three_headers() {
    let site = Site::new().await;
    let token = site.owner.as_str();
    let wrong = "tg_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let bearer = |token: &str| format!("Bearer {token}");
    for (headers, expected) in [
        (vec![("authorization", bearer(token))], 200),
        (vec![("authorization", format!("bearer  {token} "))], 200),
        (vec![("x-api-key", token.to_owned())], 200),
        (vec![("x-goog-api-key", token.to_owned())], 200),
        (vec![("authorization", bearer(token)), ("x-api-key", token.to_owned())], 200),
        (vec![("authorization", bearer(token)), ("x-api-key", wrong.to_owned())], REFUSED),
        (vec![("authorization", bearer(token)), ("authorization", bearer(wrong))], REFUSED),
        (vec![("authorization", bearer(wrong))], REFUSED),
        (vec![("authorization", token.to_owned())], REFUSED),
        (vec![("authorization", format!("Basic {token}"))], REFUSED),
        (vec![("authorization", bearer(""))], REFUSED),
        (vec![("authorization", bearer(&token.to_lowercase()))], REFUSED),
        (vec![("authorization", bearer(&"x".repeat(5_000)))], REFUSED),
        (vec![("x-token", token.to_owned())], REFUSED),
        (vec![("cookie", format!("token={token}"))], REFUSED),
    ] {
        let request = site.anonymous("GET", "/v1/tools");
        let add = |request: Request, (name, value): &(&str, String)| request.header(name, value);
        let answer = send(headers.iter().fold(request, add)).await;
        assert_eq!(answer.status, expected, "{headers:?}");
    }
    let in_query = send(site.anonymous("GET", &format!("/v1/tools?token={token}"))).await;
    assert_eq!(in_query.status, REFUSED);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_works_until_it_ends_or_is_revoked() {
    let site = Site::new().await;
    let hour = Some(Duration::from_hours(1));
    let short = site.token(Who { lasts: hour, ..Who::OWNER }).await;
    let other = site.token(Who::member("bo")).await;
    let works = async |token: &str| send(site.request_as(token, "GET", "/v1/tools")).await.status;
    assert_eq!(works(&short).await, 200);
    site.pass(Duration::from_hours(2));
    assert_eq!(works(&short).await, REFUSED, "although it was just looked up");
    assert_eq!(works(&other).await, 200);
    let listed = site.get("/v1/tokens").await.json();
    let id = listed["tokens"].as_array().unwrap().iter().find(|token| token["user"] == "bo");
    let id = id.unwrap()["id"].as_str().unwrap().to_owned();
    let revoked = send(site.request("DELETE", &format!("/v1/tokens/{id}"))).await;
    assert_eq!(revoked.status, 200, "{revoked:?}");
    assert_eq!(works(&other).await, REFUSED, "at once");
    let again = send(site.request("DELETE", &format!("/v1/tokens/{id}"))).await;
    assert_eq!(again.status, 404);
}

#[tokio::test]
async fn an_expired_token_or_link_stays_expired_when_the_clock_goes_back() {
    let mut site = Site::new().await;
    let hour = Duration::from_hours(1);
    let token = site.token(Who { lasts: Some(hour), ..Who::OWNER }).await;
    let link = site.link().await;
    site.pass(2 * hour);
    assert_eq!(send(site.request_as(&token, "GET", "/v1/tools")).await.status, REFUSED);
    site.set_back(3 * hour);
    for _ in 0..2 {
        let status = send(site.request_as(&token, "GET", "/v1/tools")).await.status;
        assert_eq!(status, REFUSED, "the clock was set back");
        let origin = format!("http://{}", site.address);
        let sign_in = site.anonymous("POST", "/v1/sign-in").header("origin", &origin);
        assert_eq!(send(sign_in.json(&json!({"token": link}))).await.status, REFUSED);
        // Another process has never seen the later time itself.
        site = site.restart().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_another_process_revokes_is_worth_nothing_at_once() {
    let site = Site::new().await;
    let token = site.token(Who::member("bo")).await;
    assert_eq!(send(site.request_as(&token, "GET", "/v1/tools")).await.status, 200);
    // As `toolgate tokens revoke` does, with a database of its own.
    let db = store::Db::open(&site.path("../data")).await.unwrap();
    let tokens = db.tokens(Some("bo")).await.unwrap();
    let now = tokens[0].created_at;
    assert!(db.revoke_token(&tokens[0].id, "owner", now).await.unwrap());
    assert_eq!(send(site.request_as(&token, "GET", "/v1/tools")).await.status, REFUSED);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_and_a_session_are_named_within_what_the_token_allows() {
    let site = Site::with("[agents.scout]\ndescription = 'looks around'").await;
    let agents = site.token(Who { agents: Some(&["helper", "scout"]), ..Who::OWNER }).await;
    for (token, headers, expected) in [
        (&site.owner, vec![], Ok(("main", "main"))),
        (&site.owner, vec![("toolgate-agent", "scout")], Ok(("scout", "main"))),
        (
            &site.owner,
            vec![("toolgate-session", "a/b:c@d+e-f_g.h")],
            Ok(("main", "a/b:c@d+e-f_g.h")),
        ),
        (&agents, vec![("toolgate-agent", "scout")], Ok(("scout", "main"))),
        (&agents, vec![], Err(403)),
        (&agents, vec![("toolgate-agent", "main")], Err(403)),
        (&agents, vec![("toolgate-agent", "Scout")], Err(403)),
        (&site.owner, vec![("toolgate-session", "")], Err(400)),
        (&site.owner, vec![("toolgate-session", "a b")], Err(400)),
        (&site.owner, vec![("toolgate-session", "a"), ("toolgate-session", "b")], Err(400)),
        (&site.owner, vec![("toolgate-agent", "a\u{e9}")], Err(400)),
    ] {
        let request = site.request_as(token, "POST", "/v1/tools/get_current_time").json(&json!({}));
        let request =
            headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        let answer = send(request).await;
        match expected {
            Ok((agent, session)) => {
                assert_eq!(answer.status, 200, "{headers:?}: {answer:?}");
                let last = site.entries().pop().unwrap();
                assert_eq!((last.agent.as_str(), last.session.as_str()), (agent, session));
                assert_eq!(last.channel.as_deref(), Some("http"));
            }
            Err(status) => assert_eq!(answer.status, status, "{headers:?}: {answer:?}"),
        }
    }
    let long =
        send(site.request("GET", "/v1/tools").header("toolgate-session", &"s".repeat(129))).await;
    assert_eq!(long.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agents_token_does_not_run_the_place() {
    let site = Site::new().await;
    let agent = site.token(Who { agents: Some(&["main"]), ..Who::OWNER }).await;
    for (method, path, expected) in [
        ("GET", "/v1/tools", 200),
        ("GET", "/v1/calls", 200),
        ("GET", "/metrics", 403),
        ("GET", "/v1/policy/explain?tool=read", 403),
        ("POST", "/v1/tokens", 403),
        ("POST", "/v1/permissions", 403),
        ("DELETE", "/v1/permissions?capability=exec", 403),
        ("POST", "/v1/calls/019a2b6e-0000-7000-8000-000000000000/undo", 403),
    ] {
        let answer = send(site.request_as(&agent, method, path).json(&json!({}))).await;
        assert_eq!(answer.status, expected, "{method} {path}: {answer:?}");
    }
}

/// gateway-004: what a client says about its own rights counts for nothing.
#[tokio::test(flavor = "multi_thread")]
async fn declared_scopes_give_nothing() {
    let site = Site::new().await;
    let member = site.token(Who::member("bo")).await;
    for (name, value) in [
        ("x-openclaw-scopes", "operator.admin"),
        ("x-scopes", "operator.admin"),
        ("toolgate-role", "owner"),
        ("toolgate-user", "owner"),
        ("x-user", "owner"),
        ("x-forwarded-user", "owner"),
        ("x-remote-user", "owner"),
        ("x-forwarded-for", "127.0.0.1"),
    ] {
        let request = site.request_as(&member, "GET", "/metrics").header(name, value);
        assert_eq!(send(request).await.status, 403, "{name}");
        let call =
            site.request_as(&member, "POST", "/v1/tools/get_current_time").header(name, value);
        assert_eq!(send(call.json(&json!({}))).await.status, 200);
        let last = site.entries().pop().unwrap();
        assert_eq!((last.user_id.as_str(), last.role.as_str()), ("bo", "member"), "{name}");
    }
    for query in ["?scopes=operator.admin", "?role=owner", "?user=owner&scopes=x"] {
        let answer = send(site.request_as(&member, "GET", &format!("/v1/tools{query}"))).await;
        assert_eq!(answer.status, 400, "{query}");
    }
    let body = json!({"name": "x", "scopes": ["operator.admin"]});
    let answer = send(site.request("POST", "/v1/tokens").json(&body)).await;
    assert_eq!(answer.error(), (400, "validation_error".to_owned()));
}

/// gateway-010: the address of a client is the one of its socket.
#[tokio::test(flavor = "multi_thread")]
async fn too_many_wrong_tokens_wait_whatever_address_a_header_claims() {
    let site = Site::new().await;
    assert_eq!(site.get("/v1/tools").await.status, 200, "known from now on");
    let fresh = site.token(Who::member("bo")).await;
    let mut statuses = Vec::new();
    for number in 0..25 {
        let request = site
            .request_as(&format!("tg_wrong{number}"), "GET", "/v1/tools")
            .header("x-forwarded-for", &format!("203.0.113.{number}"))
            .header("x-real-ip", &format!("203.0.113.{number}"))
            .header("forwarded", &format!("for=203.0.113.{number}"));
        statuses.push(send(request).await.status);
    }
    assert_eq!(statuses, [vec![401; 20], vec![429; 5]].concat());
    let waiting = send(site.request_as("tg_more", "GET", "/v1/tools")).await;
    assert!((1..=60).contains(&waiting.header("retry-after").parse::<u64>().unwrap()));
    assert_eq!(waiting.json()["error_type"], "rate_limited");
    // Nobody is locked out by somebody behind the same address, whether they were there before or not.
    assert_eq!(site.get("/v1/tools").await.status, 200);
    assert_eq!(send(site.request_as(&fresh, "GET", "/v1/tools")).await.status, 200);
    assert_eq!(send(site.request_as("tg_more", "GET", "/v1/tools")).await.status, 429, "still");
    assert_eq!(send(site.anonymous("GET", "/healthz")).await.status, 200);
}

/// Every entrance at which a secret is looked at. One that is missing here is one that can be guessed at.
#[derive(Debug, Clone, Copy)]
enum Entrance {
    Header(&'static str),
    Cookie,
    Link,
    Mcp,
    SocketHeader(&'static str),
    SocketCookie,
    SocketMessage,
}

const ENTRANCES: [Entrance; 10] = [
    Entrance::Header("authorization"),
    Entrance::Header("x-api-key"),
    Entrance::Header("x-goog-api-key"),
    Entrance::Cookie,
    Entrance::Link,
    Entrance::Mcp,
    Entrance::SocketHeader("authorization"),
    Entrance::SocketHeader("x-api-key"),
    Entrance::SocketCookie,
    Entrance::SocketMessage,
];

impl Entrance {
    /// How a secret is answered, as an HTTP status.
    async fn try_with(self, site: &Site, secret: &str) -> u16 {
        let value = |name: &str| {
            if name == "authorization" { format!("Bearer {secret}") } else { secret.to_owned() }
        };
        let cookie = format!("toolgate-{}={secret}", site.address.port());
        let own = format!("http://{}", site.address);
        let get = |name: &str, value: &str| site.anonymous("GET", "/v1/tools").header(name, value);
        let open = async |headers: &[(&str, &str)]| site.open(headers).await.err().unwrap_or(101);
        match self {
            Self::Header(name) => send(get(name, &value(name))).await.status,
            Self::Cookie => send(get("cookie", &cookie)).await.status,
            Self::Link => {
                let request = site.anonymous("POST", "/v1/sign-in").header("origin", &own);
                send(request.json(&json!({"token": secret}))).await.status
            }
            Self::Mcp => {
                let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
                send(site.request_as(secret, "POST", "/mcp").json(&ping)).await.status
            }
            Self::SocketHeader(name) => open(&[(name, &value(name))]).await,
            Self::SocketCookie => open(&[("cookie", &cookie), ("origin", &own)]).await,
            Self::SocketMessage => {
                let mut socket = site.open(&[]).await.unwrap();
                match socket.ask("authenticate", json!({"token": secret})).await {
                    Ok(_) => 200,
                    Err(error) if error["code"] == -32001 => 401,
                    Err(error) if error["code"] == -32029 => 429,
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_secrets_are_counted_together_whatever_the_entrance() {
    // Each alone, and then all of them in turn.
    let alone = ENTRANCES.iter().map(|entrance| vec![*entrance; 20]);
    let turns = ENTRANCES.iter().copied().cycle().take(20).collect();
    for tries in alone.chain([turns]) {
        let site = Site::new().await;
        for (number, entrance) in tries.iter().enumerate() {
            let status = entrance.try_with(&site, &format!("tg_wrong{number}")).await;
            assert_eq!(status, 401, "{number} {entrance:?}");
        }
        for entrance in ENTRANCES {
            let status = entrance.try_with(&site, "tg_more").await;
            assert_eq!(status, 429, "{entrance:?} after {:?}", tries[0]);
            // One that works does so, although nobody has come with it before.
            let right = if let Entrance::Link = entrance {
                site.link().await
            } else {
                site.token(Who::member("bo")).await
            };
            let status = entrance.try_with(&site, &right).await;
            assert!(![401, 403, 429].contains(&status), "{entrance:?}: {status}");
        }
    }
}
