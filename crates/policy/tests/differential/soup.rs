//! Nonsense made of what shells care about.

use crate::random::Random;

/// No slash, no dot and no builtin that reaches outside: nothing real can be touched.
const TOKENS: &[&str] = &[
    "a", "b", "c", "d", "a", "b", " ", " ", " ", " ", " ", "\n", "\n", ";", ";", "|", "&", "&&",
    "||", "'", "'", "\"", "\"", "\"", "`", "`", "\\", "$(", "$(", ")", ")", ")", "(", "${x:-", "${x",
    "}", "}", "{ ", "; }", "$", "$x", "x=", "x=1", "<", ">", "<(", ">(", ">&", "&>", "2>", "<<E\n",
    "<<'E'\n", "<<-E\n", "<<<", "\nE\n", "E\n", "#", " #", "((", "))", "$((", "[[ ", " ]]", "[ ",
    " ]", "if ", "; then ", "; fi", "while ", "; do ", "; done", "for x in ", "case ", " in ", ";;",
    " esac", "!", "! ", "~", "*", "?", "{a,b}", "f()", "function f", "time ", "$'", "$\"", "\\\n",
    "1", "-eq", "==", "=~", "eval ", "x+=", "x[", "]", "y=(", "@", "${#x}", "${!x}", "${x/", "-v",
    "\t", "%", "+", ",", "..", "^", "-", ":-", ":=", "export ", "coproc ", "|&", ";&", "let ",
];

pub(crate) fn line(random: &mut Random) -> String {
    let length = 1 + random.below(14);
    let mut line: String = (0..length).map(|_| random.pick(TOKENS)).collect();
    // Half of them begin with something that runs.
    if random.chance(50) {
        line.insert_str(0, random.pick(&["a ", "a;", "x=1;", "a \"", "a $(", "{ ", "a <<E\n"]));
    }
    line
}
