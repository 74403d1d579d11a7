//! Where Toolgate keeps its things.

use std::path::PathBuf;

use crate::environment;

/// Where Toolgate looks if nobody says otherwise; `None` if the environment names no place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The configuration file. It need not exist.
    pub config: Option<PathBuf>,
    /// The folder for the journal, undo data and artifacts. It need not exist.
    pub data: Option<PathBuf>,
}

/// The paths on this machine, for the person who started the process.
pub fn paths() -> Paths {
    from(environment)
}

fn from(environment: impl Fn(&str) -> Option<String>) -> Paths {
    let set = |name: &str| environment(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // The XDG specification says that a relative path is to be ignored.
    let folder = |name: &str| set(name).filter(|path| path.is_absolute());
    let beneath_home = |path: &str| folder("HOME").map(|home| home.join(path));
    let config = folder("XDG_CONFIG_HOME").or_else(|| beneath_home(".config"));
    let data = folder("XDG_DATA_HOME").or_else(|| beneath_home(".local/share"));
    Paths {
        config: config.map(|folder| folder.join("toolgate/toolgate.toml")),
        data: set("TOOLGATE_DATA").or_else(|| data.map(|folder| folder.join("toolgate"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follow_the_environment() {
        let home = ("HOME", "/home/ada");
        for (variables, config, data) in [
            (vec![], None, None),
            (
                vec![home],
                Some("/home/ada/.config/toolgate/toolgate.toml"),
                Some("/home/ada/.local/share/toolgate"),
            ),
            (
                vec![home, ("XDG_CONFIG_HOME", "/c"), ("XDG_DATA_HOME", "/d")],
                Some("/c/toolgate/toolgate.toml"),
                Some("/d/toolgate"),
            ),
            (
                vec![("HOME", ""), ("XDG_CONFIG_HOME", "relative"), ("TOOLGATE_DATA", "/t")],
                None,
                Some("/t"),
            ),
        ] {
            let found = from(|name| {
                let variable = variables.iter().find(|(variable, _)| *variable == name);
                variable.map(|(_, value)| (*value).to_owned())
            });
            let expected = Paths { config: config.map(Into::into), data: data.map(Into::into) };
            assert_eq!(found, expected, "{variables:?}");
        }
    }
}
