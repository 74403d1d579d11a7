//! Reads TOML.

use ::toml::{
    Spanned,
    de::{DeFloat, DeInteger, DeString, DeTable, DeValue, Error},
};

use crate::{
    lines::Lines,
    node::{Entry, Node, Value},
    problems::Problems,
};

/// Deeper than any key; the parser allows so much that the stack would not hold it.
const MAX_DEPTH: usize = 16;

/// The top of a TOML file, or nothing and at least one problem.
pub(crate) fn read(text: &str, problems: &mut Problems) -> Vec<Entry> {
    let lines = Lines::new(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in first_of_each_line(&errors, &lines) {
        problems.add(lines.position(start(error)), "", error.message().to_owned());
    }
    // What follows a mistake in the syntax is often read in the wrong way.
    if !errors.is_empty() {
        return Vec::new();
    }
    Reader { lines: &lines, depth: 0 }.entries(table.get_ref())
}

/// One mistake makes several errors; the first one of a line says most.
fn first_of_each_line<'a>(errors: &'a [Error], lines: &Lines<'_>) -> Vec<&'a Error> {
    let mut firsts: Vec<_> = errors.iter().collect();
    firsts.sort_by_key(|error| start(error));
    firsts.dedup_by_key(|error| lines.position(start(error)).line);
    firsts
}

fn start(error: &Error) -> usize {
    error.span().map_or(0, |span| span.start)
}

/// Turns what the parser found into our tree.
#[derive(Clone, Copy)]
struct Reader<'a> {
    lines: &'a Lines<'a>,
    depth: usize,
}

impl Reader<'_> {
    fn entries(self, table: &DeTable<'_>) -> Vec<Entry> {
        let mut list: Vec<_> = table.iter().collect();
        list.sort_by_key(|(name, _)| name.span().start);
        let entry = |(name, value): (&Spanned<DeString<'_>>, _)| Entry {
            name: name.get_ref().to_string(),
            position: self.lines.position(name.span().start),
            node: self.node(value),
        };
        list.into_iter().map(entry).collect()
    }

    fn node(self, spanned: &Spanned<DeValue<'_>>) -> Node {
        let deeper = Self { depth: self.depth + 1, ..self };
        let value = match spanned.get_ref() {
            DeValue::Array(_) | DeValue::Table(_) if deeper.depth > MAX_DEPTH => {
                Value::Other("something nested too deep")
            }
            DeValue::Array(items) => {
                Value::List(items.iter().map(|item| deeper.node(item)).collect())
            }
            DeValue::Table(table) => Value::Table(deeper.entries(table)),
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(number) => integer(number),
            DeValue::Float(number) => float(number),
            DeValue::Boolean(flag) => Value::Bool(*flag),
            DeValue::Datetime(_) => Value::Other("a date"),
        };
        Node { value, position: self.lines.position(spanned.span().start) }
    }
}

fn integer(number: &DeInteger<'_>) -> Value {
    let number = i128::from_str_radix(number.as_str(), number.radix());
    number.map_or(Value::Other("a number that is too large"), Value::Integer)
}

fn float(number: &DeFloat<'_>) -> Value {
    let number = number.as_str().parse();
    number.map_or(Value::Other("a number that cannot be read"), Value::Float)
}
