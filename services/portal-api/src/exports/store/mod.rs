//! Tables of this feature only.

pub(crate) mod exports;
