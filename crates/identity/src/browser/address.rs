//! The IP address of a caller, as rate limits count it.

/// Rate limits and the password queue compare addresses by their text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerAddress(String);

impl CallerAddress {
    pub fn new(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}
