//! Whom commands reach: nobody, unless configuration names them.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener},
    thread,
};

use libtest_mimic::Trial;
use serde_json::json;
use toolgate::{Block, Caller, Outcome, ToolOutput};

use crate::helper::{AUTO, Setup, has, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_named_host_is_reached_and_another_is_not", a_named_host_is_reached),
        trial("what_a_command_fetches_is_untrusted", what_a_command_fetches_is_untrusted),
        trial("untrusted_files_are_so_for_commands_too", untrusted_files_for_commands),
        trial("nobody_is_reached_without_a_name", nobody_is_reached_without_a_name),
    ]
}

/// A server on this machine that answers every request with `hello` until the test has ended.
pub(crate) fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 4096];
            if stream.read(&mut request).is_ok_and(|read| read > 0) {
                let answer =
                    "HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nhello\n";
                let _ = stream.write_all(answer.as_bytes());
            }
        }
    });
    address
}

/// Asks through the proxy also for this machine, which programs otherwise ask directly.
pub(crate) fn get(address: SocketAddr) -> String {
    format!("curl -sS --max-time 20 http://{address}/")
}

async fn what_a_command_fetches_is_untrusted() {
    let named = server();
    let config = format!("{AUTO}[tools.exec.network]\nallow = [\"{named}\"]\n");
    let setup = Setup::with(&config).await;
    let source = format!("a command that reached {named}");
    // What is known to stay on this machine reaches nobody.
    for (line, expected) in [("echo x", None), ("./whatever; echo x", Some(&source))] {
        let outcome = setup.gate.call(&setup.caller, "exec", json!({"command": line})).await;
        let Outcome::Success { blocks, meta, .. } = &outcome else { panic!("{outcome:?}") };
        assert_eq!(meta.untrusted.as_ref(), expected, "{line}");
        let [Block::Text(text), ..] = blocks.as_slice() else { panic!("{outcome:?}") };
        assert_eq!(ToolOutput::fence_id(text).is_some(), expected.is_some(), "{text}");
        let sources = setup.gate.sources(&setup.caller).await.unwrap();
        assert_eq!(sources.first(), expected, "{line}");
    }
}

async fn untrusted_files_for_commands() {
    let config = format!("{AUTO}[tools.exec.network]\nallow = [\"{}\"]\n", server());
    let setup = Setup::with(&config).await;
    setup.sh("./whatever; echo told > page.md").await;
    for (line, expected) in [
        ("cat page.md", true),
        ("cp page.md notes.md", true),
        ("grep -r told .", true),
        ("ls sub; true", false),
    ] {
        let caller = Caller { session: line.into(), ..setup.caller.clone() };
        setup.gate.call(&caller, "exec", json!({"command": line})).await;
        let sources = setup.gate.sources(&caller).await.unwrap();
        assert_eq!(sources.iter().any(|source| source.contains("page.md")), expected, "{line}");
    }
}

async fn a_named_host_is_reached() {
    if !has("curl") {
        return;
    }
    let (named, other) = (server(), server());
    let config = format!("{AUTO}[tools.exec.network]\nallow = [\"{named}\"]\n");
    let setup = Setup::with(&config).await;
    let outcome = setup.sh(&get(named)).await;
    assert_eq!(outcome["result"]["stdout"], "hello\n", "{outcome}");
    assert_eq!(outcome["result"]["notes"], serde_json::json!([]), "{outcome}");
    assert_eq!(outcome["meta"]["effects"], serde_json::json!(["act"]), "{outcome}");
    let outcome = setup.sh(&get(other)).await;
    let printed = outcome["result"]["aggregated"].as_str().unwrap();
    assert!(!printed.contains("hello"), "{outcome}");
    let notes = outcome["result"]["notes"].to_string();
    assert!(notes.contains(&format!("`{other}`")), "{outcome}");
    assert!(notes.contains("was refused"), "{outcome}");
    // Around the proxy there is no way.
    for address in [named, other] {
        let around = format!("curl -sS --max-time 20 --noproxy '*' http://{address}/");
        let outcome = setup.sh(&around).await;
        assert_ne!(outcome["result"]["exitCode"], 0, "{outcome}");
        assert_eq!(outcome["result"]["stdout"], "", "{outcome}");
    }
}

async fn nobody_is_reached_without_a_name() {
    let address = server();
    let setup = Setup::new().await;
    let (host, port) = (address.ip(), address.port());
    for command in [
        format!("exec 3<> /dev/tcp/{host}/{port} && echo reached"),
        format!("exec 3<> /dev/tcp/localhost/{port} && echo reached"),
        "exec 3<> /dev/tcp/198.51.100.1/80 && echo reached".to_owned(),
        "exec 3<> /dev/udp/198.51.100.1/53 && echo reached".to_owned(),
        "getent hosts example.org && echo reached".to_owned(),
        get(address) + " && echo reached",
    ] {
        let outcome = setup.sh(&command).await;
        assert_ne!(outcome["result"]["exitCode"], 0, "{command}: {outcome}");
        assert_eq!(outcome["result"]["stdout"], "", "{command}: {outcome}");
    }
    let interfaces = setup.printed("tail -n +3 /proc/net/dev | cut -d: -f1").await;
    assert_eq!(interfaces.trim(), "lo");
}
