//! What a schema says about each parameter, in the form normalising needs it.

use std::collections::HashMap;

use policy::fold;
use serde_json::Value;
use tool::ToolInfo;

/// Strings that name something: white space around them means nothing, and empty means missing.
const NAME_LIKE: &[&str] =
    &["due_date", "id", "name", "path", "query", "timezone", "title", "url", "workdir"];

/// The parameters of an object.
#[derive(Debug, Default)]
pub(super) struct ObjectShape {
    pub(super) fields: Vec<Field>,
    /// Every accepted spelling, as written and folded.
    spellings: HashMap<String, usize>,
    /// Whether it takes parameters it does not name.
    pub(super) open: bool,
}

/// One parameter.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) name_like: bool,
    pub(super) large: bool,
}

/// What a value may be.
#[derive(Debug)]
pub(super) enum Kind {
    Text {
        values: Vec<String>,
    },
    Number,
    Integer,
    Bool,
    List(Box<Self>),
    Object(ObjectShape),
    /// Anything: the schema alone decides.
    Any,
}

impl ObjectShape {
    pub(super) fn new(schema: &Value, info: &ToolInfo) -> Self {
        let mut shape = Self::default();
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            shape.add(name, schema, info);
        }
        let extra = schema.get("additionalProperties");
        // An object without declared properties is a map; otherwise extra ones must be invited.
        shape.open = extra.map_or(shape.fields.is_empty(), |extra| extra != &Value::Bool(false));
        for (from, to) in &info.parameter_aliases {
            if let Some(&index) = shape.spellings.get(to) {
                shape.spellings.entry(fold(from)).or_insert(index);
            }
        }
        shape
    }

    fn add(&mut self, name: &str, schema: &Value, info: &ToolInfo) {
        let index = self.fields.len();
        self.spellings.insert(fold(name), index);
        self.spellings.insert(name.to_owned(), index);
        self.fields.push(Field {
            name: name.to_owned(),
            kind: Kind::new(schema, info),
            name_like: is_name_like(name),
            large: info.large.iter().any(|large| large == name),
        });
    }

    /// The parameter that `key` means.
    pub(super) fn find(&self, key: &str) -> Option<&Field> {
        let index = self.spellings.get(key).or_else(|| self.spellings.get(&fold(key)))?;
        self.fields.get(*index)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }
}

impl Kind {
    fn new(schema: &Value, info: &ToolInfo) -> Self {
        let values = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        match schema.get("type").and_then(Value::as_str) {
            Some("string") => Self::Text {
                values: values.filter_map(|v| v.as_str().map(str::to_owned)).collect(),
            },
            Some("number") => Self::Number,
            Some("integer") => Self::Integer,
            Some("boolean") => Self::Bool,
            Some("array") => {
                let items = schema.get("items").map_or(Self::Any, |items| Self::new(items, info));
                Self::List(Box::new(items))
            }
            Some("object") => Self::Object(ObjectShape::new(schema, info)),
            _ => Self::Any,
        }
    }
}

fn is_name_like(name: &str) -> bool {
    NAME_LIKE.contains(&name) || name.ends_with("_id") || name.ends_with("Id")
}
