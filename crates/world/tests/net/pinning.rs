//! Where connections go.

use std::process::Command;

use policy::url::UrlRules;
use tool::Fetch;
use world::NetSettings;

use crate::helper::{PUBLIC, Reply, Setup, answer};

#[tokio::test]
async fn the_connection_goes_to_the_checked_address_and_the_name_stays() {
    for (url, dialled, origin) in [
        ("http://ok.example/", "93.184.216.34:80", "http://ok.example"),
        ("https://ok.example/a", "93.184.216.34:443", "https://ok.example"),
        ("https://OK.example:8443/a", "93.184.216.34:8443", "https://ok.example:8443"),
        ("https://93.184.216.34/", "93.184.216.34:443", "https://93.184.216.34"),
    ] {
        let setup = Setup::new(|_| answer(200, &[], b"hello")).await;
        let found = setup.get(url).await.unwrap();
        assert_eq!(
            (found.status, found.body.as_slice(), found.truncated),
            (200, &b"hello"[..], false)
        );
        assert_eq!(setup.dialled(), [dialled]);
        assert_eq!(setup.seen().pop().unwrap().origin(), origin);
    }
}

/// Runs the test above in a process whose environment has proxies in it, where nobody listens.
#[test]
fn proxy_variables_change_nothing_web_007() {
    let mut test = Command::new(std::env::current_exe().unwrap());
    test.args([
        "--exact",
        "pinning::the_connection_goes_to_the_checked_address_and_the_name_stays",
    ]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]
    {
        test.env(name, "http://127.0.0.1:9");
    }
    let output = test.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}

#[tokio::test]
async fn a_name_that_moves_after_the_check_is_not_followed_web_008() {
    let setup = Setup::new(|_| answer(200, &[("connection", "close")], b"")).await;
    setup.name("ok.example", &[&[PUBLIC], &["127.0.0.1"]]);
    // Looked up once: what was checked is what is dialled.
    assert_eq!(setup.outcome(Fetch::get("http://ok.example/")).await, "200");
    assert_eq!(setup.dialled(), ["93.184.216.34:80"]);
    // The next one is looked up and checked anew.
    let outcome = setup.outcome(Fetch::get("http://ok.example/")).await;
    assert_eq!(outcome, "permission_denied \"net\": address.loopback");
    assert_eq!(setup.dialled(), ["93.184.216.34:80"]);
}

#[tokio::test]
async fn a_name_that_moves_between_two_hops_is_refused_web_008() {
    let setup = Setup::new(|_| answer(302, &[("location", "/again")], b"")).await;
    setup.name("ok.example", &[&[PUBLIC], &["169.254.169.254"]]);
    let outcome = setup.outcome(Fetch::get("http://ok.example/")).await;
    assert_eq!(outcome, "permission_denied \"net\": address.metadata");
    assert_eq!(setup.seen().len(), 1);
}

#[tokio::test]
async fn one_private_address_among_public_ones_refuses_the_name() {
    for mixed in [&[PUBLIC, "10.0.0.1"][..], &["::1", PUBLIC], &[PUBLIC, "64:ff9b::7f00:1"]] {
        let setup = Setup::new(|_| answer(200, &[], b"")).await;
        setup.name("ok.example", &[mixed]);
        let outcome = setup.outcome(Fetch::get("http://ok.example/")).await;
        assert!(outcome.starts_with("permission_denied \"net\": address."), "{mixed:?}: {outcome}");
        assert!(setup.dialled().is_empty());
    }
}

#[tokio::test]
async fn nothing_is_dialled_for_a_url_that_is_refused() {
    let setup = Setup::new(|_| answer(200, &[], b"")).await;
    for (url, expected) in [
        ("http://127.0.0.1/", "permission_denied \"net\": address.loopback"),
        ("http://ok.example:22/", "permission_denied \"net\": url.port"),
        ("ftp://ok.example/", "permission_denied \"net\": url.scheme"),
        ("http://user:pw@ok.example/", "permission_denied \"net\": url.credentials"),
        ("http://localhost/", "permission_denied \"net\": host.local"),
        ("http://nowhere.example/", "network_error"),
    ] {
        assert_eq!(setup.outcome(Fetch::get(url)).await, expected, "{url}");
    }
    assert!(setup.dialled().is_empty());
}

#[tokio::test]
async fn a_server_must_prove_its_name() {
    let setup = Setup::new(|_| answer(200, &[], b"")).await;
    setup.name("unproven.example", &[&[PUBLIC]]);
    let error = setup.get("https://unproven.example/").await.unwrap_err();
    assert_eq!(error.kind(), "network_error");
    assert!(error.to_string().starts_with("cannot make a secure connection"), "{error}");
    assert!(setup.seen().is_empty());
}

#[tokio::test]
async fn a_server_that_refuses_the_connection_is_a_network_error() {
    let setup = Setup::new(|_| answer(200, &[], b"")).await;
    let error = setup.get("http://ok.example:8080/").await.unwrap_err();
    assert_eq!(error.kind(), "network_error");
    assert_eq!(error.to_string(), "cannot connect to `ok.example:8080`: connection refused");
}

#[tokio::test]
async fn connections_are_used_again_for_the_same_origin_and_address_only() {
    let setup = Setup::new(|_| answer(200, &[], b"hello")).await;
    setup.name("other.example", &[&[PUBLIC]]);
    for (url, dialled) in [
        ("http://ok.example/a", 1),
        ("http://ok.example/b", 1),
        ("https://ok.example/", 2),
        ("https://ok.example/", 2),
        // The same address, another origin.
        ("http://other.example/", 3),
        ("http://ok.example/c", 3),
    ] {
        assert_eq!(setup.outcome(Fetch::get(url)).await, "200");
        assert_eq!(setup.dialled().len(), dialled, "{url}");
    }
    // The same origin, another address.
    setup.name("ok.example", &[&["93.184.216.99"]]);
    assert_eq!(setup.outcome(Fetch::get("http://ok.example/")).await, "200");
    assert_eq!(setup.dialled().last().unwrap(), "93.184.216.99:80");
}

#[tokio::test]
async fn a_connection_the_server_closed_is_replaced() {
    let setup =
        Setup::new(|_| Reply::Closing(b"HTTP/1.1 200 X\r\ncontent-length: 2\r\n\r\nhi".to_vec()))
            .await;
    for _ in 0..5 {
        assert_eq!(setup.get("http://ok.example/").await.unwrap().body, b"hi");
    }
}

#[tokio::test]
async fn new_rules_hold_for_open_connections_too() {
    let setup = Setup::new(|_| answer(200, &[], b"hello")).await;
    assert_eq!(setup.outcome(Fetch::get("http://ok.example/")).await, "200");
    let network = config::Network {
        deny: vec!["93.184.0.0/16".parse::<config::HostPattern>().unwrap().into()].into(),
        ..config::Network::default()
    };
    setup.door.configure(NetSettings { rules: UrlRules::new(&network), ..NetSettings::default() });
    let outcome = setup.outcome(Fetch::get("http://ok.example/")).await;
    assert_eq!(outcome, "permission_denied \"net\": network.deny");
}
