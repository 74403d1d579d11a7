//! What the network door does with URLs, row by row. Redirects are real requests, in `world`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::net::IpAddr;

use config::Network;
use policy::{
    Verdict,
    url::{CheckedUrl, UrlRules, check, explain},
};
use serde_json::Value;

const CASES: &str = include_str!("cases/urls.json");

fn rules(allow: &[&str], deny: &[&str]) -> UrlRules {
    let list = |patterns: &[&str]| {
        let patterns = patterns.iter().map(|text| text.parse::<config::HostPattern>().unwrap());
        patterns.map(Into::into).collect::<Vec<_>>().into()
    };
    UrlRules::new(&Network { allow: list(allow), deny: list(deny) })
}

/// What the row's name resolves to. A row has more names than its URL only where it redirects.
fn resolved(case: &Value, url: &str) -> Option<Vec<IpAddr>> {
    let dns = case.get("dns")?.as_object()?;
    let addresses = match dns.len() {
        1 => dns.values().next(),
        _ => dns.iter().find(|(name, _)| url.contains(name.as_str())).map(|(_, list)| list),
    };
    let parse = |ip: &Value| ip.as_str().unwrap().parse().unwrap();
    Some(addresses?.as_array()?.iter().map(parse).collect())
}

#[test]
fn every_row_of_the_cases_is_decided_as_it_says() {
    let cases: Value = serde_json::from_str(CASES).unwrap();
    let mut counted = 0;
    for case in cases["cases"].as_array().unwrap() {
        let (id, url) = (case["id"].as_str().unwrap(), case["url"].as_str().unwrap());
        let resolved = resolved(case, url);
        let decide = |rules: &UrlRules| explain(url, resolved.as_deref(), rules);
        let decision = decide(&UrlRules::default());
        // The first URL of these is fine; what follows is tested with real requests.
        let redirects = case["category"] == "redirect";
        let expected = match case["expected"].as_str().unwrap() {
            "allow" => Verdict::Allow,
            _ if redirects => Verdict::Allow,
            _ => Verdict::Deny,
        };
        assert_eq!(decision.verdict, expected, "{id} {url}: {decision:?}");
        if case["expected"] == "block-by-default-policy" {
            let port = url.rsplit(':').next().unwrap().trim_end_matches('/');
            let opened = rules(&["*", &format!("ok.example:{port}")], &[]);
            assert_eq!(decide(&opened).verdict, Verdict::Allow, "{id} {url}");
        }
        counted += 1;
    }
    assert_eq!(counted, 150);
}

/// web-002, web-003, web-009, web-010.
#[test]
fn published_ways_around_the_rules_do_not_work() {
    for (row, url, expected) in [
        ("web-002", "http://[64:ff9b::a00:1]/", "address.private"),
        ("web-002", "http://[64:ff9b::a9fe:a9fe]/", "address.metadata"),
        ("web-002", "http://[64:ff9b:1::a00:1]/", "address.embedded"),
        ("web-002", "http://[2002:a00:1::]/", "address.embedded"),
        ("web-002", "http://[2001:0:4136:e378:8000:63bf:f5ff:fffe]/", "address.embedded"),
        ("web-002", "http://[2600::5efe:c0a8:101]/", "address.private"),
        ("web-003", "http://0177.0.0.1/", "host.form"),
        ("web-003", "http://127.1/", "host.form"),
        ("web-003", "http://2130706433/", "host.form"),
        ("web-009", "ws://169.254.169.254", "url.scheme"),
        ("web-009", "http://169.254.169.254", "address.metadata"),
    ] {
        let refusal = check(url, &UrlRules::default()).unwrap_err();
        assert_eq!(refusal.rule, expected, "{row} {url}: {refusal}");
    }
    let only = rules(&["docs.python.org", "*.rust-lang.org"], &[]);
    for (row, url, expected) in [
        ("web-010", "https://docs.python.org/3/", Ok(())),
        ("web-010", "https://DOCS.python.org./3/", Ok(())),
        ("web-010", "https://docs.python.org.evil.example/", Err("network.allow")),
        ("web-010", "https://evildocs.python.org/", Err("network.allow")),
        ("web-010", "https://a.docs.python.org/", Err("network.allow")),
        ("web-010", "https://docs.python.org@evil.example/", Err("url.credentials")),
        ("web-010", "https://www.rust-lang.org/", Ok(())),
        ("web-010", "https://rust-lang.org/", Err("network.allow")),
        ("web-010", "https://www.rust-lang.org.evil.example/", Err("network.allow")),
        ("web-010", "https://evilrust-lang.org/", Err("network.allow")),
    ] {
        let result = check(url, &only).map(|_| ()).map_err(|refusal| refusal.rule);
        assert_eq!(result, expected, "{row} {url}");
    }
}

