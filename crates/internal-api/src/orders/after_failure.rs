//! Requests of a business after a failed delivery.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use chrono::{DateTime, NaiveDate, SecondsFormat, Utc};
use domain::schema::open_words;
use domain::{ApiKeyId, FailureReason, Paise, RequestedBy};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::{AnyOfBuilder, ObjectBuilder, OneOfBuilder, Type};

/// Another attempt at a delivery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReattemptView {
    /// The day in India; null for as soon as possible.
    pub on: Option<NaiveDate>,
    /// 2 for the attempt after the first failure.
    pub number: u32,
    /// For the driver.
    pub note: Option<String>,
    /// What the attempt takes from the wallet of a live order when it begins. It was announced with the request. 0 once it is
    /// taken and the driver dropped out.
    #[serde(default)]
    #[schema(required)]
    pub fee_paise: Paise,
    /// When the business asked for it.
    pub requested_at: DateTime<Utc>,
    #[serde(default)]
    #[schema(schema_with = requested_by)]
    pub requested_by: Option<String>,
}

/// A correction of the phone or the address, without values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CorrectionView {
    /// When the order was corrected.
    pub corrected_at: DateTime<Utc>,
    /// The API key that asked for it; null for a person in the portal.
    pub key_id: Option<ApiKeyId>,
    /// The names of what changed, as in the request: `phone`, `delivery.pincode`.
    pub fields: Vec<String>,
}

/// When the decision was requested that somebody saw before deciding anew; `None` if they saw none. As text: `none`, or the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenDecision(pub Option<DateTime<Utc>>);

impl FromStr for SeenDecision {
    type Err = chrono::ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "none" => Ok(Self(None)),
            time => Ok(Self(Some(time.parse()?))),
        }
    }
}

impl Display for SeenDecision {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => formatter.write_str("none"),
            Some(at) => formatter.write_str(&at.to_rfc3339_opts(SecondsFormat::AutoSi, true)),
        }
    }
}

/// The schema of a failure's code, or null.
pub fn reason_code() -> OneOfBuilder {
    let code = open_words(FailureReason::words(), "A reason.");
    or_null(code, "Why the delivery failed, as a code; null when the fleet gave none.")
}

/// The schema of who asked for a decision, or null.
pub fn requested_by() -> OneOfBuilder {
    let by = open_words(RequestedBy::words(), "Who asked.");
    let description = "Who asked for it: a program with your API key, a person in your portal, or the operator's staff for you. Null when unknown, or when nothing is asked for.";
    or_null(by, description)
}

fn or_null(words: AnyOfBuilder, description: &str) -> OneOfBuilder {
    let null = ObjectBuilder::new().schema_type(Type::Null);
    OneOfBuilder::new().item(words).item(null).description(Some(description))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seen_decision_reads_back_as_it_was() {
        let at = DateTime::from_timestamp_micros(1_764_000_000_123_456);
        for seen in [SeenDecision(None), SeenDecision(at)] {
            assert_eq!(seen.to_string().parse::<SeenDecision>(), Ok(seen));
        }
        assert!("yesterday".parse::<SeenDecision>().is_err());
    }
}
