//! Where the parcels of a business are picked up (SPECIFICATION §2.1, `pickup.*`).

use std::fmt;

/// A complete profile; incomplete ones are never stored.
#[derive(Clone, PartialEq)]
pub(crate) struct PickupProfile {
    pub(crate) business_name: String,
    pub(crate) contact_name: String,
    pub(crate) phone: String,
    pub(crate) address_line1: String,
    pub(crate) address_line2: Option<String>,
    pub(crate) city: String,
    pub(crate) state: String,
    pub(crate) pincode: String,
    pub(crate) landmark: Option<String>,
    pub(crate) latitude: Option<f64>,
    pub(crate) longitude: Option<f64>,
    pub(crate) full_address: Option<String>,
}

impl fmt::Debug for PickupProfile {
    /// Keeps the address and the phone number out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PickupProfile(..)")
    }
}
