//! The one door to the network for tools.
//!
//! What goes out was checked: the URL by [`policy::url`], then every address its host has. The
//! connection goes to one of those addresses and not to what the name means a moment later, and each
//! redirect begins again from the start. No proxy, whatever the environment says, and no cookies.
//!
//! A command in the sandbox has no network but a [`Proxy`], which asks the same questions. What the
//! operator configured by its URL, such as a provider of models, is reached through an [`Outlet`].

mod body;
mod connect;
mod dial;
mod door;
mod headers;
mod hop;
mod outlet;
mod pool;
mod problem;
mod proxy;
mod resolve;
mod settings;
mod tls;

pub use dial::Dial;
pub use door::{Door, DoorParts};
pub use outlet::{Outlet, OutletAnswer, OutletBody, OutletError, OutletRequest};
pub use proxy::{Proxy, Traffic};
pub use resolve::Resolve;
pub use settings::NetSettings;
