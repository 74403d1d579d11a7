//! The way out of the sandbox, for commands that reach somebody.

use config::HostPattern;
use sandbox::Process;
use tool::{Reach, Run, ToolError};
use world::{Proxy, World};

/// Opens the way that `run` was promised; closed when dropped.
pub(super) fn open(
    world: &World,
    run: &Run,
    process: &mut Process,
) -> Result<Option<Proxy>, ToolError> {
    let Reach::Hosts(hosts) = &run.reach else { return Ok(None) };
    let hosts: Result<Vec<HostPattern>, _> = hosts.iter().map(|host| host.parse()).collect();
    let hosts = hosts.map_err(ToolError::internal)?;
    let listener = process.take_listener();
    let listener = listener.ok_or_else(|| ToolError::internal("the sandbox has no way out"))?;
    world.door().proxy(listener, &hosts).map(Some).map_err(ToolError::internal)
}

/// What a command wanted to reach and could not.
pub(super) fn note(proxy: Option<&Proxy>) -> Option<String> {
    let refused = proxy.map(Proxy::refused).unwrap_or_default();
    (!refused.is_empty()).then(|| {
        format!(
            "it wanted to reach `{}` and was refused; the operator opens hosts for commands",
            refused.join("`, `")
        )
    })
}
