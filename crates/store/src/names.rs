//! Names, as stored, of what the vocabulary has no parser for.

use serde::{
    Deserialize, Serialize,
    de::{IntoDeserializer, value},
};
use tool::{Place, Role};

use crate::StoreError;

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

/// What has this name, where serde knows the names.
pub(crate) fn named<'a, T: Deserialize<'a>>(name: &'a str) -> Result<T, StoreError> {
    let found: Result<T, value::Error> = T::deserialize(name.into_deserializer());
    found.map_err(|error| StoreError::NotUnderstood(error.to_string()))
}

/// A list to compare with, as JSON; `None` if it leaves nothing out.
pub(crate) fn list<T: Serialize>(items: &[T]) -> Result<Option<String>, StoreError> {
    Ok(if items.is_empty() { None } else { Some(serde_json::to_string(items)?) })
}
