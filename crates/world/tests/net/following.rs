//! Where redirects lead.

use tool::{Fetch, Method};

use crate::helper::{Reply, Setup, answer};

const CASES: &str = include_str!("../../../policy/tests/cases/urls.json");

fn redirect(status: u16, location: &str) -> Reply {
    answer(status, &[("location", location)], b"moved")
}

/// The rows with `redirects`, and the one about a page that tells a browser to go on.
#[tokio::test]
async fn every_redirect_of_the_cases_is_refused_at_the_hop() {
    let cases: serde_json::Value = serde_json::from_str(CASES).unwrap();
    let rows = cases["cases"].as_array().unwrap().iter();
    let mut counted = 0;
    for row in rows.filter(|row| row["category"] == "redirect") {
        let (id, url) = (row["id"].as_str().unwrap(), row["url"].as_str().unwrap());
        let hops = row["redirects"].as_array().cloned().unwrap_or_default();
        let hops: Vec<String> = hops.iter().map(|hop| hop.as_str().unwrap().to_owned()).collect();
        let follows = !hops.is_empty();
        let setup = Setup::new(move |_| match hops.first() {
            Some(location) => redirect(302, location),
            None => answer(
                200,
                &[("content-type", "text/html"), ("refresh", "0; url=http://127.0.0.1/")],
                b"<meta http-equiv=refresh content='0; url=http://127.0.0.1/'>",
            ),
        })
        .await;
        let outcome = setup.outcome(Fetch::get(url)).await;
        if follows {
            assert!(outcome.starts_with("permission_denied \"net\": "), "{id}: {outcome}");
        } else {
            assert_eq!(outcome, "200", "{id}");
        }
        assert_eq!(setup.dialled(), ["93.184.216.34:443"], "{id}");
        assert_eq!(setup.seen().len(), 1, "{id}");
        counted += 1;
    }
    assert_eq!(counted, 11);
}

#[tokio::test]
async fn a_redirect_to_a_metadata_service_is_refused_web_005() {
    for status in [301, 302, 303, 307, 308] {
        let setup =
            Setup::new(move |_| redirect(status, "http://169.254.169.254/latest/meta-data/")).await;
        let outcome = setup.outcome(Fetch::get("http://ok.example/")).await;
        assert_eq!(outcome, "permission_denied \"net\": address.metadata", "{status}");
        assert_eq!(setup.dialled(), ["93.184.216.34:80"], "{status}");
    }
}

#[tokio::test]
async fn a_redirect_to_a_name_with_a_private_address_is_refused() {
    let setup = Setup::new(|_| redirect(302, "http://inside.example/")).await;
    setup.name("inside.example", &[&["10.0.0.1"]]);
    let outcome = setup.outcome(Fetch::get("http://ok.example/")).await;
    assert_eq!(outcome, "permission_denied \"net\": address.private");
    assert_eq!(setup.dialled(), ["93.184.216.34:80"]);
}

/// Each hop, and whether it still carries what the tool gave for the first origin.
#[tokio::test]
async fn credentials_never_cross_origins_web_006() {
    for (start, hops, expected) in [
        ("http://ok.example/", &["/again"][..], "yes yes"),
        ("http://ok.example/", &["//other.example/"], "yes no"),
        ("http://ok.example/", &["https://ok.example/"], "yes no"),
        ("https://ok.example/", &["http://ok.example/"], "yes no"),
        ("https://ok.example/", &["https://ok.example:8443/"], "yes no"),
        // What was dropped does not come back.
        ("http://ok.example/", &["//other.example/", "//ok.example/b"], "yes no no"),
    ] {
        let owned: Vec<String> = hops.iter().map(|&hop| hop.to_owned()).collect();
        let count = std::sync::atomic::AtomicUsize::new(0);
        let setup = Setup::new(move |_| {
            let next = owned.get(count.fetch_add(1, std::sync::atomic::Ordering::SeqCst));
            next.map_or_else(|| answer(200, &[], b""), |location| redirect(302, location))
        })
        .await;
        let secrets = ["Authorization", "Cookie", "X-Api-Key"];
        let headers = secrets.iter().map(|&name| (name.to_owned(), "secret".to_owned()));
        let headers = headers.chain([("Accept".to_owned(), "text/css".to_owned())]).collect();
        let fetch = Fetch { headers, ..Fetch::get(start) };
        assert_eq!(setup.outcome(fetch).await, "200", "{hops:?}");
        let seen = setup.seen();
        let kept =
            |name: &&str| seen.iter().map(|seen| seen.header(name).is_some()).collect::<Vec<_>>();
        for name in &secrets {
            let kept: Vec<_> =
                kept(name).iter().map(|&kept| if kept { "yes" } else { "no" }).collect();
            assert_eq!(kept.join(" "), expected, "{start} {hops:?} {name}");
        }
        assert!(seen.iter().all(|seen| seen.header("accept") == Some("text/css")));
        assert!(
            seen.iter().all(|seen| !seen.text.contains("secret")
                || seen.origin() == start.trim_end_matches('/'))
        );
    }
}

