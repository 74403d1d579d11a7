//! The keywords of JSON Schema, and what each must hold.

/// What a keyword holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Names of types.
    Types,
    /// A schema.
    Schema,
    /// A schema, or `true` or `false`, which say something of their own here.
    SchemaOrBool,
    /// Schemas by parameter.
    Properties,
    /// Schemas by another name.
    Named,
    /// A list of schemas that the same value must match.
    Variants,
    /// A schema, or one for each place.
    Items,
    /// A list of schemas, one for each place.
    Places,
    /// Definitions for `$ref`.
    Definitions,
    /// Names of parameters.
    Required,
    /// A list of values.
    Values,
    /// Any value.
    Any,
    /// The dialect that every schema is written in here.
    Dialect,
    /// A name that a reference may point to.
    Anchor,
    Text,
    Number,
    Count,
    Bool,
}

/// Every keyword a schema keeps. What is not here, or holds something else, is left out: a model
/// cannot use it, and a provider may refuse the whole request because of it.
const KEYWORDS: &[(&str, Holds)] = &[
    ("$defs", Holds::Definitions),
    ("additionalProperties", Holds::SchemaOrBool),
    ("allOf", Holds::Variants),
    ("anyOf", Holds::Variants),
    ("const", Holds::Any),
    ("contains", Holds::Schema),
    ("default", Holds::Any),
    ("definitions", Holds::Definitions),
    ("deprecated", Holds::Bool),
    ("description", Holds::Text),
    ("else", Holds::Schema),
    ("enum", Holds::Values),
    ("examples", Holds::Values),
    ("exclusiveMaximum", Holds::Number),
    ("exclusiveMinimum", Holds::Number),
    ("format", Holds::Text),
    ("if", Holds::Schema),
    ("items", Holds::Items),
    ("maxItems", Holds::Count),
    ("maxLength", Holds::Count),
    ("maxProperties", Holds::Count),
    ("maximum", Holds::Number),
    ("minItems", Holds::Count),
    ("minLength", Holds::Count),
    ("minProperties", Holds::Count),
    ("minimum", Holds::Number),
    ("multipleOf", Holds::Number),
    ("not", Holds::Schema),
    ("nullable", Holds::Bool),
    ("oneOf", Holds::Variants),
    ("pattern", Holds::Text),
    ("patternProperties", Holds::Named),
    ("prefixItems", Holds::Places),
    ("properties", Holds::Properties),
    ("propertyNames", Holds::Schema),
    ("required", Holds::Required),
    ("then", Holds::Schema),
    ("title", Holds::Text),
    ("type", Holds::Types),
    ("uniqueItems", Holds::Bool),
];

/// What is kept besides for whoever takes all of JSON Schema.
const MORE: &[(&str, Holds)] = &[
    ("$anchor", Holds::Anchor),
    ("$comment", Holds::Text),
    ("$schema", Holds::Dialect),
    ("contentEncoding", Holds::Text),
    ("contentMediaType", Holds::Text),
    ("dependentSchemas", Holds::Named),
    ("maxContains", Holds::Count),
    ("minContains", Holds::Count),
    ("readOnly", Holds::Bool),
    ("unevaluatedItems", Holds::SchemaOrBool),
    ("unevaluatedProperties", Holds::SchemaOrBool),
    ("writeOnly", Holds::Bool),
];

/// Which keywords are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    /// Those that a model can use.
    Useful,
    /// All, and whatever begins with `x-`.
    All,
}

/// What the keyword holds, if it is one.
pub(super) fn holds(keyword: &str, words: Words) -> Option<Holds> {
    let find = |table: &[(&str, Holds)]| {
        table.iter().find(|(name, _)| *name == keyword).map(|(_, holds)| *holds)
    };
    let more = || find(MORE).or_else(|| keyword.starts_with("x-").then_some(Holds::Any));
    find(KEYWORDS).or_else(|| (words == Words::All).then(more).flatten())
}
