//! toolgate
fn main() {}