#[tokio::test]
async fn method_and_body_change_as_in_a_browser() {
    for (status, method, expected) in [
        (301, Method::Post, "GET "),
        (302, Method::Post, "GET "),
        (303, Method::Post, "GET "),
        (307, Method::Post, "POST hello"),
        (308, Method::Post, "POST hello"),
        (301, Method::Put, "PUT hello"),
        (303, Method::Put, "GET "),
        (303, Method::Head, "HEAD "),
        (308, Method::Delete, "DELETE hello"),
    ] {
        let setup = Setup::new(move |seen| match seen.path() {
            "/" => redirect(status, "/next"),
            _ => answer(200, &[], b""),
        })
        .await;
        let body = (method != Method::Head).then(|| b"hello".to_vec());
        let headers = [("Content-Type".to_owned(), "text/plain".to_owned())].into();
        let fetch = Fetch { method, body, headers, ..Fetch::get("http://ok.example/") };
        // The answer to `HEAD` here has a length and no body, which ends that connection.
        let _ = setup.outcome(fetch).await;
        let seen = setup.seen().pop().unwrap();
        assert_eq!(format!("{} {}", seen.method(), seen.body()), expected, "{status} {method}");
        assert_eq!(
            seen.header("content-type").is_some(),
            expected.ends_with("hello") || method == Method::Head
        );
    }
}

#[tokio::test]
async fn what_was_agreed_to_be_sent_to_one_host_is_not_sent_to_another() {
    for (status, start, location, requests) in [
        (307, "http://ok.example/", "http://other.example/", 1),
        (308, "https://ok.example/", "http://ok.example/", 1),
        (307, "http://ok.example/", "http://ok.example:8443/", 1),
        // The same host, encrypted.
        (308, "http://ok.example/", "https://ok.example/", 2),
        // No longer a `POST`.
        (302, "http://ok.example/", "http://other.example/", 2),
    ] {
        let setup = Setup::new(move |seen| {
            let first = seen.origin() == start.trim_end_matches('/');
            if first { redirect(status, location) } else { answer(200, &[], b"") }
        })
        .await;
        let body = Some(b"hello".to_vec());
        let fetch = Fetch { method: Method::Post, body, ..Fetch::get(start) };
        let expected = if requests == 1 { status.to_string() } else { "200".to_owned() };
        assert_eq!(setup.outcome(fetch).await, expected, "{location}");
        assert_eq!(setup.seen().len(), requests, "{location}");
    }
}

#[tokio::test]
async fn redirects_end_web_015() {
    let setup = Setup::new(|seen| redirect(302, &format!("{}x", seen.path()))).await;
    assert_eq!(setup.outcome(Fetch::get("http://ok.example/")).await, "network_error");
    assert_eq!(setup.seen().len(), 6);
    let setup = Setup::new(|_| redirect(302, &format!("/{}", "x".repeat(20_000)))).await;
    let outcome = setup.outcome(Fetch::get("http://ok.example/")).await;
    assert_eq!(outcome, "permission_denied \"net\": url.length");
}

#[tokio::test]
async fn an_answer_that_only_looks_like_a_redirect_is_an_answer() {
    for (status, headers) in
        [(302, &[][..]), (304, &[("location", "/x")]), (200, &[("location", "/x")]), (300, &[])]
    {
        let setup = Setup::new(move |_| match status {
            304 => Reply::Whole(b"HTTP/1.1 304 X\r\nlocation: /x\r\n\r\n".to_vec()),
            _ => answer(status, headers, b""),
        })
        .await;
        assert_eq!(setup.outcome(Fetch::get("http://ok.example/")).await, status.to_string());
        assert_eq!(setup.seen().len(), 1);
    }
}