#[test]
fn lists_open_and_close_what_they_name() {
    let ip = |text: &str| text.parse::<IpAddr>().unwrap();
    let inside = ["*", "*.corp.example", "10.1.0.0/16", "[fd00::]/8:9200", "127.0.0.1:3000"];
    for (allow, deny, url, resolved, expected) in [
        (&[][..], &[][..], "https://example.org/", "93.184.216.34", "network.allow"),
        (&["*"], &["*"], "https://example.org/", "93.184.216.34", "network.deny"),
        (&["*"], &["*.example.org"], "https://a.example.org/", "93.184.216.34", "network.deny"),
        (&["*"], &["example.org:443"], "http://example.org/", "93.184.216.34", "allow"),
        (&["*"], &["93.184.0.0/16"], "https://example.org/", "93.184.216.34", "network.deny"),
        (&["*"], &["93.184.0.0/16"], "https://example.org/", "64:ff9b::5db8:d822", "network.deny"),
        (
            &["*"],
            &["93.184.0.0/16"],
            "https://example.org/",
            "::ffff:93.184.216.34",
            "network.deny",
        ),
        (&["10.0.0.0/8"], &["10.1.2.3"], "http://10.1.2.3/", "", "network.deny"),
        (&inside, &[], "http://10.1.2.3/", "", "allow"),
        (&inside, &[], "http://[::ffff:10.1.2.3]/", "", "allow"),
        // What is inside another network is reached through that network, which nobody named.
        (&inside, &[], "http://[2002:a01:203::]/", "", "address.embedded"),
        (&inside, &[], "http://10.2.2.3/", "", "address.private"),
        (&inside, &[], "http://wiki.corp.example/", "10.1.2.3", "allow"),
        // A name that was opened does not open what it resolves to.
        (&inside, &[], "http://wiki.corp.example/", "169.254.169.254", "address.metadata"),
        (&inside, &[], "http://public.example/", "10.1.2.3", "allow"),
        (&inside, &[], "http://[fd00::1]:9200/", "", "allow"),
        (&inside, &[], "http://[fd00::1]/", "", "address.private"),
        (&inside, &[], "http://127.0.0.1:3000/", "", "allow"),
        (&inside, &[], "http://127.0.0.1:3001/", "", "address.loopback"),
        (&inside, &[], "http://localhost:3000/", "127.0.0.1", "host.local"),
        (
            &["localhost:3000", "127.0.0.1:3000"],
            &[],
            "http://localhost:3000/",
            "127.0.0.1",
            "allow",
        ),
        (&["10.0.0.0/8"], &[], "http://a.example/", "93.184.216.34", "network.allow"),
        (&["a.example:9200"], &[], "http://a.example/", "93.184.216.34", "url.port"),
        (&["a.example:9200"], &[], "http://a.example:9200/", "93.184.216.34", "allow"),
    ] {
        let resolved: Vec<IpAddr> =
            Some(resolved).filter(|r| !r.is_empty()).map(ip).into_iter().collect();
        let decision = explain(url, Some(&resolved), &rules(allow, deny));
        let rule = if decision.verdict == Verdict::Allow { "allow" } else { &decision.rule };
        assert_eq!(rule, expected, "{allow:?} {deny:?} {url}: {}", decision.reason);
    }
}

