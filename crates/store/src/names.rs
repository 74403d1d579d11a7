//! Names, as stored, of what the vocabulary has no parser for.

use tool::{Place, Role};

const PLACES: [Place; 4] = [Place::Sandbox, Place::Container, Place::Host, Place::Node];

/// The name of a place.
pub(crate) const fn of_place(place: Place) -> &'static str {
    match place {
        Place::Sandbox => "sandbox",
        Place::Container => "container",
        Place::Host => "host",
        Place::Node => "node",
    }
}

/// The place with this name.
pub(crate) fn place(name: &str) -> Option<Place> {
    PLACES.into_iter().find(|place| of_place(*place) == name)
}

/// The name of a role.
pub(crate) const fn of_role(role: Role) -> &'static str {
    match role {
        Role::Owner => "owner",
        Role::Member => "member",
    }
}
