//! What sessions may be called.

use crate::AgentError;

/// The longest name.
const MAX: usize = 128;
/// Names that begin so are given by us.
const RESERVED: [&str; 2] = ["request:", "subagent:"];

/// Refuses names that would not survive a header, a table or a shell.
pub fn check_name(name: &str) -> Result<(), AgentError> {
    let problem = if name.is_empty() {
        "it is empty"
    } else if name.len() > MAX {
        "it is longer than 128 characters"
    } else if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:@/+-".contains(&byte)) {
        "only letters, digits and `._:@/+-` can be in it"
    } else {
        return Ok(());
    };
    let shown = name.chars().take(MAX).collect();
    Err(AgentError::SessionName { name: shown, problem })
}

/// Whether only we give such names.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether it is the session of a request that named none.
pub(crate) fn is_request(name: &str) -> bool {
    name.starts_with("request:")
}

/// The session of a request that named none.
pub fn request_name(run: &str) -> String {
    format!("request:{run}")
}

/// The session that a request goes on with because it brings the result of a call that was given
/// this id.
pub fn request_of_call(id: &str) -> Option<String> {
    let (run, number) = id.rsplit_once('_')?;
    let known = !run.is_empty()
        && run.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && number.bytes().all(|byte| byte.is_ascii_digit());
    known.then(|| request_name(run))
}
