//! Names of calls that wait, as clients carry them: nobody else can make one, and none lasts.

use std::time::{Duration, SystemTime};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::ServerError;

const ID: usize = 16;
const UNTIL: usize = 8;
const MAC: usize = 32;
/// As long as a block of the hash, which is what its keys are made into.
const KEY: usize = 64;

/// Names a call that waits.
pub(super) type WaitingId = [u8; ID];

/// Makes and reads such names. Its key lives as long as the calls do: in this process only.
pub(super) struct Seal {
    key: [u8; KEY],
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal")
    }
}

impl Seal {
    pub(super) fn new() -> Result<Self, ServerError> {
        Ok(Self { key: random()? })
    }

    /// A new name, and how it is carried.
    pub(super) fn make(&self, until: SystemTime) -> Result<(WaitingId, String), ServerError> {
        let id: WaitingId = random()?;
        let mut text = Vec::with_capacity(ID + UNTIL + MAC);
        text.extend(id);
        text.extend(seconds(until).to_be_bytes());
        let mac = self.mac(&text);
        text.extend(mac.finalize().into_bytes());
        Ok((id, URL_SAFE_NO_PAD.encode(text)))
    }

    /// The name that was made here and still counts at `now`.
    pub(super) fn read(&self, carried: &str, now: SystemTime) -> Option<WaitingId> {
        let bytes = URL_SAFE_NO_PAD.decode(carried).ok()?;
        let (said, mac) = bytes.split_at_checked(ID + UNTIL)?;
        self.mac(said).verify_slice(mac).ok()?;
        let (id, until) = said.split_first_chunk::<ID>()?;
        let until = u64::from_be_bytes(until.try_into().ok()?);
        (seconds(now) < until).then_some(*id)
    }

    fn mac(&self, text: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new(&self.key.into());
        mac.update(text);
        mac
    }
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs()
}

fn random<const N: usize>() -> Result<[u8; N], ServerError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| ServerError::Random(error.to_string()))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_made_here_is_read_and_only_in_time() {
        let (seal, other) = (Seal::new().unwrap(), Seal::new().unwrap());
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
        let (id, carried) = seal.make(now + Duration::from_mins(1)).unwrap();
        assert_eq!(seal.read(&carried, now), Some(id));
        assert_eq!(seal.read(&carried, now + Duration::from_mins(1)), None);
        assert_eq!(other.read(&carried, now), None);
        let bytes = URL_SAFE_NO_PAD.decode(&carried).unwrap();
        for at in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 1;
            assert_eq!(seal.read(&URL_SAFE_NO_PAD.encode(wrong), now), None);
        }
        for wrong in ["", "x", "-TAMPERED", &format!("{carried}-TAMPERED")] {
            assert_eq!(seal.read(wrong, now), None, "{wrong}");
        }
    }
}
