//! Reads JSON, JSON with comments and JSON5, and says where everything stands.

use serde_json::{Map, Number, Value};

use super::format::Mistake;

/// What a client reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Nothing but JSON.
    Json,
    /// With comments, and commas at the end.
    Jsonc,
    /// The same, with other quotes, keys without quotes, and more ways to write numbers.
    Json5,
}

/// Deeper than any configuration, and little enough for every stack.
const MAX_DEPTH: usize = 128;

/// A value and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Debug)]
enum Kind {
    Object(Vec<Member>, Commas),
    List(Vec<Node>, Commas),
    Plain(Value),
}

/// Where the commas are, each behind an item.
type Commas = Vec<usize>;

/// A key with its value.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    start: usize,
    node: Node,
}

/// From where to where.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What is between brackets.
#[derive(Debug)]
pub(super) struct Container {
    /// The items, with their keys.
    pub(super) items: Vec<Span>,
    /// The comma behind the last one.
    pub(super) comma: Option<usize>,
    /// All commas.
    pub(super) commas: Commas,
}

impl Node {
    pub(super) fn value(&self) -> Value {
        match &self.kind {
            Kind::Plain(value) => value.clone(),
            Kind::List(items, _) => items.iter().map(Self::value).collect(),
            Kind::Object(members, _) => {
                let pairs = members.iter().map(|one| (one.key.clone(), one.node.value()));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }

    pub(super) fn members(&self) -> Option<impl Iterator<Item = &Member>> {
        match &self.kind {
            Kind::Object(members, _) => Some(members.iter()),
            Kind::List(..) | Kind::Plain(_) => None,
        }
    }

    pub(super) fn member(&self, key: &str) -> Option<&Self> {
        Some(&self.members()?.find(|one| one.key == key)?.node)
    }

    pub(super) fn items(&self) -> Option<impl Iterator<Item = &Self>> {
        match &self.kind {
            Kind::List(items, _) => Some(items.iter()),
            Kind::Object(..) | Kind::Plain(_) => None,
        }
    }

    pub(super) fn container(&self) -> Option<Container> {
        let (items, commas): (Vec<_>, _) = match &self.kind {
            Kind::Object(members, commas) => {
                let span = |one: &Member| Span { start: one.start, end: one.node.end };
                (members.iter().map(span).collect(), commas)
            }
            Kind::List(items, commas) => {
                let span = |one: &Self| Span { start: one.start, end: one.end };
                (items.iter().map(span).collect(), commas)
            }
            Kind::Plain(_) => return None,
        };
        let trails = !items.is_empty() && commas.len() == items.len();
        let comma = trails.then(|| commas.last().copied()).flatten();
        Some(Container { items, comma, commas: commas.clone() })
    }

    pub(super) fn mistake(&self, message: String) -> Mistake {
        Mistake { offset: self.start, message }
    }
}

/// Reads a whole file.
pub(super) fn parse(text: &str, dialect: Dialect) -> Result<Node, Mistake> {
    let mut parser = Parser { text, at: 0, dialect, depth: 0 };
    parser.eat('\u{feff}');
    parser.blanks()?;
    if parser.peek() != Some('{') {
        return parser.mistake("expected `{`; the whole file is one object");
    }
    let top = parser.node()?;
    parser.blanks()?;
    if parser.peek().is_some() {
        return parser.mistake("expected nothing after the `}` of the whole file");
    }
    Ok(top)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    dialect: Dialect,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    fn eat(&mut self, wanted: char) -> bool {
        let is_next = self.peek() == Some(wanted);
        if is_next {
            self.bump();
        }
        is_next
    }

    fn take(&mut self, while_it: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|letter| !while_it(letter)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    fn mistake<T>(&self, message: &str) -> Result<T, Mistake> {
        Err(Mistake { offset: self.at, message: message.to_owned() })
    }

    /// Passes over blanks, and over comments where there may be some.
    fn blanks(&mut self) -> Result<(), Mistake> {
        loop {
            match self.dialect {
                Dialect::Json | Dialect::Jsonc => {
                    self.take(|letter| matches!(letter, ' ' | '\t' | '\n' | '\r'))
                }
                Dialect::Json5 => {
                    self.take(|letter| letter.is_whitespace() || letter == '\u{feff}')
                }
            };
            let rest = self.rest();
            if !rest.starts_with("//") && !rest.starts_with("/*") {
                return Ok(());
            }
            if self.dialect == Dialect::Json {
                return self.mistake("a comment, and this client reads JSON without comments");
            }
            if rest.starts_with("//") {
                self.take(|letter| letter != '\n');
            } else if let Some(end) = rest.get(2..).and_then(|inner| inner.find("*/")) {
                self.at += end + 4;
            } else {
                return self.mistake("there is no `*/` for this");
            }
        }
    }

    fn node(&mut self) -> Result<Node, Mistake> {
        let start = self.at;
        let kind = match self.peek() {
            Some('{') => self.object()?,
            Some('[') => self.list()?,
            Some('"' | '\'') => Kind::Plain(Value::String(self.string()?)),
            Some(_) | None => Kind::Plain(self.word()?),
        };
        Ok(Node { kind, start, end: self.at })
    }

    fn object(&mut self) -> Result<Kind, Mistake> {
        let mut members: Vec<Member> = Vec::new();
        let commas = self.between('}', |parser| {
            let start = parser.at;
            let key = parser.key()?;
            if members.iter().any(|one| one.key == key) {
                let message = format!("`{key}` stands here twice; keep one of them");
                return Err(Mistake { offset: start, message });
            }
            parser.blanks()?;
            if !parser.eat(':') {
                return parser.mistake("expected `:` after a key");
            }
            parser.blanks()?;
            members.push(Member { key, start, node: parser.node()? });
            Ok(())
        })?;
        Ok(Kind::Object(members, commas))
    }

    fn list(&mut self) -> Result<Kind, Mistake> {
        let mut items = Vec::new();
        let commas = self.between(']', |parser| {
            items.push(parser.node()?);
            Ok(())
        })?;
        Ok(Kind::List(items, commas))
    }

    fn between(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<(), Mistake>,
    ) -> Result<Commas, Mistake> {
        let (open, mut commas, mut trails) = (self.at, Vec::new(), false);
        if self.depth == MAX_DEPTH {
            return self.mistake("nested too deeply");
        }
        self.depth += 1;
        self.bump();
        loop {
            self.blanks()?;
            if self.peek() == Some(close) {
                break;
            }
            if self.peek().is_none() {
                let message = format!("there is no `{close}` for this");
                return Err(Mistake { offset: open, message });
            }
            item(self)?;
            self.blanks()?;
            trails = self.peek() == Some(',');
            if trails {
                commas.push(self.at);
                self.bump();
            } else if self.peek().is_some_and(|next| next != close) {
                return self.mistake(&format!("expected `,` or `{close}`"));
            }
        }
        if trails && self.dialect == Dialect::Json {
            return self.mistake("a comma before this, and this client reads none there");
        }
        self.bump();
        self.depth -= 1;
        Ok(commas)
    }

    fn key(&mut self) -> Result<String, Mistake> {
        match self.peek() {
            Some('"' | '\'') => self.string(),
            Some(letter) if self.dialect == Dialect::Json5 && in_name(letter) => {
                Ok(self.take(in_name).to_owned())
            }
            Some(_) | None => self.mistake("expected a key in double quotes"),
        }
    }

    fn string(&mut self) -> Result<String, Mistake> {
        let start = self.at;
        let Some(quote) = self.peek() else { return self.mistake("expected a text") };
        if quote == '\'' && self.dialect != Dialect::Json5 {
            return self.mistake("expected double quotes");
        }
        self.bump();
        loop {
            match self.peek() {
                Some('\\') => {
                    self.bump();
                    self.bump();
                }
                Some(letter) if letter == quote => break,
                Some('\n') | None => {
                    let message = "this text has no end".to_owned();
                    return Err(Mistake { offset: start, message });
                }
                Some(_) => self.bump(),
            }
        }
        self.bump();
        let whole = self.text.get(start..self.at).unwrap_or_default();
        if let Ok(text) = serde_json::from_str(whole) {
            return Ok(text);
        }
        let inner = whole.get(1..whole.len().saturating_sub(1)).unwrap_or_default();
        match self.dialect {
            Dialect::Json5 => Ok(unescaped(inner)),
            Dialect::Json | Dialect::Jsonc => {
                Err(Mistake { offset: start, message: "this text is not JSON".to_owned() })
            }
        }
    }

    fn word(&mut self) -> Result<Value, Mistake> {
        let start = self.at;
        let token = self.take(|letter| in_name(letter) || matches!(letter, '+' | '-' | '.'));
        if let Ok(number) = token.parse::<Number>() {
            return Ok(Value::Number(number));
        }
        match token {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            "null" => Ok(Value::Null),
            // Kept apart from any text; it is only compared.
            _ if self.dialect == Dialect::Json5 && is_number(token) => {
                Ok(serde_json::json!({ "number": token }))
            }
            _ => Err(Mistake { offset: start, message: "expected a value".to_owned() }),
        }
    }
}

fn in_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '$' | '_' | '\u{200c}' | '\u{200d}')
}

/// A number that only JSON5 has.
fn is_number(token: &str) -> bool {
    let token = token.trim_start_matches(['+', '-']);
    token.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.')
        || matches!(token, "Infinity" | "NaN")
}

/// What a text of JSON5 says, as far as it must be told apart from others.
fn unescaped(inner: &str) -> String {
    let (mut out, mut letters) = (String::new(), inner.chars());
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('\n') | None => {}
            Some(same @ ('"' | '\'' | '\\' | '/')) => out.push(same),
            Some(other) => out.extend(['\\', other]),
        }
    }
    out
}
