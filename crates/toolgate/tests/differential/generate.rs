//! Lines from a grammar of all that bash offers, made of names that are no programs.

use crate::random::Random;

const NAMES: &[&str] = &["a", "b", "c", "d", "e", "f0", "a1", "b-x"];
/// Programs that are there, by name and by path.
const PROGRAMS: &[&str] =
    &["s0", "s1", "s2", "s0", "s1", "/bin/s0", "/usr/bin/s1", "../here", "./../sub/here"];
const DEPTH: usize = 2;

/// A program that other programs find too.
pub(crate) fn program(random: &mut Random) -> &'static str {
    random.pick(PROGRAMS)
}

pub(crate) fn line(random: &mut Random) -> String {
    let mut maker = Maker { random, heredocs: Vec::new(), functions: 0 };
    let list = maker.list(DEPTH);
    maker.with_bodies(list)
}

/// The same, but not nested as deep.
pub(crate) fn short(random: &mut Random) -> String {
    let mut maker = Maker { random, heredocs: Vec::new(), functions: 0 };
    let list = maker.list(1);
    maker.with_bodies(list)
}

struct Maker<'a> {
    random: &'a mut Random,
    /// Bodies that are due at the next end of a line.
    heredocs: Vec<String>,
    functions: usize,
}

impl Maker<'_> {
    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        self.random.pick(of)
    }

    fn with_bodies(&mut self, text: String) -> String {
        let bodies: String = self.heredocs.drain(..).collect();
        if bodies.is_empty() { text } else { format!("{text}\n{bodies}") }
    }

    fn list(&mut self, depth: usize) -> String {
        let mut text = self.pipeline(depth);
        while self.random.chance(30) {
            let join = self.pick(&["; ", " && ", " || ", " & ", "\n", ";", "&&", "||\n", " # x\n"]);
            if join.ends_with('\n') {
                text = self.with_bodies(text + join.trim_end_matches('\n'));
                text.push_str(if text.ends_with('\n') { "" } else { "\n" });
            } else {
                text.push_str(join);
            }
            text.push_str(&self.pipeline(depth));
        }
        text
    }

    fn pipeline(&mut self, depth: usize) -> String {
        let mut text = self.pick(&["", "", "", "", "", "! ", "time ", "time -p "]).to_owned();
        text.push_str(&self.command(depth));
        while self.random.chance(15) {
            text.push_str(self.pick(&[" | ", "|", " |& "]));
            text.push_str(&self.command(depth));
        }
        text
    }

    fn command(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.chance(60) {
            return self.simple(depth);
        }
        let text = self.compound(depth - 1);
        if self.random.chance(15) { text + &self.redirection(depth - 1) } else { text }
    }

    fn compound(&mut self, depth: usize) -> String {
        let (one, two) = (self.nested(depth), self.nested(depth));
        // Each has a name of its own, so that none calls itself.
        self.functions += 1;
        let (g, i) = (format!("g{}", self.functions), format!("i{}", self.functions));
        match self.random.below(16) {
            0 => format!("({one})"),
            1 => format!("{{ {one}; }}"),
            2 => format!("if {one}; then {two}; fi"),
            3 => format!("if {one}\nthen {two}\nelse {one}\nfi"),
            4 => format!("while {one}; do {two}; break; done"),
            5 => format!("until {one}; do {two}; break; done"),
            6 => format!("for {i} in {} {}; do {one}; done", self.word(depth), self.word(depth)),
            7 => format!("for (({i}=0; {i}<2; {i}++)); do {one}; done"),
            8 => format!(
                "case {} in {}) {one};; *) {two};; esac",
                self.word(depth),
                self.word(depth)
            ),
            9 => format!("case x in (a|x) {one} ;& (y) {two} ; esac"),
            10 => format!("{g}() {{ {one}; }}; {g} {}", self.word(depth)),
            11 => format!("function {g} {{ {one}; }}\n{g}"),
            12 => format!("[[ {} == {} ]] && {one}", self.word(depth), self.word(depth)),
            13 => format!("[[ -n {} || ! {} < z ]] || {one}", self.word(depth), self.word(depth)),
            14 => format!("n=1; ((n > 0 && n < 5)) && {one}"),
            _ => self.wrapper(depth),
        }
    }

    /// A list in which no body is left over.
    fn nested(&mut self, depth: usize) -> String {
        let outer = std::mem::take(&mut self.heredocs);
        let list = self.list(depth);
        let mut text = self.with_bodies(list);
        if text.ends_with("E\n") {
            text.push('a');
        }
        self.heredocs = outer;
        text
    }

    fn wrapper(&mut self, depth: usize) -> String {
        let stub = program(self.random);
        let word = self.word(depth);
        match self.random.below(14) {
            0 => format!("env {stub} {word}"),
            1 => format!("env X=1 nice -n 1 {stub} {word}"),
            2 => format!("timeout 5 {stub} {word}"),
            3 => format!("nohup {stub} {word}"),
            4 => format!("stdbuf -oL {stub} {word}"),
            5 => format!("echo x | xargs {stub} y"),
            6 => format!("echo x | xargs -I{{}} {stub} {{}} y"),
            7 => format!("bash -c '{stub} x; a \"$0\"' z"),
            8 => format!("sh -ec \"{stub} x && {stub} y\""),
            9 => format!("eval '{stub} x;' \"b y\""),
            10 => format!("command {stub} {word}"),
            11 => format!("(exec {stub} {word})"),
            12 => format!("trap '{stub} x' EXIT"),
            _ => format!("bash -c 'bash -euo pipefail -c \"{stub} \\$x; c\"'"),
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut text = String::new();
        if self.random.chance(12) {
            let name = self.pick(&["x", "y", "z"]);
            text = format!("{name}={} ", self.word(depth));
        }
        if self.random.chance(4) {
            return format!("y=({} {})", self.word(depth), self.word(depth));
        }
        if self.random.chance(5) {
            let builtin = self.pick(&[
                "echo",
                "export V=1",
                ":",
                "local x=",
                "printf %s",
                "[ -n",
                "test x =",
            ]);
            let closing = if builtin.starts_with('[') { " ]" } else { "" };
            return format!("{builtin} {}{closing}", self.word(depth));
        }
        if self.random.chance(6) {
            text.push_str(self.redirection(depth).trim_start());
            text.push(' ');
        }
        let there = self.random.chance(20);
        text.push_str(if there { program(self.random) } else { self.pick(NAMES) });
        while self.random.chance(45) {
            text.push_str(self.pick(&[" ", " ", " ", "  ", "\t", " \\\n"]));
            text.push_str(&self.word(depth));
        }
        if self.random.chance(10) {
            text.push_str(&self.redirection(depth));
        }
        text
    }

    fn redirection(&mut self, depth: usize) -> String {
        match self.random.below(14) {
            0 => " >o".to_owned(),
            1 => " 2>&1".to_owned(),
            2 => format!(" <<< {}", self.word(depth)),
            3 => " 2>/dev/null".to_owned(),
            4 => " &>o".to_owned(),
            5 => " >>o 2>&1".to_owned(),
            6 => format!(" < <({})", self.inner(depth)),
            7 => format!(" > >({})", self.inner(depth)),
            8 => " 3<>o".to_owned(),
            9 => " {fd}>o".to_owned(),
            10 => " >| o".to_owned(),
            11 => self.heredoc(" <<E", "E", depth),
            12 => self.heredoc(" <<-E", "\tE", depth),
            _ => self.heredoc(" <<'E'", "E", depth),
        }
    }

    fn heredoc(&mut self, start: &str, end: &str, depth: usize) -> String {
        let word = self.inner(depth);
        let (quoted, name) = (self.double(depth), self.pick(NAMES));
        self.heredocs.push(format!("x $({word}) \\$(d) 'y'\n`{name}` {quoted}\n{end}\n"));
        start.to_owned()
    }

    /// What fits on one line, for where a line must not end.
    fn inner(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.pick(NAMES).to_owned();
        }
        let text = self.nested(depth - 1);
        if text.contains('\n') { self.pick(NAMES).to_owned() } else { text }
    }

    fn word(&mut self, depth: usize) -> String {
        let count = 1 + usize::from(self.random.chance(20));
        (0..count).map(|_| self.part(depth)).collect()
    }

    fn part(&mut self, depth: usize) -> String {
        match self.random.below(30) {
            0..=7 => self
                .pick(&["x", "y1", "-f", "k=v", "a,b", "7", "p:q", "x#y", "%", "@{u}"])
                .to_owned(),
            8 => self.pick(&["'x y'", "'$(d)'", "'`d`'", "'\\'", "';d'", "'\n'"]).to_owned(),
            9..=11 => self.double(depth),
            12 => self
                .pick(&["\\$x", "\\;", "\\ ", "\\'", "\\\"", "\\`", "\\(d\\)", "\\\\", "\\#"])
                .to_owned(),
            13 => {
                self.pick(&["$x", "${x}", "$1", "$?", "${#x}", "$", "${x-}", "$#", "$-"]).to_owned()
            }
            14 | 15 => format!("$({})", self.nested_or_name(depth)),
            16 => format!("`{}`", self.inner(depth).replace('\\', "\\\\").replace('`', "\\`")),
            17 => format!("${{x:-{}}}", self.plain_part(depth)),
            18 => format!("${{x:+{}}}", self.plain_part(depth)),
            19 => format!("${{x/{}/{}}}", self.plain_part(depth), self.plain_part(depth)),
            20 => format!("${{x#{}}}", self.plain_part(depth)),
            21 => self
                .pick(&["$((1+2))", "$(( 3 * (4-1) ))", "$((1<<2))", "$[1+1]", "${x:1:2}"])
                .to_owned(),
            22 => {
                self.pick(&["*", "?", "[ab]", "~", "{a,b}", "{1..3}", "{}", "x{", "}y"]).to_owned()
            }
            23 => self.pick(&["$'x\\ny'", "$'\\''", "$'\\x41'", "$\"x\"", "$'$(d)'"]).to_owned(),
            24 => format!("<({})", self.inner(depth)),
            25 => self
                .pick(&["\"\"", "''", "\"a b\"", "\"'\"", "'\"'", "\"\\\"\"", "\"#\"", "\"!\""])
                .to_owned(),
            26 => format!("${{y[0]:-{}}}", self.plain_part(depth)),
            27 => format!("\"${{x:-{}}}\"", self.plain_part(depth)),
            28 => format!("${{x%%{}}}", self.plain_part(depth)),
            _ => self.pick(&["é", "ß", "日本", "x\\\"y", "--x=y", "+", "!", "^x"]).to_owned(),
        }
    }

    fn nested_or_name(&mut self, depth: usize) -> String {
        if depth == 0 { self.pick(NAMES).to_owned() } else { self.nested(depth - 1) }
    }

    fn plain_part(&mut self, depth: usize) -> String {
        match self.random.below(5) {
            0 => self.pick(&["x", "", "x y", "*", "$x", "\\}"]).to_owned(),
            1 => format!("$({})", self.inner(depth)),
            2 => format!("`{}`", self.pick(NAMES)),
            3 => format!("${{y:-$({})}}", self.inner(depth)),
            _ => format!("x$({})", self.pick(NAMES)),
        }
    }

    fn double(&mut self, depth: usize) -> String {
        let parts = 1 + self.random.below(3);
        let inner: String = (0..parts).map(|_| self.double_part(depth)).collect();
        format!("\"{inner}\"")
    }

    fn double_part(&mut self, depth: usize) -> String {
        match self.random.below(9) {
            0..=2 => {
                self.pick(&["x", " ", "'", ";", "#", "| d", "\\$(d)", "\\\"", "\\`d\\`"]).to_owned()
            }
            3 => format!("$({})", self.nested_or_name(depth)),
            4 => format!("`{}`", self.pick(NAMES)),
            5 => self.pick(&["$x", "${x}", "$@", "$*", "${y[@]}"]).to_owned(),
            6 => format!("${{x:-{}}}", self.plain_part(depth)),
            7 => "$((2*3))".to_owned(),
            _ => self.pick(&["$", "\\\\", "<(d)", "*", "{a,b}", "(d)", "$'d'"]).to_owned(),
        }
    }
}
