//! A browser signs in with a link, and its cookie alone changes nothing.

use std::time::Duration;

use serde_json::json;

use crate::{
    client::{Answer, Request, send},
    helper::Site,
};

impl Site {
    fn sign_in_with(&self, secret: &str) -> Request {
        let origin = format!("http://{}", self.address);
        let request = self.anonymous("POST", "/v1/sign-in").header("origin", &origin);
        request.json(&json!({"token": secret}))
    }

    /// The cookie of a browser that signs in.
    pub(crate) async fn cookie(&self) -> String {
        let answer = send(self.sign_in_with(&self.link().await)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.header("set-cookie").split(';').next().unwrap().to_owned()
    }

    async fn with_cookie(&self, cookie: &str, request: Request) -> Answer {
        send(request.header("cookie", &format!("other=1; {cookie}"))).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_signs_in_once_and_for_a_while() {
    let site = Site::new().await;
    let secret = site.link().await;
    let answer = send(site.sign_in_with(&secret)).await;
    let cookie = answer.header("set-cookie");
    for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(cookie.starts_with(&format!("toolgate-{}=tg_", site.address.port())), "{cookie}");
    assert!(!cookie.contains("Secure"), "there is no TLS here");
    assert!(!answer.text().contains("tg_"), "no script gets it");
    let again = send(site.sign_in_with(&secret)).await;
    assert_eq!(again.status, 401);
    assert!(again.json()["message"].as_str().unwrap().contains("toolgate tokens link"));
    let late = site.link().await;
    site.pass(Duration::from_mins(11));
    assert_eq!(send(site.sign_in_with(&late)).await.status, 401);
    // A token is no link: what an agent holds does not become a person's session.
    assert_eq!(send(site.sign_in_with(&site.owner)).await.status, 401);
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(site.with_cookie(cookie, site.anonymous("GET", "/v1/stats")).await.status, 200);
    site.pass(Duration::from_hours(12));
    assert_eq!(site.with_cookie(cookie, site.anonymous("GET", "/v1/stats")).await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_alone_changes_nothing() {
    let site = Site::new().await;
    let cookie = site.cookie().await;
    let own = format!("http://{}", site.address);
    let local = format!("http://localhost:{}", site.address.port());
    for (method, headers, expected) in [
        ("GET", vec![], 200),
        ("GET", vec![("sec-fetch-site", "same-origin")], 200),
        ("GET", vec![("sec-fetch-site", "same-site")], 403),
        ("GET", vec![("sec-fetch-site", "cross-site")], 403),
        ("POST", vec![], 403),
        ("POST", vec![("referer", own.as_str())], 403),
        ("POST", vec![("origin", own.as_str())], 200),
        ("POST", vec![("origin", local.as_str())], 200),
        ("POST", vec![("toolgate-request", "1")], 200),
        ("POST", vec![("origin", "http://localhost:1")], 403),
        ("POST", vec![("origin", "https://evil.example"), ("toolgate-request", "1")], 403),
        ("POST", vec![("origin", "null")], 403),
    ] {
        let path = if method == "GET" { "/v1/tools" } else { "/v1/tools/get_current_time" };
        let request = site.anonymous(method, path).json(&json!({}));
        let request =
            headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        let answer = site.with_cookie(&cookie, request).await;
        assert_eq!(answer.status, expected, "{method} {headers:?}: {answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_out_ends_it_everywhere() {
    let site = Site::new().await;
    let cookie = site.cookie().await;
    let out = site.anonymous("POST", "/v1/sign-out").header("toolgate-request", "1");
    let answer = site.with_cookie(&cookie, out).await;
    assert_eq!(answer.status, 200);
    assert!(answer.header("set-cookie").contains("Max-Age=0"));
    assert_eq!(site.with_cookie(&cookie, site.anonymous("GET", "/v1/stats")).await.status, 401);
    // A program's token is not the browser's to end.
    assert_eq!(site.post("/v1/sign-out", json!({})).await.status, 200);
    assert_eq!(site.get("/v1/stats").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_one_file_that_nothing_can_be_put_into() {
    let site = Site::new().await;
    let page = send(site.anonymous("GET", "/")).await;
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(policy.matches("'sha256-").count(), 2, "{policy}");
    assert_eq!(page.header("x-frame-options"), "DENY");
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    assert!(
        page.text().contains("history.replaceState"),
        "the secret does not stay in the address bar"
    );
}
