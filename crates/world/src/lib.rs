//! The world as a tool may see it: the files of a workspace, the network, artifacts, the clock.
//!
//! This crate must not know stages, policy layers, transports or concrete tools. It alone opens
//! files for a tool: beneath a root, by the kernel's word, never by comparing strings; and it alone
//! changes them: all of a commit or none of it, recorded before it happens. It alone opens sockets
//! for a tool, to addresses that were checked ([`Door`]).
//!
//! Start from [`World`], which the gate is given, and [`WorldSettings`], which it is made from.

mod alias;
mod artifact;
mod clock;
mod error;
mod keep;
mod net;
mod program;
mod recovered;
mod settings;

// What keeps a path beneath its root is `openat2`, which only Linux has. Elsewhere there is a
// `World` that says so instead of pretending.
#[cfg(target_os = "linux")]
mod artifacts;
#[cfg(target_os = "linux")]
mod beneath;
#[cfg(target_os = "linux")]
mod blobs;
#[cfg(target_os = "linux")]
mod commit;
#[cfg(target_os = "linux")]
mod copied;
mod credentials;
#[cfg(target_os = "linux")]
mod data;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod fence;
#[cfg(target_os = "linux")]
mod lock;
#[cfg(target_os = "linux")]
mod overlay;
#[cfg(target_os = "linux")]
mod problem;
#[cfg(target_os = "linux")]
mod prune;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod root;
#[cfg(target_os = "linux")]
mod stat;
mod temp_bound;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(target_os = "linux")]
mod walk;
#[cfg(target_os = "linux")]
mod workspace;
#[cfg(target_os = "linux")]
mod world;

#[cfg(not(target_os = "linux"))]
pub use self::elsewhere::World;
pub use self::{
    artifact::Artifact,
    clock::SystemClock,
    error::WorldError,
    keep::{Keep, Pruned},
    net::{
        Dial, Door, DoorParts, NetSettings, Outlet, OutletAnswer, OutletBody, OutletError,
        OutletRequest, Proxy, Resolve, Traffic,
    },
    program::find_program,
    recovered::{Ending, Recovered, Unfinished},
    settings::WorldSettings,
};
#[cfg(target_os = "linux")]
pub use self::{
    copied::Copied,
    fence::Fence,
    overlay::{Collected, Committed, HeldRun, HeldRuns, Overlay},
    world::World,
};
