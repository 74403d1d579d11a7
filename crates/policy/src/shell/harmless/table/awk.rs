//! Programs of `awk` that only compute and print.
//!
//! `awk` can run programs, write files and read any file, so a program is harmless only if a parser
//! of a subset of the language accepts it: see [`parser`].

mod lexer;
mod parser;

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
    "awk '$1 > 5' a",
    "awk 'length > 80' a",
    "awk 'length($0) > 80 {print FILENAME \":\" FNR \": \" $0}' a",
    "awk '{if ($1 > 5) print $2; else print \"-\"}' a",
    "awk '{c[$1]++} END {for (k in c) print k, c[k]}' a",
    "awk '!seen[$0]++' a",
    "awk '/^## /{p=1; next} /^# /{p=0} p' a",
    "awk 'BEGIN{FS=\":\"; OFS=\"\\t\"} {$1=$1; print}' a",
    "awk '{x = /\"/; y = $1 / 2; print x, y}' a",
    "awk '/[0-9]+[[:space:]]/ {gsub(/a\\/b/, \"c\"); print toupper(substr($0, 1, 3))}' a",
    "awk 'NR>=10 && NR<=20' a",
    "awk '/begin/,/end/' a",
    "awk '{a[NR]=$0} END {for (i=NR; i>0; i--) print a[i]}' a",
    "awk '{t=$1; while (t>9) t/=10; do t++; while (t<3); print (t>5 ? \"a\" : \"b\")}' a",
    "awk -F'[,;]' '{print $NF, $(NF-1)}' a",
    "awk 'END{print NR}' a",
];
pub(super) const NOT: &[&str] = &[
    // A slash after `=` starts a regular expression.
    "awk 'BEGIN{x = /\"/; system(\"touch x\"); y = /\"/}'",
    "awk 'BEGIN{x += /\"/; system(\"touch x\"); y = /\"/}'",
    "awk '{print NR /\"/; system(\"touch x\"); y = /\"/}' a",
    "awk 'BEGIN{return /\"/; system(\"touch x\"); y = /\"/}'",
    "awk 'BEGIN{x in /\"/; system(\"touch x\"); y = /\"/}'",
    "awk '{if (1) /\"/; system(\"touch x\"); y = /\"/}' a",
    "awk '{x++ /\"/; system(\"touch x\"); y = /\"/}' a",
    "awk '{print length /\"/; system(\"touch x\"); y = /\"/}' a",
    "awk 'BEGIN{x = /[/\"]/; system(\"id\"); y=\"\"}'",
    "awk 'BEGIN{x = /[]/\"]/; system(\"id\"); y=\"\"}'",
    "awk 'BEGIN{x = /[\\]/\"]/; system(\"id\"); y=\"\"}'",
    "awk 'BEGIN{x = /\"/; print \"system(a)\"}'",
    "awk 'BEGIN{print 1 \\\n/1 | \"sh\"; x = 1/1}'",
    "awk 'BEGIN{while((getline l < \"/etc/passwd\")>0) print l}'",
    "awk '@load \"filefuncs\"; BEGIN{chdir(\"/\")}'",
    "awk '{print > \"OUT\"}' a",
    "awk '{print >> \"OUT\"}' a",
    "awk '{print $1, $2 > $3}' a",
    "awk '{print (1)(2) > \"OUT\"}' a",
    "awk '{print(1, 2) > \"OUT\"}' a",
    "awk '{printf(\"%s\", $1) > \"OUT\"}' a",
    "awk '{print 1 ? 2 : 3 > \"OUT\"}' a",
    "awk '{print | \"sh\"}' a",
    "awk '{print |& \"sh\"}' a",
    "awk 'BEGIN{system(\"id\")}'",
    "awk 'BEGIN{system (\"id\")}'",
    "awk 'BEGIN{awk::system(\"id\")}'",
    "awk 'BEGIN{f=\"system\"; @f(\"id\")}'",
    "awk 'BEGIN{\"id\" | getline x}'",
    "awk 'function f(x) {return x} {print f(1)}' a",
    "awk 'BEGIN{f(1)}'",
    "awk -f prog a",
    "awk --exec prog a",
    "awk 'BEGIN{print ENVIRON[\"X\"]}'",
    "awk 'BEGIN{ARGV[1]=\"/etc/passwd\"; ARGC=2} 1'",
    "awk '{print}' /etc/passwd",
    "awk -i inplace 1 a",
    "awk -v ARGV=1 1 a",
    "awk 'BEGIN{print a/b|\"sh\"/c}'",
    "awk 1 FS=/etc/passwd a/../../x",
    "awk '{print /x/ > \"y\"}' a",
    "awk '{print # \"\n | \"sh\"}' a",
    "awk 'BEGIN{print \"a\\\nb\"}'",
];

/// Variables that reach the environment, other files or functions by their names.
const REFUSED_VARIABLES: &[&str] =
    &["ARGC", "ARGIND", "ARGV", "ENVIRON", "FUNCTAB", "PROCINFO", "SYMTAB"];

pub(super) fn check(arguments: &Arguments) -> Result<(), String> {
    let program = arguments.operands.first().map(String::as_str).unwrap_or_default();
    // A path may also be an assignment; both are checked as paths. Names in `-v` cannot be special.
    let special = |value: &String| REFUSED_VARIABLES.iter().any(|name| value.starts_with(name));
    let variables = arguments.options.iter().filter(|(name, _)| name == "-v");
    if variables.filter_map(|(_, value)| value.as_ref()).any(special) || !is_harmless(program) {
        return Err("a program of `awk` is not known to be harmless".to_owned());
    }
    Ok(())
}

fn is_harmless(program: &str) -> bool {
    let Some(tokens) = lexer::tokens(program) else { return false };
    // If some `awk` took a quote in a regular expression for the start of a string, it must still find
    // nothing dangerous: such a program may not even mention it in a text.
    let mixes = tokens
        .iter()
        .any(|token| matches!(token, lexer::Token::Regex(text) if text.contains(['"', '#'])));
    (!mixes || !mentions_danger(program)) && parser::accepts(&tokens)
}

fn mentions_danger(program: &str) -> bool {
    let words = ["system", "getline", "close", "fflush", "function", "func"];
    words.iter().chain(REFUSED_VARIABLES).any(|word| program.contains(word))
        || program.replace("||", " ").contains(['|', '>', '@'])
}
