//! Which variables a call may not set for its command.

/// What setting a variable would do, and the variables that do it. `*` at an end stands for anything;
/// case does not matter. Whoever decides about a command judges what it says; such a variable makes
/// it another one, or makes it trust somebody else.
const REFUSED: &[(&str, &[&str])] = &[
    (
        "decides which code every program loads",
        &[
            "DYLD_*",
            "GCONV_PATH",
            "GETCONF_DIR",
            "GLIBC_TUNABLES",
            "LD_*",
            "LOCPATH",
            "MALLOC_*",
            "NLSPATH",
            "TZDIR",
        ],
    ),
    (
        "decides what an interpreter runs",
        &[
            "BUN_*",
            "CLASSPATH",
            "COMPLUS_*",
            "CONDA_*",
            "CORECLR_*",
            "COR_*",
            "DENO_*",
            "DOTNET_*",
            "ELECTRON_*",
            "ELIXIR_*",
            "ERL_*",
            "GUILE_*",
            "JAVA_*",
            "JDK_*",
            "JULIA_*",
            "JVM_*",
            "LUA_*",
            "MONO_*",
            "NODE_OPTIONS",
            "NODE_PATH",
            "NODE_REPL_*",
            "OCTAVE_*",
            "PERL5*",
            "PERLLIB",
            "PERL_*",
            "PHPRC",
            "PHP_*",
            "PYTHON*",
            "RUBY*",
            "R_*",
            "TCLLIBPATH",
            "VIRTUAL_ENV",
            "_JAVA_*",
        ],
    ),
    (
        "decides what a shell runs",
        &[
            "BASHOPTS",
            "BASH_*",
            "CDPATH",
            "COMSPEC",
            "ENV",
            "FPATH",
            "GLOBIGNORE",
            "HISTFILE",
            "IFS",
            "INPUTRC",
            "KSH_*",
            "PATHEXT",
            "PROMPT_COMMAND",
            "PS0",
            "PS1",
            "PS2",
            "PS4",
            "SHELLOPTS",
            "ZDOTDIR",
        ],
    ),
    (
        "decides what version control runs",
        &["BZR_*", "CVS_*", "GIT_*", "HGMERGE", "HGRCPATH", "HG_*", "RSYNC_*", "SVN_*"],
    ),
    (
        "decides what a package manager or a build runs",
        &[
            "ACLOCAL_PATH",
            "ANSIBLE_*",
            "ANT_*",
            "APT_CONFIG",
            "AR",
            "AS",
            "BAZEL*",
            "BUNDLER_*",
            "BUNDLE_*",
            "CARGO_*",
            "CC",
            "CCACHE_*",
            "CFLAGS",
            "CGO_*",
            "CMAKE_*",
            "COMPILER_PATH",
            "COMPOSER_*",
            "CONAN_*",
            "COREPACK_*",
            "CPATH",
            "CPLUS_INCLUDE_PATH",
            "CPP",
            "CPPFLAGS",
            "CXX",
            "CXXFLAGS",
            "C_INCLUDE_PATH",
            "DISTCC_*",
            "DPKG_*",
            "FC",
            "FFLAGS",
            "GCC_EXEC_PREFIX",
            "GEM_*",
            "GNUMAKEFLAGS",
            "GOAUTH",
            "GOBIN",
            "GOCACHEPROG",
            "GOENV",
            "GOFLAGS",
            "GOINSECURE",
            "GONOPROXY",
            "GONOSUM*",
            "GOPATH",
            "GOPRIVATE",
            "GOPROXY",
            "GOROOT",
            "GOSUMDB",
            "GOTOOL*",
            "GOVCS",
            "GOWORK",
            "GRADLE_*",
            "HOMEBREW_*",
            "JUST_*",
            "LD",
            "LDFLAGS",
            "LEIN_*",
            "LIBRARY_PATH",
            "LIBTOOL*",
            "MAKEFILES",
            "MAKEFLAGS",
            "MAVEN_*",
            "MFLAGS",
            "MSBUILD*",
            "MVN_*",
            "NIX_*",
            "NPM_*",
            "NUGET_*",
            "OBJC_INCLUDE_PATH",
            "PIPENV_*",
            "PIPX_*",
            "PIP_*",
            "PKG_CONFIG*",
            "PNPM_*",
            "POETRY_*",
            "RUSTC",
            "RUSTC_*",
            "RUSTDOC",
            "RUSTDOCFLAGS",
            "RUSTFLAGS",
            "RUSTUP_*",
            "SBT_*",
            "SCCACHE_*",
            "TWINE_*",
            "UV_*",
            "VCPKG_*",
            "YARN_*",
        ],
    ),
    (
        "decides through whom requests go",
        &["*_PROXY", "HOSTALIASES", "LOCALDOMAIN", "NIS_PATH", "RESOLV_*", "RES_OPTIONS"],
    ),
    (
        "decides whom programs trust",
        &[
            "*_CA_BUNDLE",
            "*_CA_CERTS",
            "CURL_*",
            "GNUPGHOME",
            "GNUTLS_*",
            "KRB5*",
            "NETRC",
            "NODE_TLS_REJECT_UNAUTHORIZED",
            "OPENSSL_*",
            "SSLKEYLOGFILE",
            "SSL_*",
            "WGETRC",
        ],
    ),
    (
        "names a program that others start, or what it does then",
        &[
            "*ASKPASS",
            "*EDITOR",
            "*PAGER",
            "BAT_*",
            "BROWSER",
            "EMACSLOADPATH",
            "EXINIT",
            "FCEDIT",
            "FZF_*",
            "GVIMINIT",
            "LESS",
            "LESSCLOSE",
            "LESSKEY*",
            "LESSOPEN",
            "NVIM*",
            "RIPGREP_CONFIG_PATH",
            "SHELL",
            "SUDO_*",
            "TAR_OPTIONS",
            "TERMCAP",
            "TERMINFO*",
            "TEXMF*",
            "VIM*",
            "VISUAL",
        ],
    ),
    (
        "decides where programs and their settings are looked for",
        &["APPDATA", "HOME", "PATH", "TEMP", "TMP", "TMPDIR", "USERPROFILE", "XDG_*"],
    ),
    (
        "decides as whom, and on which machine, a program acts",
        &[
            "*_API_KEY",
            "ANTHROPIC_*",
            "ARM_*",
            "AWS_*",
            "AZURE_*",
            "CLOUDSDK_*",
            "CONTAINER_HOST",
            "DOCKER_*",
            "GCLOUD_*",
            "GH_*",
            "GITHUB_TOKEN",
            "GITLAB_TOKEN",
            "GOOGLE_*",
            "HELM_*",
            "KUBE*",
            "OPENAI_*",
            "PGPASSFILE",
            "PGSERVICEFILE",
            "PGSYSCONFDIR",
            "PODMAN_*",
            "PULUMI_*",
            "SSH_*",
            "TF_*",
            "TOOLGATE_*",
            "VAULT_*",
        ],
    ),
];

