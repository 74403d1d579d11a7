//! Recognises the programs of `awk` that only compute and print.
//!
//! The grammar has no function definitions, no `getline` and no redirections. `>` compares in
//! patterns, conditions and parentheses; behind `print` it would name a file and is refused.

use super::lexer::Token;

/// Deeper programs are refused.
const MAX_DEPTH: usize = 40;

const ASSIGNMENTS: &[&str] = &["=", "+=", "-=", "*=", "/=", "%=", "^=", "**="];
const COMPARISONS: &[&str] = &["<", "<=", "!=", "==", ">="];

/// Whether the whole program is one of those.
pub(super) fn accepts(tokens: &[Token]) -> bool {
    let mut parser = Parser { tokens, depth: 0 };
    parser.program().is_some() && parser.tokens.is_empty()
}

/// What `>` means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Greater {
    Compares,
    /// It would send output elsewhere.
    Redirects,
}

struct Parser<'a> {
    tokens: &'a [Token],
    depth: usize,
}

impl Parser<'_> {
    fn next_is(&self, symbol: &str) -> bool {
        matches!(self.tokens.first(), Some(Token::Symbol(next)) if *next == symbol)
    }

    fn advance(&mut self) {
        self.tokens = self.tokens.get(1..).unwrap_or_default();
    }

    fn take(&mut self, symbol: &str) -> bool {
        let found = self.next_is(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn take_any(&mut self, symbols: &[&str]) -> bool {
        symbols.iter().any(|symbol| self.take(symbol))
    }

    fn expect(&mut self, symbol: &str) -> Option<()> {
        self.take(symbol).then_some(())
    }

    fn keyword(&mut self, word: &str) -> bool {
        let found = matches!(self.tokens.first(), Some(Token::Keyword(next)) if *next == word);
        if found {
            self.advance();
        }
        found
    }

    fn newlines(&mut self) {
        while self.tokens.first() == Some(&Token::Newline) {
            self.advance();
        }
    }

    fn terminators(&mut self) {
        while self.tokens.first() == Some(&Token::Newline) || self.next_is(";") {
            self.advance();
        }
    }

    /// Runs `parse` one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn program(&mut self) -> Option<()> {
        self.terminators();
        while !self.tokens.is_empty() {
            self.item()?;
            self.terminators();
        }
        Some(())
    }

    fn item(&mut self) -> Option<()> {
        if self.keyword("BEGIN") || self.keyword("END") {
            return self.block();
        }
        if !self.next_is("{") {
            self.expression(Greater::Compares)?;
            if self.take(",") {
                self.newlines();
                self.expression(Greater::Compares)?;
            }
        }
        if self.next_is("{") {
            return self.block();
        }
        // Another pattern starts behind a line break or a semicolon.
        let ends = self.tokens.is_empty() || self.tokens.first() == Some(&Token::Newline);
        (ends || self.next_is(";")).then_some(())
    }

    fn block(&mut self) -> Option<()> {
        self.expect("{")?;
        self.terminators();
        while !self.take("}") {
            self.nested(Self::statement)?;
            self.terminators();
        }
        Some(())
    }

    fn statement(&mut self) -> Option<()> {
        if self.next_is("{") {
            return self.block();
        }
        if self.keyword("if") {
            self.condition()?;
            self.body()?;
            // A semicolon may stand before `else`.
            let before = self.tokens;
            self.terminators();
            if self.keyword("else") {
                return self.body();
            }
            self.tokens = before;
            return Some(());
        }
        if self.keyword("while") {
            self.condition()?;
            return if self.take(";") { Some(()) } else { self.body() };
        }
        if self.keyword("do") {
            self.body()?;
            self.terminators();
            return if self.keyword("while") { self.condition() } else { None };
        }
        if self.keyword("for") {
            return self.repetition();
        }
        self.simple()?;
        self.ends_statement()
    }

    fn ends_statement(&self) -> Option<()> {
        let ends = self.tokens.is_empty() || self.tokens.first() == Some(&Token::Newline);
        (ends || self.next_is(";") || self.next_is("}")).then_some(())
    }

    fn body(&mut self) -> Option<()> {
        self.newlines();
        if self.take(";") {
            return Some(());
        }
        self.nested(Self::statement)
    }

    fn condition(&mut self) -> Option<()> {
        self.expect("(")?;
        self.expression(Greater::Compares)?;
        self.expect(")")
    }

    fn repetition(&mut self) -> Option<()> {
        self.expect("(")?;
        if !self.next_is(";") {
            self.simple()?;
        }
        // `for (key in array)` was one expression.
        if self.take(")") {
            return self.body();
        }
        self.expect(";")?;
        self.newlines();
        if !self.next_is(";") {
            self.expression(Greater::Compares)?;
        }
        self.expect(";")?;
        self.newlines();
        if !self.next_is(")") {
            self.simple()?;
        }
        self.expect(")")?;
        self.body()
    }

    fn simple(&mut self) -> Option<()> {
        if self.keyword("print") || self.keyword("printf") {
            if self.ends_statement().is_some() {
                return Some(());
            }
            return self.expressions(Greater::Redirects);
        }
        if ["next", "nextfile", "break", "continue"].iter().any(|word| self.keyword(word)) {
            return Some(());
        }
        if self.keyword("exit") {
            if self.ends_statement().is_some() {
                return Some(());
            }
            return self.expression(Greater::Compares);
        }
        if self.keyword("delete") {
            let Some(Token::Name(_)) = self.tokens.first() else { return None };
        }
        self.expression(Greater::Compares)
    }

    fn expressions(&mut self, greater: Greater) -> Option<()> {
        self.expression(greater)?;
        while self.take(",") {
            self.newlines();
            self.expression(greater)?;
        }
        Some(())
    }

    fn expression(&mut self, greater: Greater) -> Option<()> {
        self.nested(|parser| {
            parser.alternatives(greater)?;
            if parser.take("?") {
                parser.newlines();
                parser.expression(greater)?;
                parser.newlines();
                parser.expect(":")?;
                parser.newlines();
                return parser.expression(greater);
            }
            if parser.take_any(ASSIGNMENTS) {
                parser.newlines();
                return parser.expression(greater);
            }
            Some(())
        })
    }

    fn alternatives(&mut self, greater: Greater) -> Option<()> {
        loop {
            self.comparison(greater)?;
            while self.keyword("in") {
                let Some(Token::Name(_)) = self.tokens.first() else { return None };
                self.advance();
            }
            if !self.take_any(&["||", "&&"]) {
                return Some(());
            }
            self.newlines();
        }
    }

    fn comparison(&mut self, greater: Greater) -> Option<()> {
        loop {
            self.concatenation(greater)?;
            let compares = self.take_any(&["~", "!~"])
                || self.take_any(COMPARISONS)
                || (greater == Greater::Compares && self.take(">"));
            if !compares {
                return Some(());
            }
        }
    }

    fn concatenation(&mut self, greater: Greater) -> Option<()> {
        self.arithmetic(greater)?;
        while self.starts_operand() {
            self.arithmetic(greater)?;
        }
        Some(())
    }

    /// Whether an operand follows that is joined to the one before it.
    fn starts_operand(&self) -> bool {
        match self.tokens.first() {
            Some(Token::Constant | Token::Name(_) | Token::Function(_)) => true,
            Some(Token::Symbol(symbol)) => matches!(*symbol, "(" | "$" | "++" | "--"),
            // A slash behind an operand divides.
            Some(Token::Regex(_) | Token::Keyword(_) | Token::Newline) | None => false,
        }
    }

    fn arithmetic(&mut self, greater: Greater) -> Option<()> {
        loop {
            self.operand(greater)?;
            if !self.take_any(&["+", "-", "*", "/", "%", "^", "**"]) {
                return Some(());
            }
        }
    }

    fn operand(&mut self, greater: Greater) -> Option<()> {
        while self.take_any(&["!", "-", "+", "++", "--"]) {}
        let fields = {
            let mut fields = 0_usize;
            while self.take("$") {
                fields += 1;
            }
            fields
        };
        if fields > 0 {
            // `$++i`
            while self.take_any(&["++", "--", "-"]) {}
        }
        match self.tokens.first()? {
            Token::Constant => self.advance(),
            Token::Regex(_) if fields == 0 => self.advance(),
            Token::Name(_) => {
                self.advance();
                if self.take("[") {
                    self.expressions(Greater::Compares)?;
                    self.expect("]")?;
                }
            }
            Token::Function(name) => {
                let name = *name;
                self.advance();
                if self.take("(") {
                    if !self.next_is(")") {
                        self.expressions(Greater::Compares)?;
                    }
                    self.expect(")")?;
                } else if name != "length" {
                    return None;
                }
            }
            Token::Symbol("(") => {
                self.advance();
                // `(a, b) in c`, and what `print` is given in parentheses.
                self.expressions(Greater::Compares)?;
                self.expect(")")?;
            }
            Token::Symbol(_) | Token::Keyword(_) | Token::Regex(_) | Token::Newline => return None,
        }
        self.take_any(&["++", "--"]);
        // An assignment may stand where an operand does: `a && b = c`.
        if self.take_any(ASSIGNMENTS) {
            self.newlines();
            return self.expression(greater);
        }
        Some(())
    }
}
