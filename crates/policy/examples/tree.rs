#![allow(warnings, clippy::all, clippy::pedantic)]
use std::io::Read;
fn dump(n: tree_sitter::Node, s: &str, d: usize) {
    let t = &s[n.byte_range()];
    println!(
        "{}{}{} {:?}{}",
        " ".repeat(d * 2),
        if n.is_named() { "" } else { "~" },
        n.kind(),
        t,
        if n.is_error() || n.is_missing() { " !!!" } else { "" }
    );
    let mut c = n.walk();
    let kids: Vec<_> = n.children(&mut c).collect();
    for k in kids {
        dump(k, s, d + 1);
    }
}
fn main() {
    let mut s = String::new();
    std::io::stdin().read_to_string(&mut s).unwrap();
    let mut p = tree_sitter::Parser::new();
    p.set_language(&tree_sitter_bash::LANGUAGE.into()).unwrap();
    for line in s.split("\n---\n") {
        println!("=== {line}");
        let t = p.parse(line, None).unwrap();
        dump(t.root_node(), line, 0);
    }
}
