//! Which version of a program there is. They run in `/`: some of them look for settings, and even for
//! the program itself, where they are started.

use super::super::entry::{Arguments, Entry};

/// So that `go` runs no other tool, whatever the workspace says, and asks nobody.
const GO: &[(&str, &str)] = &[
    ("CGO_ENABLED", "0"),
    ("GOENV", "off"),
    ("GOFLAGS", "-buildvcs=false"),
    ("GOPROXY", "off"),
    ("GOSUMDB", "off"),
    ("GOTOOLCHAIN", "local"),
    ("GOVCS", "*:off"),
];

const fn version(name: &'static str, options: &'static str) -> Entry {
    Entry::new(name, options).within("/").in_full().checked(asks)
}

/// Subcommands that print a version.
const fn command(name: &'static str, options: &'static str) -> Entry {
    Entry::new(name, options).within("/").in_full()
}

pub(super) const ENTRIES: &[Entry] = &[
    version("aws", "--version").with(&["aws --version"], &["aws s3 ls"]),
    version("bash", "--version").with(&["bash --version"], &["bash", "bash -c ls", "bash a.sh"]),
    version("brew", "--version -v").with(&["brew --version"], &["brew install x", "brew list"]),
    version("bundle", "--version -v").with(&["bundle --version"], &["bundle install"]),
    version("bun", "--version -v").with(&["bun --version"], &["bun run x"]),
    version("c++", "--version").with(&["c++ --version"], &["c++ a.cc"]),
    version("cargo", "--version -V --list --help -h").with(
        &["cargo --version", "cargo -V"],
        &[
            "cargo",
            "cargo build",
            "cargo --config 'build.rustc-wrapper=\"./evil.sh\"' check",
            "cargo +x --version",
        ],
    ),
    version("cc", "--version").with(&["cc --version"], &["cc a.c"]),
    version("clang", "--version").with(&["clang --version"], &["clang a.c"]),
    version("cmake", "--version").with(&["cmake --version"], &["cmake ."]),
    version("ctags", "--version").with(&["ctags --version"], &["ctags -R"]),
    version("curl", "--version -V").with(&["curl --version"], &["curl x", "curl -o a x"]),
    version("deno", "--version -V").with(&["deno --version"], &["deno run x"]),
    version("docker", "--version -v").with(&["docker --version"], &["docker ps", "docker run x"]),
    version("dotnet", "--version").with(&["dotnet --version"], &["dotnet build"]),
    version("g++", "--version -dumpversion").with(&["g++ --version"], &["g++ a.cc"]),
    version("gcc", "--version -dumpversion -dumpmachine")
        .with(&["gcc --version"], &["gcc -v a.c", "gcc -B. --version"]),
    version("gem", "--version -v").with(&["gem --version"], &["gem install x"]),
    version("git", "--version --help").with(&["git --version"], &["git"]),
    command("go env", "-json")
        .taking(super::super::Operands::Text)
        .checked(go_env)
        .with(&["go env", "go env GOPATH"], &["go env -w A=b", "go env -u A"]),
    Entry::new("go list", "-m -f:text -json -deps -test -e -find")
        .taking(super::super::Operands::Text)
        .in_full()
        .with_env(GO)
        .with(
            &["go list ./...", "go list -m all"],
            &[
                "go list -toolexec=./x ./...",
                "go list -export ./...",
                "go list -C / ./...",
                "go list -overlay=x .",
            ],
        ),
    command("go version", "").with(&["go version"], &["go version -m a", "go run ."]),
    version("gradle", "--version -v").with(&["gradle --version"], &["gradle build"]),
    version("java", "-version --version").with(&["java -version"], &["java -jar a.jar"]),
    version("javac", "-version --version").with(&["javac -version"], &["javac A.java"]),
    command("kubectl version", "--client -o:text")
        .checked(client)
        .with(&["kubectl version --client"], &["kubectl version", "kubectl get pods"]),
    version("make", "--version -v --help")
        .with(&["make --version"], &["make", "make -v x", "make -f a --version"]),
    version("mvn", "--version -v").with(&["mvn --version"], &["mvn package"]),
    version("ninja", "--version").with(&["ninja --version"], &["ninja"]),
    version("node", "--version -v --help")
        .with(&["node -v"], &["node --require ./evil.js -v", "node a.js", "node"]),
    version("npm", "--version -v --help").with(&["npm -v"], &["npm install", "npm run x", "npm"]),
    command("openssl version", "-a -v").with(&["openssl version"], &["openssl req -new"]),
    version("perl", "-v --version").with(&["perl -v"], &["perl -e 1", "perl a.pl", "perl"]),
    version("php", "--version -v").with(&["php -v"], &["php a.php", "php -r 1"]),
    version("pip", "--version -V --help").with(&["pip --version"], &["pip install x"]),
    version("pip3", "--version -V --help").with(&["pip3 --version"], &["pip3 install x"]),
    version("pnpm", "--version -v").with(&["pnpm -v"], &["pnpm install"]),
    version("podman", "--version -v").with(&["podman --version"], &["podman ps"]),
    version("poetry", "--version").with(&["poetry --version"], &["poetry run x"]),
    version("protoc", "--version").with(&["protoc --version"], &["protoc a.proto"]),
    version("psql", "--version -V").with(&["psql --version"], &["psql -c x"]),
    version("python", "--version -V --help").with(&["python --version"], &["python a.py"]),
    version("python3", "--version -V --help")
        .with(&["python3 --version"], &["python3 -c x", "python3", "python3 -m a"]),
    version("ruby", "--version -v").with(&["ruby --version"], &["ruby a.rb", "ruby -v -e 1"]),
    version("rustc", "--version -V -vV --verbose -v --print:text").with(
        &["rustc --version", "rustc --version --verbose", "rustc --print sysroot"],
        &["rustc", "rustc a.rs", "rustc @args"],
    ),
    version("rustfmt", "--version -V").with(&["rustfmt --version"], &["rustfmt a.rs"]),
    version("rustup", "--version -V").with(&["rustup --version"], &["rustup update"]),
    command("rustup show", "").with(&["rustup show"], &["rustup show profile x"]),
    command("rustup target list", "--installed")
        .with(&["rustup target list"], &["rustup target add x"]),
    command("rustup toolchain list", "-v --verbose")
        .with(&["rustup toolchain list"], &["rustup toolchain install x"]),
    version("ssh", "-V")
        .with(&["ssh -V"], &["ssh host", "ssh -V host", "ssh -o ProxyCommand=x -V"]),
    version("sqlite3", "--version -version").with(&["sqlite3 --version"], &["sqlite3 a.db .dump"]),
    version("swift", "--version").with(&["swift --version"], &["swift run"]),
    version("terraform", "--version -version").with(&["terraform --version"], &["terraform apply"]),
    command("terraform version", "").with(&["terraform version"], &["terraform plan"]),
    version("tmux", "-V").with(&["tmux -V"], &["tmux", "tmux new x"]),
    version("tsc", "--version -v").with(&["tsc --version"], &["tsc"]),
    version("uv", "--version -V").with(&["uv --version"], &["uv run x"]),
    version("vim", "--version").with(&["vim --version"], &["vim a", "vim -c x"]),
    version("wget", "--version -V").with(&["wget --version"], &["wget x"]),
    version("zsh", "--version").with(&["zsh --version"], &["zsh", "zsh -c ls"]),
    version("yarn", "--version -v").with(&["yarn --version"], &["yarn install", "yarn"]),
];

/// Without an option most of them do something else.
fn asks(arguments: &Arguments) -> Result<(), String> {
    if arguments.options.is_empty() {
        return Err("only its version is known to be harmless".to_owned());
    }
    Ok(())
}

fn client(arguments: &Arguments) -> Result<(), String> {
    if arguments.has(&["--client"]) {
        return Ok(());
    }
    Err("`kubectl` would ask a server".to_owned())
}

fn go_env(arguments: &Arguments) -> Result<(), String> {
    match arguments.operands.iter().find(|name| name.contains('=')) {
        Some(_) => Err("`go env` with a value sets it".to_owned()),
        None => Ok(()),
    }
}
