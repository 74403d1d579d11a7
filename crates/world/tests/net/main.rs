//! Real requests through the network door. The door checks and chooses an address; only then a test
//! dialer leads there where a server on this machine listens.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::disallowed_methods, reason = "the test chooses where a checked address leads")]

mod following;
mod helper;
mod limits;
mod outlet;
mod pinning;
mod proxying;
mod through;
mod tunnelling;
