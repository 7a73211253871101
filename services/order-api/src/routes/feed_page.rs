//! The JSON of the events feed, and its cursors.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use domain::EventId;
use events::{OrderSnapshot, ProgressData};
use webhook_body::{WebhookBody, marked_as_erased};

use crate::domain::{FeedEvent, FeedPosition, OrderEvent, TrackingUrls};

/// The body of the event's webhook.
///
/// # Errors
/// When the stored data is not that of an event.
pub(super) fn body(tracking_urls: &TrackingUrls, found: &FeedEvent) -> Result<Vec<u8>, serde_json::Error> {
    let FeedEvent { event: OrderEvent { id, order_id, kind, sequence, .. }, .. } = *found;
    let data: ProgressData = serde_json::from_value(found.event.data.clone())?;
    let order = OrderSnapshot {
        id: order_id,
        order_reference: found.order_reference.clone(),
        tracking_url: tracking_urls.of(&found.tracking_code),
        tracking_code: found.tracking_code.clone(),
        status: found.event.status,
        cod_status: found.event.cod_status,
    };
    let body = WebhookBody {
        id,
        event: kind,
        sequence: Some(sequence),
        mode: found.mode,
        occurred_at: found.event.occurred_at,
        order: Some(&order),
        data: &data,
    };
    let body = body.render()?;
    match found.personal_data_erased_at {
        Some(at) => marked_as_erased(&body, at),
        None => Ok(body),
    }
}

/// `{data, hasMore, next}`. Put together from the bytes of the bodies, which another serialisation could change.
pub(super) fn page(bodies: &[Vec<u8>], has_more: bool, next: FeedPosition) -> Vec<u8> {
    let data = bodies.join(&b","[..]);
    // A cursor consists of letters, digits, `_` and `-`.
    let end = format!(r#"],"hasMore":{has_more},"next":"{}"}}"#, FeedCursor::At(next).text());
    [br#"{"data":["#, data.as_slice(), end.as_bytes()].concat()
}

/// A value of `startingAfter`.
#[derive(Debug, PartialEq)]
pub(super) enum FeedCursor {
    /// `next` of an earlier answer.
    At(FeedPosition),
    /// After this event.
    Event(EventId),
    /// Before the events that follow this call.
    Now,
}

impl FeedCursor {
    const PREFIX: &str = "at_";
    const NOW: &str = "now";

    /// `None`: the text is none of them.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text == Self::NOW {
            return Some(Self::Now);
        }
        let Some(packed) = text.strip_prefix(Self::PREFIX) else {
            return text.parse().ok().map(Self::Event);
        };
        let plain = String::from_utf8(URL_SAFE_NO_PAD.decode(packed).ok()?).ok()?;
        let mut parts = plain.split(' ');
        let at = DateTime::<Utc>::from_timestamp_micros(parts.next()?.parse().ok()?)?;
        // PostgreSQL has no time before 4714 BC, and refuses it with an error.
        let at = (at >= FeedPosition::BEGINNING.at).then_some(at)?;
        let after = match (parts.next(), parts.next(), parts.next()) {
            (None, ..) => None,
            (Some(sequence), Some(order), None) => Some((order.parse().ok()?, sequence.parse().ok()?)),
            _ => return None,
        };
        Some(Self::At(FeedPosition { at, after }))
    }

    fn text(&self) -> String {
        match self {
            Self::Now => Self::NOW.to_owned(),
            Self::Event(id) => id.to_string(),
            Self::At(FeedPosition { at, after }) => {
                let micros = at.timestamp_micros();
                let plain = match after {
                    Some((order, sequence)) => format!("{micros} {sequence} {order}"),
                    None => micros.to_string(),
                };
                format!("{}{}", Self::PREFIX, URL_SAFE_NO_PAD.encode(plain))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use domain::OrderId;

    use super::*;

    #[test]
    fn cursors_are_parsed_as_they_are_written() {
        let at = DateTime::UNIX_EPOCH + TimeDelta::microseconds(1_769_851_800_123_456);
        let after = FeedPosition { at, after: Some((OrderId::first_of(at), 7)) };
        let event = FeedCursor::Event(EventId::first_of(at));
        for cursor in
            [FeedCursor::At(after), FeedCursor::At(FeedPosition::before(at)), event, FeedCursor::Now]
        {
            assert_eq!(FeedCursor::parse(&cursor.text()), Some(cursor));
        }
        for bad in [
            "",
            "at_",
            "at_!",
            "at_MSAx",
            "at_MSAxIG9yZF8",
            "at_LTE",
            "NOW",
            "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "evt_",
        ] {
            assert_eq!(FeedCursor::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_page_is_json_with_the_bodies_as_they_are() {
        let bodies = [br#"{"b": 1,"a":2}"#.to_vec(), b"{}".to_vec()];
        let text = String::from_utf8(page(&bodies, true, FeedPosition::BEGINNING)).unwrap();
        assert_eq!(text, r#"{"data":[{"b": 1,"a":2},{}],"hasMore":true,"next":"at_MA"}"#);
        let empty: serde_json::Value =
            serde_json::from_slice(&page(&[], false, FeedPosition::BEGINNING)).unwrap();
        assert_eq!(empty["data"], serde_json::json!([]));
    }
}
