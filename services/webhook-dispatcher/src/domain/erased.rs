//! The form of an event once its order's personal data was erased: what it says of the delivery is the same, of its people it
//! says nothing any more, and that it is so stands in it.

use chrono::{DateTime, SecondsFormat, Utc};
use events::ProgressData;
use serde_json::Value;

/// The body in its erased form; none when it tells of nobody, and stays byte for byte what it was.
///
/// # Errors
/// When it is no JSON, which none that was stored is.
pub(crate) fn erased_body(body: &[u8], at: DateTime<Utc>) -> Result<Option<Vec<u8>>, serde_json::Error> {
    let mut event: Value = serde_json::from_slice(body)?;
    if !strip(&mut event["data"]) {
        return Ok(None);
    }
    event["personalDataErasedAt"] = Value::from(at.to_rfc3339_opts(SecondsFormat::Millis, true));
    serde_json::to_vec(&event).map(Some)
}

/// Takes away what tells of people; whether there was any.
fn strip(data: &mut Value) -> bool {
    let Some(data) = data.as_object_mut() else { return false };
    // Both are taken, whichever came first.
    ProgressData::PERSONAL.iter().filter(|name| data.remove(**name).is_some()).count() > 0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn people_are_gone_and_all_else_is_as_it_was() {
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
        assert_eq!(erased_body(&again, DateTime::UNIX_EPOCH).unwrap(), None, "once is enough");
    }

    #[test]
    fn what_tells_of_nobody_stays_as_it_was_signed() {
        for body in
            [&br#"{"data": {}, "event":"order.created"}"#[..], br#"{"data":{"codAmountPaise":1}}"#, b"{}"]
        {
            assert_eq!(erased_body(body, DateTime::UNIX_EPOCH).unwrap(), None);
        }
    }
}
