//! Secret settings.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// A secret setting. Defaults start with [`Secret::LOCAL_PREFIX`].
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("writeOnly" = true))]
pub struct Secret(String);

impl Secret {
    pub const LOCAL_PREFIX: &'static str = "local-";
    /// The shortest secret, unless the setting requires more (`schemars(length(min = …))`).
    pub(crate) const BYTES_MIN: usize = 16;

    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Serializes only the published defaults.
impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_published = self.0.is_empty() || self.0.starts_with(Self::LOCAL_PREFIX);
        serializer.serialize_str(if is_published { &self.0 } else { "(secret)" })
    }
}
