//! Programs of `awk` that only compute and print.

use super::super::entry::Arguments;

pub(super) const HARMLESS: &[&str] = &[
    "awk '{print $1}' data.csv",
    "awk -F, '{print $2}' data.csv",
    "awk 'NR==1' a",
    "awk '/foo|bar/ {n++} END {print n}' a",
    "awk '{s+=$1} END {printf \"%d > x\\n\", s}' a",
    "awk 'NR<=5 || $1 ~ /x/' a",
    "ls | awk '{print NF}'",
    "awk -v n=3 'NR<n' a",
];
pub(super) const NOT: &[&str] = &[
    "awk 'BEGIN{print 1 \\\n/1 | \"sh\"; x = 1/1}'",
    "awk 'BEGIN{while((getline l < \"/etc/passwd\")>0) print l}'",
    "awk '@load \"filefuncs\"; BEGIN{chdir(\"/\")}'",
    "awk '{print > \"OUT\"}' a",
    "awk '{print >> \"OUT\"}' a",
    "awk '{print | \"sh\"}' a",
    "awk 'BEGIN{system(\"id\")}'",
    "awk 'BEGIN{\"id\" | getline x}'",
    "awk -f prog a",
    "awk 'BEGIN{print ENVIRON[\"X\"]}'",
    "awk 'BEGIN{ARGV[1]=\"/etc/passwd\"; ARGC=2} 1'",
    "awk '{print}' /etc/passwd",
    "awk -i inplace 1 a",
    "awk '$1 > 5' a",
    "awk 'BEGIN{print a/b|\"sh\"/c}'",
    "awk 1 FS=/etc/passwd a/../../x",
    "awk '{print /x/ > \"y\"}' a",
];

/// What runs programs, reads other files or the environment.
const REFUSED: &[&str] = &[
    "ARGC", "ARGIND", "ARGV", "ENVIRON", "FUNCTAB", "PROCINFO", "SYMTAB", "close", "fflush",
    "getline", "system",
];

pub(super) fn check(arguments: &Arguments) -> Result<(), String> {
    let program = arguments.operands.first().map(String::as_str).unwrap_or_default();
    // A path may also be an assignment; both are checked as paths. Names in `-v` cannot be special.
    let special = |value: &String| REFUSED.iter().any(|name| value.starts_with(name));
    let variables = arguments.options.iter().filter(|(name, _)| name == "-v");
    if variables.filter_map(|(_, value)| value.as_ref()).any(special) || !is_plain(program) {
        return Err("a program of `awk` is not known to be harmless".to_owned());
    }
    Ok(())
}

fn is_plain(program: &str) -> bool {
    let Some(code) = without_literals(program) else { return false };
    let mut words = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let refused = words.any(|word| REFUSED.contains(&word));
    // `||` is no pipe; `|`, `>` and `@` write, run and load.
    !refused && !code.replace("||", " ").contains(['|', '>', '@', '`'])
}

/// The program without what stands in strings and regular expressions.
fn without_literals(program: &str) -> Option<String> {
    let mut code = String::new();
    let mut letters = program.chars();
    let mut before = '{';
    while let Some(letter) = letters.next() {
        let ends = match letter {
            '"' => Some('"'),
            '/' if "{}(,;!~&|\n".contains(before) => Some('/'),
            // A comment, and a line that goes on, change what a slash means.
            '#' | '\\' => return None,
            _ => None,
        };
        if let Some(end) = ends {
            skip(&mut letters, end)?;
            code.push(' ');
            before = 'x';
            continue;
        }
        code.push(letter);
        if !letter.is_whitespace() || letter == '\n' {
            before = letter;
        }
    }
    Some(code)
}

fn skip(letters: &mut std::str::Chars<'_>, end: char) -> Option<()> {
    loop {
        match letters.next()? {
            '\\' => {
                letters.next()?;
            }
            // In brackets a slash may or may not end it.
            '[' | '\n' if end == '/' => return None,
            letter if letter == end => return Some(()),
            _ => {}
        }
    }
}
