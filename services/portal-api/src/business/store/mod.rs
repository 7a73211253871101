//! Tables of this feature only.

pub(crate) mod pickup_profiles;
