//! The response status of a delivery's latest attempt: its stored form, and the filter of the log.

use std::ops::RangeInclusive;
use std::str::FromStr;

/// Stored if no response arrived.
const NO_RESPONSE: i32 = 0;

/// All possible statuses.
const STATUSES: RangeInclusive<i32> = 100..=999;

/// The stored form.
pub(crate) fn last_status(response_status: Option<u16>) -> i32 {
    response_status.map_or(NO_RESPONSE, i32::from)
}

/// The form for views: none if no response arrived.
pub(crate) fn shown_status(last_status: Option<i32>) -> Option<i32> {
    last_status.filter(|status| *status != NO_RESPONSE)
}

/// One status (`500`), a class (`5xx`), or no response (`none`), as a range of stored values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatusFilter {
    pub first: i32,
    pub last: i32,
}

impl StatusFilter {
    /// For error messages.
    pub(crate) const WANTED: &str = "a status such as 500, a class of them (2xx, 3xx, 4xx or 5xx), or none";
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotAStatus;

impl FromStr for StatusFilter {
    type Err = NotAStatus;

    fn from_str(text: &str) -> Result<Self, NotAStatus> {
        let class = |first: i32| Ok(Self { first, last: first + 99 });
        match text {
            "none" => Ok(Self { first: NO_RESPONSE, last: NO_RESPONSE }),
            "2xx" => class(200),
            "3xx" => class(300),
            "4xx" => class(400),
            "5xx" => class(500),
            // `parse` alone would accept `+500`.
            _ if text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                let status = text.parse().map_err(|_| NotAStatus)?;
                if STATUSES.contains(&status) {
                    Ok(Self { first: status, last: status })
                } else {
                    Err(NotAStatus)
                }
            }
            _ => Err(NotAStatus),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_a_class_and_no_response_are_filters() {
        for (text, first, last) in [
            ("500", 500, 500),
            ("204", 204, 204),
            ("100", 100, 100),
            ("999", 999, 999),
            ("2xx", 200, 299),
            ("3xx", 300, 399),
            ("4xx", 400, 499),
            ("5xx", 500, 599),
            ("none", 0, 0),
        ] {
            assert_eq!(text.parse(), Ok(StatusFilter { first, last }), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not() {
        for text in [
            "", "0", "000", "099", "50", "5000", "1000", "+50", "-50", " 500", "5x", "5XX", "1xx", "6xx",
            "xxx", "50x", "None", "null", "٥٠٠",
        ] {
            assert_eq!(text.parse::<StatusFilter>(), Err(NotAStatus), "{text}");
        }
    }

    #[test]
    fn stored_values_are_found_and_shown() {
        let none: StatusFilter = "none".parse().expect("a filter");
        assert_eq!((none.first, none.last), (last_status(None), last_status(None)));
        assert_eq!(last_status(Some(503)), 503);
        for (kept, shown) in [(None, None), (Some(last_status(None)), None), (Some(503), Some(503))] {
            assert_eq!(shown_status(kept), shown);
        }
    }
}
