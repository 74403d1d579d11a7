//! A body that comes piece by piece.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::timeout;

use super::OutletError;
use crate::net::pool::{Key, Pool, Sender};

/// The longest body that is read.
const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// A body that comes piece by piece. Dropping it before its end closes the connection.
pub struct OutletBody {
    host: String,
    idle: Duration,
    left: u64,
    pool: Arc<Pool>,
    open: Option<Open>,
}

/// What there is until the end.
pub(super) struct Open {
    pub(super) body: Incoming,
    pub(super) key: Key,
    pub(super) sender: Sender,
}

impl OutletBody {
    pub(super) const fn new(open: Open, pool: Arc<Pool>, host: String, idle: Duration) -> Self {
        Self { host, idle, left: MAX_BYTES, pool, open: Some(open) }
    }

    /// The next piece; none at the end, and after an error. It may be asked for again when the
    /// future was dropped.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, OutletError> {
        let Some(open) = &mut self.open else { return Ok(None) };
        let read = match timeout(self.idle, data(&mut open.body)).await {
            Ok(Ok(Some(data))) => match self.left.checked_sub(data.len() as u64) {
                Some(left) => {
                    self.left = left;
                    return Ok(Some(data));
                }
                None => Err(OutletError::TooLarge { host: self.host.clone(), max: MAX_BYTES }),
            },
            Ok(Ok(None)) => Ok(None),
            Ok(Err(error)) => {
                Err(OutletError::Broken { host: self.host.clone(), source: error.into() })
            }
            Err(_) => Err(OutletError::Silent { host: self.host.clone(), after: self.idle }),
        };
        // Whatever went wrong closes the connection; one that nothing is left on can be used again.
        if let (Some(Open { body: _, key, sender }), Ok(_)) = (self.open.take(), &read) {
            self.pool.put(key, sender);
        }
        read
    }
}

/// The next bytes. What is no data is a trailer, which nobody asked for.
async fn data(body: &mut Incoming) -> Result<Option<Bytes>, hyper::Error> {
    while let Some(frame) = body.frame().await {
        if let Some(data) = frame?.into_data().ok().filter(|data| !data.is_empty()) {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

impl fmt::Debug for OutletBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutletBody").field("host", &self.host).finish_non_exhaustive()
    }
}
