#![allow(warnings, clippy::all, clippy::pedantic)]
use std::io::Read;
fn main() {
    let mut s = String::new();
    std::io::stdin().read_to_string(&mut s).unwrap();
    for line in s.split("\n---\n") {
        print!("{line:?}\n    ");
        match policy::shell::analyse(line) {
            policy::shell::Analysis::Commands(c) => {
                println!("{:?}", c.iter().map(|c| c.source()).collect::<Vec<_>>())
            }
            policy::shell::Analysis::Opaque(o) => println!("OPAQUE {o}"),
        }
    }
}
