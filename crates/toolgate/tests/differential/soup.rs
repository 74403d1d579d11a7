//! Nonsense made of what shells care about.

use crate::{generate, random::Random};

const TOKENS: &[&str] = &[
    "a",
    "b",
    "c",
    "d",
    "a",
    "b",
    " ",
    " ",
    " ",
    " ",
    " ",
    "\n",
    "\n",
    ";",
    ";",
    "|",
    "&",
    "&&",
    "||",
    "'",
    "'",
    "\"",
    "\"",
    "\"",
    "`",
    "`",
    "\\",
    "$(",
    "$(",
    ")",
    ")",
    ")",
    "(",
    "${x:-",
    "${x",
    "}",
    "}",
    "{ ",
    "; }",
    "$",
    "$x",
    "x=",
    "x=1",
    "<",
    ">",
    "<(",
    ">(",
    ">&",
    "&>",
    "2>",
    "<<E\n",
    "<<'E'\n",
    "<<-E\n",
    "<<<",
    "\nE\n",
    "E\n",
    "#",
    " #",
    "((",
    "))",
    "$((",
    "[[ ",
    " ]]",
    "[ ",
    " ]",
    "if ",
    "; then ",
    "; fi",
    "while ",
    "; do ",
    "; done",
    "for x in ",
    "case ",
    " in ",
    ";;",
    " esac",
    "!",
    "! ",
    "~",
    "*",
    "?",
    "{a,b}",
    "f()",
    "function f",
    "time ",
    "$'",
    "$\"",
    "\\\n",
    "1",
    "-eq",
    "==",
    "=~",
    "eval ",
    "x+=",
    "x[",
    "]",
    "y=(",
    "@",
    "${#x}",
    "${!x}",
    "${x/",
    "-v",
    "\t",
    "%",
    "+",
    ",",
    "..",
    "^",
    "-",
    ":-",
    ":=",
    "export ",
    "coproc ",
    "|&",
    ";&",
    "let ",
    "/",
    "./",
    ".",
    ". ",
    "../",
    "here ",
    "/bin/s0 ",
    "s1 ",
    "exec ",
    "command ",
    "builtin ",
    "env ",
    "nice ",
    "xargs ",
    "bash -c ",
    "sh -c ",
    "trap ",
    " EXIT",
    "read ",
    "set ",
    "unset ",
    "declare ",
    "printf ",
    "test ",
    "-n ",
    "-p ",
    "-c ",
    "--",
    "$@",
    "break;",
    "select x in ",
    "until ",
    "else ",
    "elif ",
    "PATH=",
    "IFS=",
];

pub(crate) fn line(random: &mut Random) -> String {
    if random.chance(70) { damaged(random) } else { nonsense(random) }
}

/// A line that meant something before.
fn damaged(random: &mut Random) -> String {
    let line = generate::short(random);
    damage(random, &line)
}

/// The line after something was added to it or taken away.
pub(crate) fn damage(random: &mut Random, line: &str) -> String {
    let mut letters: Vec<char> = line.chars().collect();
    for _ in 0..=random.below(2) {
        let at = random.below(letters.len() + 1);
        if random.chance(50) && at < letters.len() {
            letters.remove(at);
        } else {
            let token = random.pick(TOKENS);
            letters.splice(at..at, token.chars());
        }
    }
    letters.into_iter().collect()
}

fn nonsense(random: &mut Random) -> String {
    let length = 1 + random.below(14);
    let mut line: String = (0..length).map(|_| random.pick(TOKENS)).collect();
    // Half of them begin with something that runs.
    if random.chance(50) {
        line.insert_str(0, random.pick(&["a ", "a;", "x=1;", "a \"", "a $(", "{ ", "a <<E\n"]));
    }
    line
}
