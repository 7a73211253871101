//! Tables of this feature only.

pub(crate) mod operator_tokens;
