//! What identifies a user in queries.

use domain::{BusinessId, UserId};

/// A user, by the business and the id.
pub(crate) type UserKey = (BusinessId, UserId);
