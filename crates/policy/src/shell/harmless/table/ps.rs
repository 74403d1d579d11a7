//! `ps`, which can show the environment of other processes.

use super::super::entry::Arguments;

pub(super) fn check(arguments: &Arguments) -> Result<(), String> {
    let environment = || Err("`ps` may show the environment of processes".to_owned());
    let plain = |operand: &String| operand.chars().all(|c| "auxlfwwjh".contains(c));
    if !arguments.operands.iter().all(plain) {
        return environment();
    }
    let columns = arguments.options.iter().filter(|(name, _)| name == "-o");
    let shows = |value: &String| value.to_lowercase().contains("env");
    if columns.filter_map(|(_, value)| value.as_ref()).any(shows) {
        return environment();
    }
    Ok(())
}
