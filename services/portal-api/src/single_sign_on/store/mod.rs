//! Tables of this feature only.

pub(crate) mod sso_users;
