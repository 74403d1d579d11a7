//! How conversations are written down. What is stored must be readable for good: add, never change.

/// Blocks: `{"text": …}` or `{"image": {"mime": …, "data": base64}}`.
pub(crate) mod blocks {
    use std::borrow::Cow;

    use base64::{Engine, engine::general_purpose::STANDARD};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
    use tool::Block;

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Stored<'a> {
        Text(Cow<'a, str>),
        Image { mime: Cow<'a, str>, data: Cow<'a, str> },
    }

    pub(crate) fn serialize<S: Serializer>(blocks: &[Block], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(blocks.iter().map(|block| match block {
            Block::Text(text) => Stored::Text(text.into()),
            Block::Image { mime, data } => {
                Stored::Image { mime: mime.into(), data: STANDARD.encode(data).into() }
            }
        }))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Block>, D::Error> {
        let stored = Vec::<Stored<'_>>::deserialize(from)?;
        let block = |stored: Stored<'_>| match stored {
            Stored::Text(text) => Ok(Block::Text(text.into_owned())),
            Stored::Image { mime, data } => {
                let data = STANDARD.decode(&*data).map_err(D::Error::custom)?;
                Ok(Block::Image { mime: mime.into_owned(), data })
            }
        };
        stored.into_iter().map(block).collect()
    }
}

/// Arguments: an object, or text that says why there is none.
pub(crate) mod args {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value;

    pub(crate) fn serialize<S: Serializer>(
        args: &Result<Value, String>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match args {
            Ok(args) => args.serialize(to),
            Err(reason) => reason.serialize(to),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Result<Value, String>, D::Error> {
        let args = Value::deserialize(from)?;
        Ok(if let Value::String(reason) = args { Err(reason) } else { Ok(args) })
    }
}

/// Formats, by name.
pub(crate) mod format {
    use std::borrow::Cow;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use tool::Format;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub(crate) fn serialize<S: Serializer>(format: &Format, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(format.name())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Format, D::Error> {
        Cow::<'_, str>::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}
