//! The names and kinds of what can be sent, worked out once from a type.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value};
use tool::nearest;

use super::endpoint::Unknown;

/// The fields of a type.
#[derive(Debug, Default, Clone)]
pub(crate) struct Fields(Vec<(String, FieldKind)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldKind {
    Number,
    Switch,
    Other,
}

/// What an operation takes.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    pub(crate) query: Fields,
    pub(crate) body: Fields,
}

impl Fields {
    pub(crate) fn of<T: JsonSchema>() -> Self {
        let mut generator: SchemaGenerator = SchemaSettings::draft2020_12().into_generator();
        let schema = generator.root_schema_for::<T>();
        let fields = schema.get("properties").and_then(Value::as_object);
        let kind = |schema: &Value| match schema.get("type") {
            Some(Value::String(one)) => kind(one),
            Some(Value::Array(several)) => several
                .iter()
                .filter_map(Value::as_str)
                .map(kind)
                .min_by_key(|k| *k == FieldKind::Other)
                .unwrap_or(FieldKind::Other),
            _ => FieldKind::Other,
        };
        Self(
            fields
                .into_iter()
                .flatten()
                .map(|(name, schema)| (name.clone(), kind(schema)))
                .collect(),
        )
    }

    /// Refuses a name that is none of the fields.
    pub(crate) fn check(&self, name: &str) -> Result<(), String> {
        if self.0.iter().any(|(known, _)| known == name) {
            return Ok(());
        }
        let shown: String = name.chars().take(100).collect();
        let shown = shown.escape_debug();
        let names = || self.0.iter().map(|(known, _)| known.as_str());
        Err(match nearest(name, names()) {
            Some(near) => format!("unknown field `{shown}`, did you mean `{near}`?"),
            None if self.0.is_empty() => format!("unknown field `{shown}`; none is expected"),
            None => {
                let mut known: Vec<_> = names().map(|known| format!("`{known}`")).collect();
                // How they are kept depends on who else uses the library that reads them.
                known.sort();
                format!("unknown field `{shown}`, expected {}", known.join(", "))
            }
        })
    }

    /// What a query says, with numbers and switches as such.
    pub(crate) fn read_query(&self, query: &str, unknown: Unknown) -> Result<Value, String> {
        let mut values = Map::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match self.check(&name) {
                Err(_) if unknown == Unknown::PassedOver => continue,
                checked => checked?,
            }
            let kind = self.0.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
            let value = typed(&name, &value, kind.unwrap_or(FieldKind::Other))?;
            if values.insert(name.to_string(), value).is_some() {
                return Err(format!("`{name}` is there twice"));
            }
        }
        Ok(Value::Object(values))
    }
}

fn kind(name: &str) -> FieldKind {
    match name {
        "integer" | "number" => FieldKind::Number,
        "boolean" => FieldKind::Switch,
        _ => FieldKind::Other,
    }
}

fn typed(name: &str, value: &str, kind: FieldKind) -> Result<Value, String> {
    match kind {
        FieldKind::Other => Ok(value.into()),
        FieldKind::Number => value
            .parse::<u64>()
            .map(Value::from)
            .map_err(|_| format!("`{name}` must be a whole number")),
        FieldKind::Switch => match value {
            "" | "1" | "true" => Ok(true.into()),
            "0" | "false" => Ok(false.into()),
            _ => Err(format!("`{name}` must be `true` or `false`")),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its shape counts")]
    struct Sample {
        limit: Option<u32>,
        session: Option<String>,
        all: Option<bool>,
    }

    #[test]
    fn a_query_is_read_by_the_names_and_kinds_of_a_type() {
        let fields = Fields::of::<Sample>();
        for (query, expected) in [
            ("", Ok(json!({}))),
            ("limit=5&session=a%20b&all", Ok(json!({"limit": 5, "session": "a b", "all": true}))),
            ("limit=x", Err("`limit` must be a whole number")),
            ("limit=1&limit=2", Err("`limit` is there twice")),
            ("sesion=1", Err("unknown field `sesion`, did you mean `session`?")),
            ("zzz=1", Err("unknown field `zzz`, expected `all`, `limit`, `session`")),
            ("all=maybe", Err("`all` must be `true` or `false`")),
        ] {
            let read = fields.read_query(query, Unknown::Refused);
            assert_eq!(read, expected.map_err(str::to_owned), "{query}");
        }
        let read = fields.read_query("beta=true&limit=5&beta=x&$alt=sse", Unknown::PassedOver);
        assert_eq!(read, Ok(json!({"limit": 5})));
    }
}
