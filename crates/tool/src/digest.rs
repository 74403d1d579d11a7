//! Names content by what it is.

use std::{
    fmt,
    io::{self, Read},
    str::FromStr,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use sha2::{Digest as _, Sha256};

/// A SHA-256 hash, shown as hex.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Hashes `bytes`.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Hashes parts so that moving a byte from one part to the next changes the hash.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// Hashes all that `source` gives, and counts it.
    pub fn of_reader(mut source: impl Read) -> io::Result<(Self, u64)> {
        let (mut hash, mut count) = (Sha256::new(), 0);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = source.read(&mut buffer)?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else {
                return Ok((Self(hash.finalize().into()), count));
            };
            hash.update(bytes);
            count += bytes.len() as u64;
        }
    }

    /// Names the content of a file: the SHA-256 hash up to 4 MiB, a hash over the hashes of its
    /// blocks beyond. Runs of zeros count by their length alone, so that the holes of a large sparse
    /// file need not be read; see [`ContentHasher`].
    pub fn of_content(bytes: impl AsRef<[u8]>) -> Self {
        let mut hasher = ContentHasher::default();
        hasher.update(bytes.as_ref());
        hasher.finish().0
    }

    /// The first half as a UUID of version 8, which is made of anything its maker likes.
    pub fn to_uuid(&self) -> String {
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(self.0).for_each(|(to, from)| *to = from);
        uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string()
    }

    /// The raw hash.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Content up to this size has its plain SHA-256 hash.
const MAX_PLAIN_BYTES: usize = 4 << 20;
const BLOCK_BYTES: usize = 64 << 10;
const ZERO_BLOCK: &[u8] = &[0; BLOCK_BYTES];

/// Computes [`Digest::of_content`] piece by piece.
///
/// ```
/// use tool::{ContentHasher, Digest};
///
/// let mut hasher = ContentHasher::default();
/// hasher.update(b"head");
/// hasher.zeros(10 << 20);
/// let mut content = b"head".to_vec();
/// content.resize(4 + (10 << 20), 0);
/// assert_eq!(hasher.finish(), (Digest::of_content(&content), content.len() as u64));
/// ```
#[derive(Debug, Default)]
pub struct ContentHasher {
    /// The content while it is short, later its last, incomplete block.
    pending: Vec<u8>,
    blocks: Option<Blocks>,
    bytes: u64,
}

/// The hashes of the blocks so far.
#[derive(Debug, Default)]
struct Blocks {
    hash: Sha256,
    /// Blocks of zeros since the last other one.
    zeros: u64,
}

impl ContentHasher {
    /// Adds what comes next.
    pub fn update(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let Some(blocks) = &mut self.blocks else {
            self.pending.extend_from_slice(bytes);
            if self.pending.len() > MAX_PLAIN_BYTES {
                let mut blocks = Blocks::default();
                let rest = blocks.add_all(&self.pending);
                self.pending.drain(..rest);
                self.pending.shrink_to(BLOCK_BYTES);
                self.blocks = Some(blocks);
            }
            return;
        };
        let missing = (BLOCK_BYTES - self.pending.len()).min(bytes.len());
        let (first, bytes) = bytes.split_at_checked(missing).unwrap_or((bytes, &[]));
        self.pending.extend_from_slice(first);
        if self.pending.len() < BLOCK_BYTES {
            return;
        }
        blocks.add(&self.pending);
        let whole = blocks.add_all(bytes);
        self.pending.clear();
        self.pending.extend_from_slice(bytes.get(whole..).unwrap_or_default());
    }

    /// Adds `count` zeros.
    pub fn zeros(&mut self, mut count: u64) {
        while count > 0 {
            if let Some(blocks) = &mut self.blocks
                && self.pending.is_empty()
            {
                let whole = count / BLOCK_BYTES as u64;
                blocks.zeros += whole;
                self.bytes += whole * BLOCK_BYTES as u64;
                count %= BLOCK_BYTES as u64;
            }
            let missing = BLOCK_BYTES - self.pending.len() % BLOCK_BYTES;
            let some = usize::try_from(count).unwrap_or(usize::MAX).min(missing);
            self.update(ZERO_BLOCK.get(..some).unwrap_or_default());
            count -= some as u64;
        }
    }

    /// The digest, and how many bytes there were.
    pub fn finish(self) -> (Digest, u64) {
        let Self { pending, blocks, bytes } = self;
        let Some(mut blocks) = blocks else { return (Digest::of(pending), bytes) };
        if !pending.is_empty() {
            blocks.add(&pending);
        }
        blocks.end_zeros();
        blocks.hash.update(bytes.to_le_bytes());
        (Digest(blocks.hash.finalize().into()), bytes)
    }
}

impl Blocks {
    /// Adds every whole block of `bytes`. Says how many bytes that were.
    fn add_all(&mut self, bytes: &[u8]) -> usize {
        let blocks = bytes.chunks_exact(BLOCK_BYTES);
        let rest = blocks.remainder().len();
        blocks.for_each(|block| self.add(block));
        bytes.len() - rest
    }

    fn add(&mut self, block: &[u8]) {
        if block == ZERO_BLOCK {
            self.zeros += 1;
            return;
        }
        self.end_zeros();
        self.hash.update([1]);
        self.hash.update(Sha256::digest(block));
    }

    fn end_zeros(&mut self) {
        if self.zeros > 0 {
            self.hash.update([0]);
            self.hash.update(self.zeros.to_le_bytes());
            self.zeros = 0;
        }
    }
}

impl From<[u8; 32]> for Digest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a SHA-256 hash in hex");
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return Err(wrong());
        }
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| wrong())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