/// What is wrong with setting `name` to `value`, if anything.
pub(crate) fn problem(name: &str, value: &str) -> Option<String> {
    if !is_name(name) {
        let shown = name.escape_debug();
        return Some(format!(
            "`{shown}` is not a name for a variable; use letters, digits and `_`"
        ));
    }
    if value.contains('\0') {
        return Some(format!("the value of `{name}` contains a NUL character; take it out"));
    }
    let does = refused(name)?;
    Some(format!(
        "`{name}` {does}, so a call cannot set it; leave it out. The operator can pass on Toolgate's \
         own with `tools.exec.env`"
    ))
}

fn is_name(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(inner)
}

/// What setting `name` would do, if it may not be set.
fn refused(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_uppercase();
    let listed = |patterns: &[&str]| patterns.iter().any(|pattern| fits(pattern, &name));
    REFUSED.iter().find(|(_, patterns)| listed(patterns)).map(|(does, _)| *does)
}

fn fits(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (_, Some(start)) => name.starts_with(start),
        (None, None) => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_the_project_can_be_set() {
        for name in [
            "CI",
            "DATABASE_URL",
            "DEBUG",
            "ENVIRONMENT",
            "FOO",
            "GOMAXPROCS",
            "LANG",
            "LC_ALL",
            "MY_PATH",
            "NODE_ENV",
            "NO_COLOR",
            "PATHS",
            "PORT",
            "RUST_BACKTRACE",
            "RUST_LOG",
            "TERM",
            "TZ",
            "_x1",
        ] {
            assert_eq!(problem(name, "any value\n"), None, "{name}");
        }
    }

    #[test]
    fn a_problem_says_what_is_wrong() {
        for (name, value, expected) in [
            ("", "x", "`` is not a name for a variable; use letters, digits and `_`"),
            ("1A", "x", "`1A` is not a name for a variable; use letters, digits and `_`"),
            ("A=B", "x", "`A=B` is not a name for a variable; use letters, digits and `_`"),
            ("Ä", "x", "`Ä` is not a name for a variable; use letters, digits and `_`"),
            ("A\n", "x", "`A\\n` is not a name for a variable; use letters, digits and `_`"),
            ("A", "x\0", "the value of `A` contains a NUL character; take it out"),
            (
                "ld_preload",
                "x",
                "`ld_preload` decides which code every program loads, so a call cannot set it; \
                 leave it out. The operator can pass on Toolgate's own with `tools.exec.env`",
            ),
        ] {
            assert_eq!(problem(name, value).unwrap(), expected);
        }
    }

    #[test]
    fn the_list_is_in_order_and_says_nothing_twice() {
        let all = || REFUSED.iter().flat_map(|(_, patterns)| patterns.iter());
        for (does, patterns) in REFUSED {
            assert!(patterns.is_sorted(), "{does}");
        }
        for pattern in all() {
            let text = pattern.trim_matches('*');
            assert!(is_name(text) && text == text.to_ascii_uppercase(), "{pattern}");
            let covering = all().filter(|other| fits(other, text) && !other.eq(&pattern));
            assert_eq!(covering.collect::<Vec<_>>(), Vec::<&&str>::new(), "{pattern}");
        }
    }
}