#[test]
fn one_address_that_may_not_be_reached_refuses_the_name() {
    let url = check("https://a.example/", &UrlRules::default()).unwrap();
    let ips = |list: &[&str]| list.iter().map(|ip| ip.parse().unwrap()).collect::<Vec<IpAddr>>();
    for (list, expected) in [
        (&["93.184.216.34", "2606:4700:4700::1111"][..], Ok(())),
        (&["93.184.216.34", "10.0.0.1"], Err("address.private")),
        (&["::1", "93.184.216.34"], Err("address.loopback")),
        (&[], Err("host.unknown")),
    ] {
        let result = url.check_addresses(&ips(list), &UrlRules::default());
        assert_eq!(result.map_err(|refusal| refusal.rule), expected, "{list:?}");
    }
}

#[test]
fn what_passes_is_normalised() {
    for (url, expected, origin, target) in [
        (
            "HTTPS://Example.COM.:443/a/../b?q=1#top",
            "https://example.com/b?q=1",
            "https://example.com",
            "/b?q=1",
        ),
        ("http://example.com:8080", "http://example.com:8080/", "http://example.com:8080", "/"),
        (
            "http://bücher.example/ü",
            "http://xn--bcher-kva.example/%C3%BC",
            "http://xn--bcher-kva.example",
            "/%C3%BC",
        ),
        (
            "https://[2606:4700:4700:0::1111]/",
            "https://[2606:4700:4700::1111]/",
            "https://[2606:4700:4700::1111]",
            "/",
        ),
        ("https://example.com?q", "https://example.com/?q", "https://example.com", "/?q"),
        (" https://example.com/a b ", "https://example.com/a%20b", "https://example.com", "/a%20b"),
    ] {
        let checked = check(url, &UrlRules::default()).unwrap();
        assert_eq!(checked.as_str(), expected);
        assert_eq!((checked.origin().as_str(), checked.target()), (origin, target), "{url}");
        // What was checked once passes again, and stays as it is.
        assert_eq!(check(checked.as_str(), &UrlRules::default()).unwrap(), checked);
    }
}

#[test]
fn ambiguous_spellings_are_refused() {
    for (url, expected) in [
        ("http://ok.example\\@127.0.0.1/", "url.ambiguous"),
        ("http://ok.example/a\\b", "url.ambiguous"),
        ("http://ok.exa\tmple/", "url.ambiguous"),
        ("http://ok.example/\r\nHost: evil", "url.ambiguous"),
        ("http:ok.example", "url"),
        ("http:///ok.example/", "url"),
        ("http://@ok.example/", "url.credentials"),
        ("http://user:pw@ok.example/", "url.credentials"),
        ("http://ok..example/", "host.name"),
        ("http://1572395042/", "host.form"),
        ("http://93.184.216.34./", "host.form"),
        ("http://ok.example:0/", "url.port"),
        ("http://metadata.goog/", "host.local"),
        ("http://expyuzz4wqqyqhjn.onion/", "host.local"),
        ("http://a.home.arpa/", "host.local"),
    ] {
        let refusal = check(url, &UrlRules::default()).unwrap_err();
        assert_eq!(refusal.rule, expected, "{url}: {refusal}");
    }
    let long = format!("https://example.com/{}", "a".repeat(20_000));
    assert_eq!(check(&long, &UrlRules::default()).unwrap_err().rule, "url.length");
}

#[test]
fn a_redirect_is_checked_from_scratch() {
    let from = check("https://ok.example/a/b", &UrlRules::default()).unwrap();
    for (location, expected) in [
        ("c?d", Ok("https://ok.example/a/c?d")),
        ("/c", Ok("https://ok.example/c")),
        ("//other.example/", Ok("https://other.example/")),
        ("http://ok.example:22/", Err("url.port")),
        ("//127.0.0.1/", Err("address.loopback")),
        ("http://[::ffff:a9fe:a9fe]/", Err("address.metadata")),
        ("file:///etc/passwd", Err("url.scheme")),
        ("http://user:pass@127.0.0.1/", Err("url.credentials")),
        ("http://127.0.0.1\\@ok.example/", Err("url.ambiguous")),
        ("\\\\127.0.0.1/", Err("url.ambiguous")),
    ] {
        let next = from.follow(location, &UrlRules::default());
        let next = next.as_ref().map(CheckedUrl::as_str).map_err(|refusal| refusal.rule);
        assert_eq!(next, expected, "{location}");
    }
}
