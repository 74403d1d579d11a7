//! What file tools can and cannot do, through the traits they are given.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod advisories;
mod artifacts;
mod commits;
mod fencing;
mod helper;
mod looking;
mod overlays;
mod racing;
mod reading;
mod walking;
