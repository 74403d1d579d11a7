//! What people run.

/// A program that has to work.
pub(crate) struct Program {
    pub(crate) command: &'static str,
    /// A part of what it writes to standard output.
    pub(crate) prints: &'static str,
    /// Whether it runs twice in each mode.
    pub(crate) is_quick: bool,
}

pub(crate) const PROGRAMS: &[Program] = &[
    Program {
        command: "node -e 'console.log(`node ${[1, 2].map(x => x * 21)}`)'",
        prints: "node 21,42",
        is_quick: true,
    },
    Program { command: "java -version 2>&1", prints: "openjdk version", is_quick: true },
    Program {
        command: "mkdir -p go && cd go && printf 'module m\\n' > go.mod && \
                  printf 'package main\\nimport \"fmt\"\\nfunc main() { fmt.Println(\"go\", 42) }\\n' > m.go && \
                  go build -o m . && ./m && cd ..",
        prints: "go 42",
        is_quick: true,
    },
    Program {
        command: "mkdir -p rs/src && cd rs && printf '[package]\\nname = \"m\"\\nedition = \"2021\"\\n' > Cargo.toml && \
                  printf 'fn main() { println!(\"rust {}\", 42) }\\n' > src/main.rs && \
                  PATH=\"$TEST_TOOLCHAIN/bin:$PATH\" cargo build --offline --quiet && target/debug/m && cd ..",
        prints: "rust 42",
        is_quick: true,
    },
    Program {
        command: "rm -rf venv && python3 -m venv venv && venv/bin/python -c 'print(\"python\", 42)'",
        prints: "python 42",
        is_quick: false,
    },
    // Its own sandbox needs namespaces within namespaces, which no command may make.
    Program {
        command: "chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
                  --dump-dom 'data:text/html,<p>chromium</p>' 2>/dev/null",
        prints: "<p>chromium</p>",
        is_quick: true,
    },
];
