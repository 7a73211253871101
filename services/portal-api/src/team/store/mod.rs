//! Tables of this feature only.

pub(crate) mod invitations;
