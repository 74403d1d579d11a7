//! What of `/etc` a command sees: a list, so that what is not on it is not there.
//!
//! No password hashes, no host keys, no sudo rules, no private TLS keys, no credentials of package
//! managers; nothing that names the machine or the people on it.

use std::{fs, path::Path};

use super::root::{NODEV, NOSUID, Part, Parts, RDONLY};
use crate::wire::{Failure, SetUp};

/// Names in `/etc`; a star at the end stands for anything.
const SHOWN: &[&str] = &[
    "ImageMagick-*",
    "R",
    "alternatives",
    "bash.bashrc",
    "ca-certificates",
    "ca-certificates.conf",
    "chromium*",
    "crypto-policies",
    "debian_version",
    "fonts",
    "gai.conf",
    "ghc",
    "host.conf",
    "inputrc",
    "java-*",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "locale.conf",
    "localtime",
    "lsb-release",
    "lynx",
    "magic",
    "magic.mime",
    "maven",
    "mime.types",
    "networks",
    "nsswitch.conf",
    "os-release",
    "perl",
    "php",
    "pki/ca-trust",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "protocols",
    "python*",
    "rpc",
    "ruby",
    "services",
    "shells",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "texmf",
    "timezone",
    "vim",
];

/// What is made up.
const WRITTEN: &[(&str, &str)] = &[
    ("group", ""),
    ("hosts", "127.0.0.1 localhost\n::1 localhost\n"),
    ("passwd", ""),
    ("resolv.conf", ""),
];

// A copy costs nothing at a call, a mount does; but a launcher is not to hold much.
const LARGEST_COPY: u64 = 1 << 20;

/// How the host finds others, for those who may reach them.
const NAMES_OF_HOSTS: [&str; 2] = ["hosts", "resolv.conf"];

/// What of `/etc` is shown as it is where nothing can be made up.
pub(crate) const SHARED_ETC: &[&str] = &["group", "hosts", "passwd", "resolv.conf"];

/// Takes what is on the list, from the host as it is now.
pub(super) fn collect(set_up: &SetUp, parts: &mut Parts) -> Result<(), Failure> {
    let names = names();
    for name in names {
        let path = Path::new("/etc").join(&name);
        let small = fs::symlink_metadata(&path)
            .is_ok_and(|found| found.is_file() && found.len() <= LARGEST_COPY);
        let part = if small {
            // What this user may not read is not shown either.
            fs::read(&path).ok().map(Part::Copy)
        } else {
            Part::take(&path, RDONLY | NOSUID | NODEV)?
        };
        parts.extend(part.map(|part| (format!("etc/{name}"), part)));
    }
    for (name, content) in WRITTEN {
        let own = content.as_bytes().to_vec();
        let content = if set_up.host_network && NAMES_OF_HOSTS.contains(name) {
            fs::read(Path::new("/etc").join(name)).unwrap_or(own)
        } else {
            own
        };
        parts.push((format!("etc/{name}"), Part::Copy(content)));
    }
    Ok(())
}

/// The names in `/etc` on the list, stars replaced by what there is.
pub(crate) fn names() -> Vec<String> {
    let present: Vec<String> = fs::read_dir("/etc")
        .map(|entries| {
            let name = |entry: fs::DirEntry| entry.file_name().into_string().ok();
            entries.filter_map(|entry| entry.ok().and_then(name)).collect()
        })
        .unwrap_or_default();
    let mut names = Vec::new();
    for shown in SHOWN {
        match shown.strip_suffix('*') {
            Some(start) => {
                names.extend(present.iter().filter(|name| name.starts_with(start)).cloned());
            }
            None => names.push((*shown).to_owned()),
        }
    }
    names
}
