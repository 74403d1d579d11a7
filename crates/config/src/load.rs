//! Reads a configuration file.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use crate::{Config, ConfigError, problems::Problems, toml, walk};

/// Larger than any configuration a person writes; a wrong path must not fill the memory.
const MAX_BYTES: u64 = 1 << 20;

/// Reads the file at `path`. One that is not there is an error.
pub fn load(path: &Path) -> Result<Config, ConfigError> {
    let file = path.display().to_string();
    let bytes = read(path)
        .map_err(|error| ConfigError::whole(&file, format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("larger than {MAX_BYTES} bytes; is this the right file?");
        return Err(ConfigError::whole(&file, message));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| ConfigError::whole(&file, "not UTF-8 text; save it as UTF-8".to_owned()))?;
    parse(&text, &file)
}

/// Reads TOML; `file` is what messages and values name as their origin.
pub fn parse(text: &str, file: &str) -> Result<Config, ConfigError> {
    let mut problems = Problems::new(file);
    let mut config = Config::default();
    let entries = toml::read(text, &mut problems);
    walk::fill(&mut config, &entries, &mut problems);
    problems.or(config)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
