//! The reference of the debit that takes the fee of another attempt at a delivery. No other debit has such a reference.

use crate::OrderId;

const PREFIX: &str = "attempt-";
/// The greatest `WAYBILL_DELIVERY__ATTEMPTS_MAX`.
const ATTEMPTS_MAX: u32 = 10;

/// `attempt-2-ord_…`, once per order and attempt.
pub fn attempt_fee_reference(attempt: u32, order: OrderId) -> String {
    format!("{PREFIX}{attempt}-{order}")
}

/// Of all attempts that can have a fee: the first has none.
pub fn attempt_fee_references(order: OrderId) -> impl Iterator<Item = String> {
    (2..=ATTEMPTS_MAX).map(move |attempt| attempt_fee_reference(attempt, order))
}

pub fn is_attempt_fee_reference(reference: &str) -> bool {
    order_of_attempt_fee(reference).is_some()
}

/// The order whose attempt the debit pays.
pub fn order_of_attempt_fee(reference: &str) -> Option<OrderId> {
    let (attempt, order) = reference.strip_prefix(PREFIX)?.split_once('-')?;
    attempt.parse::<u32>().ok()?;
    order.parse().ok()
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    #[test]
    fn only_fees_of_attempts_have_such_a_reference() {
        let order = OrderId::first_of(DateTime::UNIX_EPOCH);
        let reference = attempt_fee_reference(2, order);
        assert_eq!(reference, format!("attempt-2-{order}"));
        assert!(is_attempt_fee_reference(&reference));
        assert_eq!(order_of_attempt_fee(&reference), Some(order));
        let all: Vec<_> = attempt_fee_references(order).collect();
        assert!(all.len() == 9 && all[0] == reference && all.iter().all(|one| is_attempt_fee_reference(one)));
        for own in
            ["", "attempt-", "attempt-2-7", "attempt-x-y", &format!("attempt--{order}"), &order.to_string()]
        {
            assert!(!is_attempt_fee_reference(own), "{own}");
        }
        assert!(!is_attempt_fee_reference(&format!("{reference} again")));
    }
}
