//! Reads a configuration file.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use crate::{
    Config, ConfigError, ConfigProblem, json5, node::Entry, openclaw, problems::Problems, toml,
    walk,
};

/// Larger than any configuration a person writes; a wrong path must not fill the memory.
pub(crate) const MAX_BYTES: u64 = 1 << 20;

/// What a file says, and what in it does nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// What it says.
    pub config: Config,
    /// What is not an error and worth knowing, in the order of the file.
    pub warnings: Vec<ConfigProblem>,
}

/// Reads the file at `path`. One that is not there is an error.
pub fn load(path: &Path) -> Result<Config, ConfigError> {
    load_with_warnings(path).map(|loaded| loaded.config)
}

/// Like [`load`], for those who can show warnings to somebody.
pub fn load_with_warnings(path: &Path) -> Result<Loaded, ConfigError> {
    let file = path.display().to_string();
    let bytes = read(path)
        .map_err(|error| ConfigError::whole(&file, format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("larger than {MAX_BYTES} bytes; is this the right file?");
        return Err(ConfigError::whole(&file, message));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| ConfigError::whole(&file, "not UTF-8 text; save it as UTF-8".to_owned()))?;
    parse_with_warnings(&text, &file)
}

/// Reads JSON5 if the name of `file` ends in `.json5` or `.json`, else TOML. Messages and values name
/// `file` as their origin.
pub fn parse(text: &str, file: &str) -> Result<Config, ConfigError> {
    parse_with_warnings(text, file).map(|loaded| loaded.config)
}

/// Like [`parse`], for those who can show warnings to somebody.
pub fn parse_with_warnings(text: &str, file: &str) -> Result<Loaded, ConfigError> {
    let mut problems = Problems::new(file);
    let mut config = Config::default();
    let entries = entries(text, file, &mut problems);
    walk::fill(&mut config, &entries, &mut problems);
    problems.or(config)
}

/// What stands in a file, in our own words.
pub(crate) fn entries(text: &str, file: &str, problems: &mut Problems) -> Vec<Entry> {
    let entries =
        if is_json(file) { json5::read(text, problems) } else { toml::read(text, problems) };
    openclaw::translate(entries, problems)
}

/// Whether `file` is read as JSON5.
pub(crate) fn is_json(file: &str) -> bool {
    let extension = Path::new(file).extension().unwrap_or_default();
    ["json5", "json"].iter().any(|json| extension.eq_ignore_ascii_case(json))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
