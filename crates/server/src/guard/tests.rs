use super::*;

fn ends(local: &str) -> Ends {
    Ends { local: local.parse().unwrap(), peer: "127.0.0.1:40000".parse().unwrap() }
}

fn server(hosts: &str, origins: &str) -> Server {
    let text = format!("server.hosts = [{hosts}]\nserver.origins = [{origins}]");
    config::parse(&text, "t.toml").unwrap().server
}

#[test]
fn a_host_is_ours_by_a_local_name_with_our_port_or_by_the_list() {
    for (local, hosts, host, expected) in [
        ("127.0.0.1:7717", "", "127.0.0.1:7717", true),
        ("127.0.0.1:7717", "", "localhost:7717", true),
        ("127.0.0.1:7717", "", "LOCALHOST:7717", true),
        ("127.0.0.1:7717", "", "[::1]:7717", true),
        ("127.0.0.1:7717", "", "127.8.9.1:7717", true),
        ("127.0.0.1:7717", "", "127.0.0.1", false),
        ("127.0.0.1:7717", "", "127.0.0.1:80", false),
        ("127.0.0.1:80", "", "127.0.0.1", true),
        ("127.0.0.1:7717", "", "evil.example:7717", false),
        ("127.0.0.1:7717", "", "localhost.evil.example:7717", false),
        ("127.0.0.1:7717", "", "127.0.0.1.evil.example:7717", false),
        ("127.0.0.1:7717", "", "user@127.0.0.1:7717", false),
        ("127.0.0.1:7717", "", "127.0.0.1:7717/", false),
        ("127.0.0.1:7717", "", "", false),
        ("192.0.2.1:7717", "", "192.0.2.1:7717", true),
        ("192.0.2.1:7717", "", "192.0.2.2:7717", false),
        ("[::ffff:192.0.2.1]:7717", "", "192.0.2.1:7717", true),
        ("127.0.0.1:7717", "'gate.example.org'", "gate.example.org", true),
        ("127.0.0.1:7717", "'gate.example.org'", "gate.example.org.", true),
        ("127.0.0.1:7717", "'gate.example.org'", "Gate.Example.Org:7717", true),
        ("127.0.0.1:7717", "'gate.example.org'", "gate.example.org:3000", false),
        ("127.0.0.1:7717", "'gate.example.org:8443'", "gate.example.org:8443", true),
        ("127.0.0.1:7717", "'gate.example.org'", "other.example.org", false),
        ("127.0.0.1:7717", "'*.example.org'", "a.example.org", true),
        ("127.0.0.1:7717", "'*.example.org'", "example.org", false),
        ("127.0.0.1:7717", "'10.1.0.0/16'", "10.1.2.3:7717", true),
        ("127.0.0.1:7717", "'10.1.0.0/16'", "10.2.2.3:7717", false),
    ] {
        let found = is_ours(host, ends(local), &server(hosts, ""));
        assert_eq!(found, expected, "{host} at {local} with {hosts}");
    }
}

#[test]
fn a_page_is_ours_listed_or_refused() {
    for (origin, expected) in [
        ("http://127.0.0.1:7717", "ours"),
        ("http://localhost:7717", "ours"),
        ("https://gate.example.org", "ours"),
        ("https://app.example.org", "listed"),
        ("http://app.example.org", "refused"),
        ("https://app.example.org.evil.example", "refused"),
        ("http://localhost:3000", "refused"),
        ("https://evil.example", "refused"),
        ("null", "refused"),
        ("file://", "refused"),
        ("chrome-extension://127.0.0.1:7717", "refused"),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(header::ORIGIN, origin.parse().unwrap());
        let server = server("'gate.example.org'", "'https://app.example.org'");
        let found = match check_origin(&headers, ends("127.0.0.1:7717"), &server) {
            Ok(FromPage::OurPage { .. }) => "ours",
            Ok(FromPage::Listed(_)) => "listed",
            Ok(FromPage::Nowhere) => "nowhere",
            Err(_) => "refused",
        };
        assert_eq!(found, expected, "{origin}");
    }
}

#[test]
fn a_page_of_the_list_reads_and_sends_the_headers_of_mcp() {
    let page = FromPage::Listed(HeaderValue::from_static("https://a.example"));
    let mut response = Response::new(());
    allow_reading(&mut response, &page);
    let exposed = response.headers()[header::ACCESS_CONTROL_EXPOSE_HEADERS].to_str().unwrap();
    assert!(exposed.split(", ").any(|name| name == "mcp-session-id"), "{exposed}");
    let wanted = "authorization, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name";
    let mut headers = HeaderMap::new();
    headers.insert("access-control-request-method", HeaderValue::from_static("POST"));
    headers.insert("access-control-request-headers", HeaderValue::from_static(wanted));
    let asked = preflight(&Method::OPTIONS, &headers, &page).unwrap();
    assert_eq!(asked.headers()[header::ACCESS_CONTROL_ALLOW_HEADERS], wanted);
}
