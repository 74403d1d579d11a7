//! Questions to package managers that are answered from files of the machine or of the workspace.

use super::super::{
    Operands,
    entry::{Arguments, Entry},
};

/// `npm` takes these before the settings of the workspace, which could name a module to load.
const NPM: &[(&str, &str)] = &[
    ("npm_config_onload_script", ""),
    ("npm_config_offline", "true"),
    ("npm_config_update_notifier", "false"),
    ("npm_config_audit", "false"),
    ("npm_config_fund", "false"),
];

const PIP: &[(&str, &str)] =
    &[("PIP_NO_INDEX", "1"), ("PIP_DISABLE_PIP_VERSION_CHECK", "1"), ("PIP_NO_INPUT", "1")];

const fn npm(name: &'static str, options: &'static str) -> Entry {
    Entry::new(name, options).in_full().with_env(NPM)
}

const fn pip(name: &'static str, options: &'static str) -> Entry {
    Entry::new(name, options).in_full().with_env(PIP).within("/")
}

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new("apt list", "--installed --upgradable --all-versions -a")
        .taking(Operands::Text)
        .in_full()
        .with(&["apt list --installed", "apt list 'python*'"], &["apt install x", "apt list -o x=y", "apt update"]),
    Entry::new("apt show", "-a").taking(Operands::Text).in_full()
        .with(&["apt show bash"], &["apt show -o x=y bash", "apt remove bash"]),
    Entry::new("apt-cache depends", "").taking(Operands::Text).in_full()
        .with(&["apt-cache depends bash"], &["apt-cache gencaches"]),
    Entry::new("apt-cache policy", "").taking(Operands::Text).in_full()
        .with(&["apt-cache policy bash"], &["apt-cache policy -o x=y bash", "apt-cache policy -c a"]),
    Entry::new("apt-cache search", "-n --names-only").taking(Operands::Text).in_full()
        .with(&["apt-cache search bash"], &["apt-cache search -o x=y bash"]),
    Entry::new("apt-cache show", "").taking(Operands::Text).in_full()
        .with(&["apt-cache show bash"], &["apt-cache show -c a bash"]),
    Entry::new(
        "dpkg",
        "-l -L -s -S -p --list --listfiles --status --search --print-avail --print-architecture \
         --get-selections --version --print-foreign-architectures",
    )
    .taking(Operands::Text)
    .in_full()
    .checked(dpkg)
    .with(
        &["dpkg -l", "dpkg -L bash", "dpkg -s bash", "dpkg -S /usr/bin/ls", "dpkg --print-architecture"],
        &["dpkg -i a.deb", "dpkg -r bash", "dpkg -P bash", "dpkg --configure -a", "dpkg --set-selections", "dpkg", "dpkg --root=x -l", "dpkg --pre-invoke=x -l"],
    ),
    Entry::new("dpkg-query", "-l -L -s -S -W -f:text --list --listfiles --status --search --show --showformat:text")
        .taking(Operands::Text)
        .in_full()
        .with(&["dpkg-query -W bash", "dpkg-query -W -f '${Version}' bash"], &["dpkg-query --admindir=x -l", "dpkg-query --control-show bash x"]),
    Entry::new("gem list", "--local -l -a --all -d --details").taking(Operands::Text).in_full().within("/")
        .with(&["gem list"], &["gem list --remote", "gem install x", "gem list --config-file=x"]),
    Entry::new("getent", "").reading(getent).with(&["getent passwd root", "getent group"], &["getent hosts example.org", "getent ahosts x", "getent shadow", "getent -s x passwd"]),
    npm("npm config get", "").taking(Operands::Text).at_most(1).with(&["npm config get registry"], &["npm config set a b"]),
    npm("npm config list", "--json -l").with(&["npm config list"], &["npm config edit", "npm config delete a"]),
    npm("npm list", "--depth:text --all -a --json --long -l --parseable -p --prod --dev -g --global --production")
        .taking(Operands::Text).with(&["npm list --depth=0"], &["npm list --prefix x", "npm list --script-shell=x"]),
    npm("npm ls", "--depth:text --all -a --json --long -l --parseable -p --prod --dev -g --global --production")
        .taking(Operands::Text).with(&["npm ls", "npm ls --depth=0 react", "npm ls -g"], &["npm ls --prefix x", "npm ls --onload-script=./x", "npm install", "npm run x", "npm exec x"]),
    npm("npm pkg get", "").taking(Operands::Text).with(&["npm pkg get name"], &["npm pkg set a=b", "npm pkg delete a", "npm pkg fix"]),
    npm("npm prefix", "-g").with(&["npm prefix"], &["npm prefix --prefix x"]),
    npm("npm root", "-g").with(&["npm root", "npm root -g"], &["npm root --prefix x"]),
    pip("pip list", "--format:text --not-required --user --local -l -e --editable")
        .with(&["pip list", "pip list --format=json"], &["pip list --outdated", "pip list --python x", "pip list --path x"]),
    pip("pip show", "-f --files -v --verbose").taking(Operands::Text)
        .with(&["pip show requests"], &["pip show --log x requests", "pip install requests"]),
    pip("pip3 list", "--format:text --not-required --user --local -l -e --editable")
        .with(&["pip3 list"], &["pip3 list --log=x"]),
    pip("pip3 show", "-f --files -v --verbose").taking(Operands::Text)
        .with(&["pip3 show requests"], &["pip3 download requests"]),
    Entry::new("rpm", "-q -a -l -i -f -R -qa -ql -qi -qf -qR --query --all --list --info --file --requires --version")
        .taking(Operands::Text)
        .in_full()
        .checked(rpm)
        .with(&["rpm -qa", "rpm -q bash", "rpm -ql bash"], &["rpm -i a.rpm", "rpm -e bash", "rpm --eval '%(touch x)'", "rpm -qp a.rpm", "rpm --define x -qa", "rpm -q --qf '%{x}' a"]),
];

/// Databases that are files which everybody may read; others ask the network.
fn getent(words: &[String]) -> Result<Vec<String>, String> {
    match words {
        [database, keys @ ..]
            if matches!(database.as_str(), "passwd" | "group" | "services" | "protocols")
                && !keys.iter().any(|key| key.starts_with('-')) =>
        {
            Ok(words.to_vec())
        }
        _ => Err("`getent` is only known to be harmless for users, groups and services".to_owned()),
    }
}

/// One of the options that only ask.
fn dpkg(arguments: &Arguments) -> Result<(), String> {
    if arguments.options.is_empty() {
        return Err("`dpkg` is only known to be harmless when it is asked something".to_owned());
    }
    Ok(())
}

fn rpm(arguments: &Arguments) -> Result<(), String> {
    if arguments.has(&["-q", "--query", "-qa", "-ql", "-qi", "-qf", "-qR", "--version"]) {
        return Ok(());
    }
    Err("`rpm` is only known to be harmless when it is asked something".to_owned())
}
