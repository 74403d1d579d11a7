//! The first words of a TLS client, which say in the clear whom it wants to talk to.
//!
//! A client can also name its host in a part that only the server understands. Whether it does cannot
//! be seen: browsers send that part with nothing in it as well.

/// What the first words say.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Hello {
    /// There is more to come.
    Unfinished,
    /// For this host.
    Named(String),
    /// Without a name, as for a host that is known by its address.
    Nameless,
    /// Not the first words of a TLS client, or in a form that nobody uses.
    Wrong,
}

/// As long as any client's, with room: keys of the newest kind have 1,200 bytes each.
pub(super) const MOST_BYTES: usize = 32 * 1024;

/// The content type, and the first byte of any version.
const RECORD: [u8; 2] = [22, 3];
const MOST_PER_RECORD: usize = 16 * 1024;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: usize = 0;
const HOST_NAME: u8 = 0;

/// Reads what a client has sent so far.
pub(super) fn read(bytes: &[u8]) -> Hello {
    match message(bytes) {
        Ok(Some(body)) => name(&body).unwrap_or(Hello::Wrong),
        Ok(None) if bytes.len() < MOST_BYTES => Hello::Unfinished,
        Ok(None) | Err(Unlike) => Hello::Wrong,
    }
}

/// This is something else.
struct Unlike;

/// The hello, put together from the records that carry it; none if they are not all there.
fn message(bytes: &[u8]) -> Result<Option<Vec<u8>>, Unlike> {
    let (mut rest, mut joined) = (Parts(bytes), Vec::new());
    loop {
        if let Some(whole) = whole(&joined)? {
            return Ok(Some(whole));
        }
        if !RECORD.iter().zip(rest.0).all(|(expected, byte)| expected == byte) {
            return Err(Unlike);
        }
        let Some(length) = rest.take(3).and_then(|_| rest.number(2)) else { return Ok(None) };
        if !(1..=MOST_PER_RECORD).contains(&length) {
            return Err(Unlike);
        }
        let Some(fragment) = rest.take(length) else { return Ok(None) };
        joined.extend_from_slice(fragment);
    }
}

fn whole(joined: &[u8]) -> Result<Option<Vec<u8>>, Unlike> {
    let mut parts = Parts(joined);
    match parts.number(1) {
        None => return Ok(None),
        Some(kind) if kind != usize::from(CLIENT_HELLO) => return Err(Unlike),
        Some(_) => {}
    }
    match parts.number(3) {
        Some(length) if length > MOST_BYTES => Err(Unlike),
        Some(length) => Ok(parts.take(length).map(<[u8]>::to_vec)),
        None => Ok(None),
    }
}

/// Whom a hello is for; nothing if that cannot be said for sure.
fn name(body: &[u8]) -> Option<Hello> {
    let mut parts = Parts(body);
    // The version and a random number; the session; ciphers; compressions.
    parts.take(2 + 32)?;
    for length in [1, 2, 1] {
        parts.list(length)?;
    }
    if parts.0.is_empty() {
        return Some(Hello::Nameless);
    }
    let mut extensions = parts.last_list(2)?;
    let mut found = None;
    while !extensions.0.is_empty() {
        let (kind, mut data) = (extensions.number(2)?, Parts(extensions.list(2)?));
        if kind != SERVER_NAME {
            continue;
        }
        let name = only_name(data.last_list(2)?)?;
        // Of two, a server may take either.
        if found.replace(name).is_some() {
            return None;
        }
    }
    Some(found.map_or(Hello::Nameless, Hello::Named))
}

fn only_name(mut list: Parts<'_>) -> Option<String> {
    let kind = list.number(1)?;
    let name = list.last_list(2)?.0;
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(byte);
    let fits = kind == usize::from(HOST_NAME) && (1..=255).contains(&name.len());
    (fits && name.iter().all(plain)).then(|| String::from_utf8_lossy(name).into_owned())
}

/// What is left to read.
struct Parts<'a>(&'a [u8]);

impl<'a> Parts<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number of so many bytes, at most three.
    fn number(&mut self, bytes: usize) -> Option<usize> {
        Some(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    /// Something whose length, in so many bytes, stands before it.
    fn list(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let length = self.number(bytes)?;
        self.take(length)
    }

    /// The same, after which nothing comes.
    fn last_list(&mut self, bytes: usize) -> Option<Self> {
        let list = self.list(bytes)?;
        self.0.is_empty().then_some(Self(list))
    }
}

#[cfg(test)]
mod tests;
