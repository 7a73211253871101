//! The IP address of a caller, as rate limits count it.

/// Rate limits and the password queue compare addresses by their text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallerAddress(String);

impl CallerAddress {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}
