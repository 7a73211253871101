//! Identifiers: a prefix that names the kind, and a ULID that sorts by time (`ord_01J…`).

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use ulid::Ulid;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};

use crate::{Clock, Entropy, schema};

/// The text is not an id of the expected kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an id of the form {prefix}<26 characters>")]
pub struct IdError {
    prefix: &'static str,
}

macro_rules! id {
    ($(#[doc = $doc:literal])* $name:ident, $prefix:literal) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Ulid);

        impl $name {
            /// The prefix of every id of this kind.
            pub const PREFIX: &'static str = $prefix;

            /// Sorts after every other id.
            pub const MAX: Self = Self(Ulid(u128::MAX));

            /// A new id, stamped with the clock's time.
            pub fn generate(clock: &Clock, entropy: &Entropy) -> Self {
                let milliseconds = u64::try_from(clock.now().timestamp_millis()).unwrap_or_default();
                Self(Ulid::from_parts(milliseconds, entropy.u128()))
            }

            /// When it was generated.
            pub fn time(&self) -> DateTime<Utc> {
                self.0.datetime().into()
            }

            /// A lower bound: sorts before every id that is generated at or after `time`, and after all earlier ids.
            pub fn first_of(time: DateTime<Utc>) -> Self {
                let milliseconds = u64::try_from(time.timestamp_millis()).unwrap_or_default();
                Self(Ulid::from_parts(milliseconds, 0))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", $prefix, self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                parse_ulid(text, $prefix).map(Self).ok_or(IdError { prefix: $prefix })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                schema::id($prefix, concat!($($doc),*))
            }
        }

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                stringify!($name).into()
            }
        }
    };
}

/// Accepts only the canonical spelling: upper case, without the letter substitutes that Crockford's alphabet allows.
/// Otherwise one row would have several ids.
fn parse_ulid(text: &str, prefix: &str) -> Option<Ulid> {
    let ulid = Ulid::from_string(text.strip_prefix(prefix)?).ok()?;
    (ulid.to_string() == text[prefix.len()..]).then_some(ulid)
}

id!(
    /// A tenant.
    BusinessId,
    "biz_"
);
id!(
    /// The account of a person who logs in to the portal. Only portal-api knows it: the person is another user in each business.
    AccountId,
    "acc_"
);
id!(
    /// A person who logs in to the portal for a business.
    UserId,
    "usr_"
);
id!(
    /// A user's session. It identifies the session; the session's secret is separate.
    SessionId,
    "ses_"
);
id!(
    /// An invitation to a business. It identifies the invitation; the secret of its link is separate.
    InvitationId,
    "inv_"
);
id!(
    /// A line of an audit log.
    AuditEntryId,
    "aud_"
);
id!(
    /// A person of the operator's staff, who logs in to the console.
    StaffId,
    "stf_"
);
id!(
    /// A passkey of an account. It identifies the passkey here; authenticators know it by its credential id.
    PasskeyId,
    "psk_"
);
id!(
    /// An operator token. It identifies the token; it is not the secret.
    OperatorTokenId,
    "opt_"
);
id!(
    /// A request of the operator that needs the approval of a second person.
    ApprovalId,
    "apr_"
);
id!(
    /// An API key. It identifies the key; it is not the secret.
    ApiKeyId,
    "key_"
);
id!(
    /// An order, which is one delivery.
    OrderId,
    "ord_"
);
id!(
    /// An event. Receivers use this id to drop duplicates.
    EventId,
    "evt_"
);
id!(
    /// A webhook endpoint.
    EndpointId,
    "whe_"
);
id!(
    /// One event for one endpoint.
    WebhookDeliveryId,
    "whd_"
);
id!(
    /// A job that resends the events that an endpoint missed.
    RecoveryId,
    "whr_"
);
id!(
    /// A transfer in the ledger.
    TransferId,
    "trf_"
);
id!(
    /// A top-up of a wallet through the payment provider.
    TopUpId,
    "top_"
);
id!(
    /// A bank transfer of the operator that pays out the cash of many orders.
    RemittanceId,
    "rem_"
);
id!(
    /// A file with orders or cash that a worker of the portal writes.
    ExportId,
    "exp_"
);
id!(
    /// One HTTP request, from the edge through every service it touches.
    RequestId,
    "req_"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_round_trips_and_other_spellings_are_refused() {
        let id = OrderId::generate(&Clock::system(), &Entropy::seeded(1));
        let text = id.to_string();
        assert_eq!(text.parse(), Ok(id));
        assert!(text.to_lowercase().parse::<OrderId>().is_err());
        assert!(text.replace("ord_", "evt_").parse::<OrderId>().is_err());
        assert!(text[..text.len() - 1].parse::<OrderId>().is_err());
        assert!("ord_".parse::<OrderId>().is_err());
    }

    #[test]
    fn ids_sort_by_time() {
        let clock = Clock::manual(chrono::DateTime::UNIX_EPOCH);
        let entropy = Entropy::seeded(2);
        let first = OrderId::generate(&clock, &entropy);
        clock.advance(chrono::TimeDelta::milliseconds(1));
        let second = OrderId::generate(&clock, &entropy);
        assert!(first.to_string() < second.to_string());
        assert!(first < OrderId::first_of(clock.now()) && OrderId::first_of(clock.now()) <= second);
    }
}
