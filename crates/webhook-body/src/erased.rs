//! The erased form of an event body: without personal data, and with the time of the erasure. Everything else is
//! unchanged.

use chrono::{DateTime, Utc};
use events::ProgressData;
use serde_json::Value;

use crate::written;

/// The erased form of the body; none if it contains no personal data, so that its bytes stay the same.
///
/// # Errors
/// When the body is not JSON; stored bodies always are.
pub fn erased_body(body: &[u8], at: DateTime<Utc>) -> Result<Option<Vec<u8>>, serde_json::Error> {
    let mut event: Value = serde_json::from_slice(body)?;
    if strip(&mut event["data"]) { marked(event, at).map(Some) } else { Ok(None) }
}

/// The erased form of a body that was rendered from data without its erased fields.
///
/// # Errors
/// When the body is not JSON.
pub fn marked_as_erased(body: &[u8], at: DateTime<Utc>) -> Result<Vec<u8>, serde_json::Error> {
    marked(serde_json::from_slice(body)?, at)
}

fn marked(mut event: Value, at: DateTime<Utc>) -> Result<Vec<u8>, serde_json::Error> {
    event["personalDataErasedAt"] = Value::from(written(at));
    serde_json::to_vec(&event)
}

/// Removes personal data. Returns whether there was any.
fn strip(data: &mut Value) -> bool {
    let Some(data) = data.as_object_mut() else { return false };
    // `count` visits all names; `any` would stop at the first.
    ProgressData::PERSONAL.iter().filter(|name| data.remove(**name).is_some()).count() > 0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn personal_data_is_removed_and_the_rest_unchanged() {
        let body = json!({
            "id": "evt_1", "event": "cod.collected", "sequence": 3, "order": { "status": "delivered" },
            "data": { "driver": { "name": "Ravi" }, "reason": "gave it to Asha", "codAmountPaise": 94_900 },
        });
        let bytes = serde_json::to_vec(&body).unwrap();
        let erased = erased_body(&bytes, DateTime::UNIX_EPOCH).unwrap().unwrap();
        let erased: Value = serde_json::from_slice(&erased).unwrap();
        assert_eq!(
            erased,
            json!({
                "id": "evt_1", "event": "cod.collected", "sequence": 3, "order": { "status": "delivered" },
                "data": { "codAmountPaise": 94_900 }, "personalDataErasedAt": "1970-01-01T00:00:00.000Z",
            })
        );
        let again = serde_json::to_vec(&erased).unwrap();
        assert_eq!(
            erased_body(&again, DateTime::UNIX_EPOCH).unwrap(),
            None,
            "a second erasure changes nothing"
        );
    }

    #[test]
    fn a_body_without_personal_data_is_unchanged() {
        for body in
            [&br#"{"data": {}, "event":"order.created"}"#[..], br#"{"data":{"codAmountPaise":1}}"#, b"{}"]
        {
            assert_eq!(erased_body(body, DateTime::UNIX_EPOCH).unwrap(), None);
        }
    }
}
