//! Results that may be used again.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use moka::{Expiry, sync::Cache as Moka};
use tool::{Block, Digest, ToolOutput};

/// Results by what they depend on, bounded in size, each for as long as its tool says.
#[derive(Debug)]
pub(crate) struct Cache {
    kept: Moka<Digest, Kept>,
    hits: AtomicU64,
    misses: AtomicU64,
}

#[derive(Debug, Clone)]
struct Kept {
    output: Arc<ToolOutput>,
    lasts: Duration,
}

struct OwnTime;

impl Expiry<Digest, Kept> for OwnTime {
    fn expire_after_create(
        &self,
        _: &Digest,
        kept: &Kept,
        _: std::time::Instant,
    ) -> Option<Duration> {
        Some(kept.lasts)
    }
}

impl Cache {
    pub(crate) fn new(max_bytes: u64) -> Self {
        let weigh = |_: &Digest, kept: &Kept| u32::try_from(size(&kept.output)).unwrap_or(u32::MAX);
        let kept = Moka::builder().max_capacity(max_bytes).weigher(weigh).expire_after(OwnTime);
        Self { kept: kept.build(), hits: AtomicU64::new(0), misses: AtomicU64::new(0) }
    }

    pub(crate) fn get(&self, key: &Digest) -> Option<Arc<ToolOutput>> {
        let found = self.kept.get(key).map(|kept| kept.output);
        let count = if found.is_some() { &self.hits } else { &self.misses };
        count.fetch_add(1, Ordering::Relaxed);
        found
    }

    /// How many results are kept, how many were found, how many were not.
    pub(crate) fn counts(&self) -> (u64, u64, u64) {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (self.kept.entry_count(), count(&self.hits), count(&self.misses))
    }

    pub(crate) fn put(&self, key: Digest, output: &ToolOutput, lasts: Duration) {
        self.kept.insert(key, Kept { output: Arc::new(output.clone()), lasts });
    }
}

fn size(output: &ToolOutput) -> usize {
    let blocks = output.blocks.iter().map(|block| match block {
        Block::Text(text) => text.len(),
        Block::Image { mime: _, data } => data.len(),
    });
    blocks.sum::<usize>() + output.value.as_ref().map_or(0, |value| value.to_string().len()) + 256
}
