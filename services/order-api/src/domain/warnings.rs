//! Warnings in a response: the request is accepted, but it may contain a mistake.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use super::meant_field;

/// Something that was accepted, but may be wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Warning {
    /// Dotted path of the field.
    pub field: String,
    /// For programs, such as `unknown_field`.
    pub code: &'static str,
    /// For people.
    pub message: String,
}

/// An event may be dated this long before its order without a warning.
const BEFORE_ORDER_MAX: TimeDelta = TimeDelta::minutes(5);

impl Warning {
    /// For a report with a date before its order. Such a report is never refused, because a fleet with a wrong clock
    /// still delivers.
    pub fn of_early_report(occurred_at: DateTime<Utc>, order_created_at: DateTime<Utc>) -> Option<Self> {
        (order_created_at - occurred_at > BEFORE_ORDER_MAX).then(|| Self {
            field: "occurredAt".to_owned(),
            code: "occurred_before_order",
            message: format!(
                "occurredAt is more than {} minutes before the order's createdAt. The event is recorded; check the clock \
                 that dates your events.",
                BEFORE_ORDER_MAX.num_minutes()
            ),
        })
    }
}

/// The warnings of one request. A body can cause thousands of warnings; the response lists a few and counts the rest.
#[derive(Clone, Debug, Default)]
pub struct Warnings {
    known_fields: Vec<Warning>,
    unknown_fields: Vec<Warning>,
    unknown_fields_omitted: usize,
}

impl Warnings {
    pub const MAX: usize = 20;
    /// The name of an unknown field can be as long as a body.
    const NAME_MAX: usize = 128;

    /// Adds a warning about a known field. Each code is listed once.
    pub fn add(&mut self, field: impl Into<String>, code: &'static str, message: impl Into<String>) {
        if !self.known_fields.iter().any(|warning| warning.code == code) {
            self.known_fields.push(Warning { field: field.into(), code, message: message.into() });
        }
    }

    /// Adds a warning about an unknown field.
    pub fn add_unknown(&mut self, field: &str) {
        if self.unknown_fields.len() == Self::MAX {
            self.unknown_fields_omitted += 1;
            return;
        }
        let hint = meant_field(field).map_or_else(String::new, |meant| format!(" Did you mean `{meant}`?"));
        let field = shortened(field);
        let message = format!("{field} is not a field of an order and was ignored.{hint}");
        self.unknown_fields.push(Warning { field, code: "unknown_field", message });
    }

    /// At most [`Warnings::MAX`] warnings, known fields first, then one with the number of omitted warnings.
    pub fn listed(&self) -> Vec<Warning> {
        let all = self.known_fields.iter().chain(&self.unknown_fields);
        let mut listed: Vec<_> = all.take(Self::MAX).cloned().collect();
        let omitted =
            self.known_fields.len() + self.unknown_fields.len() + self.unknown_fields_omitted - listed.len();
        if omitted > 0 {
            listed.push(Warning {
                field: String::new(),
                code: "more_warnings",
                message: format!("There were {omitted} more warnings."),
            });
        }
        listed
    }
}

fn shortened(field: &str) -> String {
    match field.char_indices().nth(Warnings::NAME_MAX) {
        Some((end, _)) => format!("{}…", &field[..end]),
        None => field.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_warnings_are_listed_and_the_rest_counted() {
        let mut warnings = Warnings::default();
        for n in 0..1_000 {
            warnings.add_unknown(&format!("field{n}"));
        }
        warnings.add("pickup", "pickup_profile_incomplete", "No pickup.");
        warnings.add("pickup", "pickup_profile_incomplete", "No pickup.");
        let listed = warnings.listed();
        assert_eq!(listed.len(), Warnings::MAX + 1);
        assert_eq!(listed[0].code, "pickup_profile_incomplete");
        assert_eq!((&*listed[1].field, &*listed[19].field), ("field0", "field18"));
        assert_eq!(listed[20].message, "There were 981 more warnings.");
    }

    #[test]
    fn a_report_dated_over_five_minutes_before_its_order_causes_a_warning() {
        let created_at = DateTime::UNIX_EPOCH + TimeDelta::days(20_000);
        let warned = |before: TimeDelta| Warning::of_early_report(created_at - before, created_at);
        for before in [TimeDelta::days(-1), TimeDelta::zero(), TimeDelta::minutes(5)] {
            assert_eq!(warned(before), None, "{before}");
        }
        for before in [TimeDelta::minutes(5) + TimeDelta::microseconds(1), TimeDelta::days(300)] {
            let warning = warned(before).unwrap();
            assert_eq!((&*warning.field, warning.code), ("occurredAt", "occurred_before_order"), "{before}");
        }
    }

    #[test]
    fn the_most_likely_field_is_suggested() {
        let mut warnings = Warnings::default();
        warnings.add_unknown("payment.deliveryFee");
        assert_eq!(
            warnings.listed()[0].message,
            "payment.deliveryFee is not a field of an order and was ignored. Did you mean `deliveryFeePaise`?"
        );
    }

    #[test]
    fn a_long_name_is_cut_at_a_character() {
        let mut warnings = Warnings::default();
        warnings.add_unknown(&"म".repeat(10_000));
        assert_eq!(warnings.listed()[0].field.chars().count(), Warnings::NAME_MAX + 1);
        assert!(Warnings::default().listed().is_empty());
    }
}
