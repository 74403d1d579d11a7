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

/// An id for an answer, or for a call in it, of a run: by it the session of a request that named none is
/// found again, however many runs it has had.
pub fn answer_id(session: &str, run: &str, number: usize) -> String {
    match session.strip_prefix("request:") {
        Some(first) if first != run => format!("{first}_{}{number:03}", digits(run)),
        Some(_) | None => format!("{run}_{number}"),
    }
}

/// Digits that no other run of the session is likely to have.
fn digits(run: &str) -> u64 {
    let mix = |sum: u64, byte: u8| sum.wrapping_mul(31).wrapping_add(u64::from(byte));
    run.bytes().fold(7, mix).max(1)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_of_a_request_is_found_by_every_id_it_gave_away() {
        let session = request_name("r1");
        for (run, number) in [("r1", 0), ("r1", 12), ("r2", 0), ("r2", 1), ("r3", 0)] {
            let id = answer_id(&session, run, number);
            assert_eq!(request_of_call(&id).as_ref(), Some(&session), "{id}");
        }
        assert_ne!(answer_id(&session, "r2", 0), answer_id(&session, "r3", 0));
        // A session with a name of its own is named by whoever asks.
        assert_eq!(answer_id("work", "r1", 3), "r1_3");
    }
}
