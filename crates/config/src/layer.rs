//! The rules of one layer.

use crate::{Names, ProfileName, Spanned};

/// The rules of one layer. [`crate::keys`] says where in a file layers stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layer {
    /// The set of tools to start from; unset is no opinion.
    pub profile: Option<Spanned<ProfileName>>,
    /// Only these; unset is no opinion, empty is nothing.
    pub allow: Option<Names>,
    /// These besides the profile or the allow list of this layer.
    pub also_allow: Option<Names>,
    /// Never these.
    pub deny: Option<Names>,
}

impl Layer {
    /// Whether it says nothing. A list that is there and empty does say something.
    pub const fn is_empty(&self) -> bool {
        let Self { profile, allow, also_allow, deny } = self;
        profile.is_none() && allow.is_none() && also_allow.is_none() && deny.is_none()
    }
}
