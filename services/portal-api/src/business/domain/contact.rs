//! Whom the operator asks about a business, and what the staff notes about it.

use std::fmt;

use chrono::{DateTime, Utc};

/// The contact of a business, and its tax number.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Contact {
    pub(crate) name: Option<String>,
    pub(crate) email: Option<String>,
    pub(crate) phone: Option<String>,
    pub(crate) gstin: Option<String>,
}

impl Contact {
    /// The names of the fields that differ.
    pub(crate) fn changed_fields(&self, before: &Self) -> Vec<&'static str> {
        let fields = [
            ("name", self.name == before.name),
            ("email", self.email == before.email),
            ("phone", self.phone == before.phone),
            ("gstin", self.gstin == before.gstin),
        ];
        fields.into_iter().filter(|(_, is_same)| !is_same).map(|(name, _)| name).collect()
    }
}

impl fmt::Debug for Contact {
    /// Keeps people out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Contact(..)")
    }
}

/// A note of the staff. Nobody changes it.
#[derive(Clone)]
pub(crate) struct StaffNote {
    /// Counts the notes of the business from 1.
    pub(crate) number: i64,
    pub(crate) author: String,
    pub(crate) text: String,
    pub(crate) created_at: DateTime<Utc>,
}
