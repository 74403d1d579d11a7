//! Which version of a program there is. They run in `/`: some of them look for settings, and even for
//! the program itself, where they are started.

use super::super::entry::Entry;

const fn version(name: &'static str, options: &'static str) -> Entry {
    Entry::new(name, options).within("/").in_full().checked(asks)
}

pub(super) const ENTRIES: &[Entry] = &[
    version("cargo", "--version -V").with(
        &["cargo --version", "cargo -V"],
        &[
            "cargo",
            "cargo build",
            "cargo --config 'build.rustc-wrapper=\"./evil.sh\"' check",
            "cargo +x --version",
        ],
    ),
    version("clang", "--version").with(&["clang --version"], &["clang a.c"]),
    version("cmake", "--version").with(&["cmake --version"], &["cmake ."]),
    version("gcc", "--version -dumpversion")
        .with(&["gcc --version"], &["gcc -v a.c", "gcc -B. --version"]),
    version("git", "--version").with(&["git --version"], &["git"]),
    version("java", "-version --version").with(&["java -version"], &["java -jar a.jar"]),
    version("make", "--version -v")
        .with(&["make --version"], &["make", "make -v x", "make -f a --version"]),
    version("node", "--version -v")
        .with(&["node -v"], &["node --require ./evil.js -v", "node a.js", "node"]),
    version("python3", "--version -V")
        .with(&["python3 --version"], &["python3 -c x", "python3", "python3 -m a"]),
    version("rustc", "--version -V -vV")
        .with(&["rustc --version"], &["rustc", "rustc a.rs", "rustc @args"]),
    version("rustup", "--version -V").with(&["rustup --version"], &["rustup update"]),
];

/// Without an option most of them do something else.
fn asks(arguments: &super::super::entry::Arguments) -> Result<(), String> {
    if arguments.options.is_empty() {
        return Err("only its version is known to be harmless".to_owned());
    }
    Ok(())
}
