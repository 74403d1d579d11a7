use std::sync::Arc;

use proptest::prelude::*;
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, crypto::ring, pki_types::ServerName, version,
};

use super::*;

/// What a real client sends first.
fn real(
    name: &str,
    versions: &[&'static tokio_rustls::rustls::SupportedProtocolVersion],
) -> Vec<u8> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let mut client = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).unwrap();
    bytes
}

fn named(name: &str) -> Hello {
    Hello::Named(name.to_owned())
}

/// With its length, in so many bytes, before it.
fn list(bytes: usize, data: &[u8]) -> Vec<u8> {
    let length = data.len().to_be_bytes();
    [&length[length.len() - bytes..], data].concat()
}

fn extension(kind: u16, data: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &list(2, data)].concat()
}

fn server_name(name: &[u8]) -> Vec<u8> {
    extension(0, &list(2, &[&[0][..], &list(2, name)].concat()))
}

/// The message without records.
fn hello(extensions: Option<&[u8]>) -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.extend(list(1, &[]));
    body.extend(list(2, &[0x13, 0x01]));
    body.extend(list(1, &[0]));
    body.extend(extensions.map(|extensions| list(2, extensions)).unwrap_or_default());
    [&[CLIENT_HELLO][..], &list(3, &body)].concat()
}

/// In records of so many bytes.
fn records(message: &[u8], size: usize) -> Vec<u8> {
    let record = |fragment: &[u8]| [&[22, 3, 1][..], &list(2, fragment)].concat();
    message.chunks(size).flat_map(record).collect()
}

#[test]
fn finds_the_name_in_what_real_clients_send() {
    for versions in
        [&[&version::TLS13][..], &[&version::TLS12], &[&version::TLS12, &version::TLS13]]
    {
        let bytes = real("ok.example", versions);
        assert_eq!(read(&bytes), named("ok.example"));
        assert_eq!(read(&real("93.184.216.34", versions)), Hello::Nameless);
        // In every smaller piece there is more to come, and what comes after does not matter.
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end]), Hello::Unfinished, "{end}");
        }
        assert_eq!(read(&[&bytes[..], b"\x14\x03\x03 more"].concat()), named("ok.example"));
        // In records of any size.
        for size in [1, 2, 3, 4, 5, 50, bytes.len()] {
            let split = records(&bytes[5..], size);
            assert_eq!(read(&split), named("ok.example"), "{size}");
            assert_eq!(read(&split[..split.len() - 1]), Hello::Unfinished, "{size}");
        }
    }
}

#[test]
fn refuses_what_could_be_read_in_two_ways() {
    let two = [server_name(b"ok.example"), server_name(b"evil.example")].concat();
    let twice = [server_name(b"ok.example"), server_name(b"ok.example")].concat();
    let one = [&[0][..], &list(2, b"ok.example")].concat();
    let listed = extension(0, &list(2, &one.repeat(2)));
    let other_kind = extension(0, &list(2, &[&[1][..], &list(2, b"ok.example")].concat()));
    let after = extension(0, &[list(2, &one), b"x".to_vec()].concat());
    let short = &server_name(b"ok.example")[..12];
    for (extensions, expected) in [
        (None, Hello::Nameless),
        (Some(&[][..]), Hello::Nameless),
        (Some(&extension(16, b"h2")), Hello::Nameless),
        (Some(&server_name(b"ok.example")), named("ok.example")),
        (Some(&[extension(16, b"h2"), server_name(b"a.b")].concat()), named("a.b")),
        (Some(&two), Hello::Wrong),
        (Some(&twice), Hello::Wrong),
        (Some(&listed), Hello::Wrong),
        (Some(&other_kind), Hello::Wrong),
        (Some(&after), Hello::Wrong),
        (Some(short), Hello::Wrong),
        (Some(&server_name(b"")), Hello::Wrong),
        (Some(&server_name(b"ok.example\0evil.example")), Hello::Wrong),
        (Some(&server_name(&[b'a'; 256])), Hello::Wrong),
        (Some(&extension(0, b"")), Hello::Wrong),
    ] {
        let bytes = records(&hello(extensions), 10_000);
        assert_eq!(read(&bytes), expected, "{extensions:?}");
    }
}

#[test]
fn refuses_what_is_no_hello_as_soon_as_that_is_clear() {
    let mut long = vec![CLIENT_HELLO];
    long.extend([0, 0xff, 0xff]);
    let mut trailing = hello(Some(&[]));
    trailing.push(0);
    trailing[3] += 1;
    for bytes in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        b"S",
        b"\x16\x02",
        b"\x15\x03\x01\x00\x02\x02\x28",
        // Records without anything in them, or with too much.
        b"\x16\x03\x01\x00\x00",
        b"\x16\x03\x01\xff\xff",
        // Something else than a hello, a hello that is too long, and one with something after it.
        b"\x16\x03\x01\x00\x01\x02",
        &records(&long, 100),
        &records(&trailing, 100),
        // A second record that is none, before the hello is complete.
        b"\x16\x03\x01\x00\x01\x01\x17",
        // It never ends.
        &records(&[&[CLIENT_HELLO, 0, 0x7f, 0xff][..], &vec![0; 32 * 1024 - 2]].concat(), 16_000),
    ] {
        assert_eq!(read(bytes), Hello::Wrong, "{:?}", &bytes[..bytes.len().min(20)]);
    }
    assert_eq!(read(b""), Hello::Unfinished);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(!matches!(read(&bytes), Hello::Named(_)));
        read(&records(&bytes, 7));
        read(&records(&[&[CLIENT_HELLO][..], &list(3, &bytes)].concat(), 1_000));
        read(&records(&hello(Some(&bytes)), 1_000));
    }

    #[test]
    fn a_real_hello_with_a_changed_byte_is_read_without_harm(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = records(&hello(Some(&server_name(b"ok.example"))), 40);
        *at.get_mut(&mut bytes) = byte;
        read(&bytes);
    }
}
