//! Every record, for other programs.

use serde_json::{Map, Value, json};

use super::{
    Inner,
    row::{self, Stored},
    setup,
};
use crate::{
    StoreError,
    time::{from_micros, rfc3339},
};

impl Inner {
    pub(super) fn export(
        &self,
        each: &mut dyn FnMut(Value) -> Result<(), StoreError>,
    ) -> Result<u64, StoreError> {
        // Its own connection: whoever receives a record may look something up.
        let reader = setup::reader(&self.data)?;
        let mut query = reader.prepare(row::select())?;
        let mut rows = query.query([])?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            each(exported(&Stored::read(row)?))?;
            count += 1;
        }
        Ok(count)
    }
}

fn exported(record: &Stored) -> Value {
    let link = &record.link;
    let mut fields = Map::new();
    let mut put = |name: &str, value| drop(fields.insert(name.to_owned(), value));
    put("seq", json!(link.seq));
    put("n", json!(link.n));
    put("at", json!(link.at));
    put("recorded_at", json!(rfc3339(from_micros(link.at))));
    put("time", json!(link.time));
    put("duration_ms", json!(link.duration_ms));
    put("payload_sha256", json!(link.payload));
    put("prev", json!(link.prev));
    put("above", json!(link.above));
    put("hash", json!(record.hash));
    record.named().for_each(|(name, text)| put(name, Value::String(text)));
    let content = record.content.as_deref();
    put("payload", content.and_then(|text| serde_json::from_slice(text).ok()).unwrap_or_default());
    Value::Object(fields)
}
