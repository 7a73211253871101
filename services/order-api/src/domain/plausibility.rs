//! Warnings about valid values that look like mistakes: coordinates, states and amounts.

use super::states::{State, state_named, states_of};
use super::{Place, Warnings};

/// A smaller amount, less than ₹10, is probably in rupees: ₹49 is 4900 paise.
const PAISE_MIN: i64 = 1_000;
/// A price below ₹100 that is not in whole rupees probably is in rupees: ₹1,548 is 154800 paise.
const PRICE_MIN: i64 = 10_000;
const PAISE_PER_RUPEE: i64 = 100;
/// India's mainland and islands, with room at the borders.
const LATITUDES: std::ops::RangeInclusive<f64> = 6.0..=38.0;
const LONGITUDES: std::ops::RangeInclusive<f64> = 68.0..=98.0;

/// Warns of amounts that look like rupees. 0 is intended.
pub fn warn_of_amounts(amounts: &[(&str, Option<i64>)], warnings: &mut Warnings) {
    for (field, amount) in amounts {
        if let Some(amount) = amount.filter(|amount| looks_like_rupees(field, *amount)) {
            let message = format!(
                "{field} is {amount} paise, which is ₹{}.{:02}. Amounts are in paise: ₹{amount} would be {}.",
                amount / 100,
                amount % 100,
                amount * 100
            );
            warnings.add(*field, "amount_looks_like_rupees", message);
        }
    }
}

/// Most prices are whole rupees, so that paise end in 00. Fees often include a tax, so that theirs do not.
fn looks_like_rupees(field: &str, amount: i64) -> bool {
    let is_fee = field.ends_with("deliveryFeePaise");
    (1..PAISE_MIN).contains(&amount)
        || !is_fee && (1..PRICE_MIN).contains(&amount) && amount % PAISE_PER_RUPEE != 0
}

/// Warns of a place that would mislead the driver.
pub fn warn_of_place(path: &str, place: &Place, warnings: &mut Warnings) {
    let (latitude, longitude) = (format!("{path}.latitude"), format!("{path}.longitude"));
    match (place.latitude, place.longitude) {
        (Some(0.0), Some(0.0)) => warnings.add(
            latitude,
            "coordinates_zero",
            format!("The coordinates of {path} are 0,0, which is in the Atlantic. Leave unknown coordinates out."),
        ),
        (Some(lat), Some(lon)) if LATITUDES.contains(&lon) && LONGITUDES.contains(&lat) => warnings.add(
            latitude,
            "coordinates_swapped",
            format!(
                "{path}.latitude and {path}.longitude look swapped: India lies between 6 and 38 north, 68 and 98 east."
            ),
        ),
        (Some(lat), Some(lon)) if !(LATITUDES.contains(&lat) && LONGITUDES.contains(&lon)) => warnings.add(
            latitude,
            "coordinates_outside_india",
            format!(
                "{path}.latitude and {path}.longitude are outside India, which lies between 6 and 38 north, 68 and 98 east."
            ),
        ),
        (Some(_), None) => warnings.add(longitude, "coordinate_missing", missing(path, "longitude")),
        (None, Some(_)) => warnings.add(latitude, "coordinate_missing", missing(path, "latitude")),
        _ => {}
    }
    let Some(given) = place.state.as_deref() else { return };
    let Some(state) = state_named(given) else {
        let shown: String = given.chars().take(40).collect();
        let message = format!("{path}.state is not a known state or union territory of India: {shown}.");
        return warnings.add(format!("{path}.state"), "unknown_state", message);
    };
    if let Some(pincode) = place.pincode.as_deref() {
        warn_of_pincode(path, pincode, state, warnings);
    }
}

fn warn_of_pincode(path: &str, pincode: &str, state: &State, warnings: &mut Warnings) {
    let states = states_of(pincode);
    if states.is_empty() || states.contains(&state) {
        return;
    }
    let names = states.iter().map(|state| state.name).collect::<Vec<_>>().join(" or ");
    let message = format!(
        "{path}.pincode {pincode} is in {names}, but {path}.state is {}. Ask the customer which one is right.",
        state.name
    );
    warnings.add(format!("{path}.pincode"), "pincode_state_mismatch", message);
}

fn missing(path: &str, name: &str) -> String {
    format!("{path}.{name} is missing: one coordinate alone names no place.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(place: &Place) -> Vec<(String, &'static str)> {
        let mut warnings = Warnings::default();
        warn_of_place("delivery", place, &mut warnings);
        warnings.listed().into_iter().map(|warning| (warning.field, warning.code)).collect()
    }

    fn at(latitude: Option<f64>, longitude: Option<f64>) -> Place {
        Place { latitude, longitude, ..Place::default() }
    }

    #[test]
    fn implausible_coordinates_cause_a_warning() {
        for (place, field, code) in [
            (at(Some(0.0), Some(0.0)), "delivery.latitude", "coordinates_zero"),
            (at(Some(77.6), Some(12.9)), "delivery.latitude", "coordinates_swapped"),
            (at(Some(12.9), None), "delivery.longitude", "coordinate_missing"),
            (at(None, Some(77.6)), "delivery.latitude", "coordinate_missing"),
            (at(Some(0.0), Some(77.6)), "delivery.latitude", "coordinates_outside_india"),
            (at(Some(51.5), Some(-0.1)), "delivery.latitude", "coordinates_outside_india"),
        ] {
            assert_eq!(codes(&place), [(field.to_owned(), code)]);
        }
        for good in [at(None, None), at(Some(12.9), Some(77.6)), at(Some(6.8), Some(93.8))] {
            assert_eq!(codes(&good), []);
        }
    }

    #[test]
    fn a_state_that_is_unknown_or_has_another_pin_code_causes_a_warning() {
        let of = |state: &str, pincode: Option<&str>| Place {
            state: Some(state.to_owned()),
            pincode: pincode.map(str::to_owned),
            ..Place::default()
        };
        for (state, pincode) in [
            ("Karnataka", Some("560038")),
            ("KA", None),
            ("Andhra Pradesh", Some("500081")),
            ("Telangana", Some("500081")),
            ("Goa", Some("403001")),
            ("Karnataka", Some("900056")),
        ] {
            assert_eq!(codes(&of(state, pincode)), [], "{state} {pincode:?}");
        }
        let unknown = ("delivery.state".to_owned(), "unknown_state");
        assert_eq!(codes(&of("Karnatka", Some("560038"))), [unknown]);
        let mismatch = ("delivery.pincode".to_owned(), "pincode_state_mismatch");
        for (state, pincode) in [("Kerala", "560038"), ("Delhi", "201301"), ("Maharashtra", "380001")] {
            assert_eq!(
                codes(&of(state, Some(pincode))),
                std::slice::from_ref(&mismatch),
                "{state} {pincode}"
            );
        }
    }

    #[test]
    fn amounts_that_look_like_rupees_cause_a_warning() {
        let warned = |field: &str, amount: i64| {
            let mut warnings = Warnings::default();
            warn_of_amounts(&[(field, Some(amount))], &mut warnings);
            warnings.listed().pop().map(|warning| warning.message)
        };
        let (fee, cash) = ("payment.deliveryFeePaise", "payment.codAmountPaise");
        for (field, amount) in
            [(fee, 0), (fee, 1_000), (fee, 5_782), (cash, 0), (cash, 9_900), (cash, 154_800)]
        {
            assert_eq!(warned(field, amount), None, "{field} {amount}");
        }
        for (field, amount) in [(fee, 1), (fee, 999), (cash, 500), (cash, 9_999)] {
            assert!(warned(field, amount).is_some(), "{field} {amount}");
        }
        let message = "payment.codAmountPaise is 1548 paise, which is ₹15.48. Amounts are in paise: ₹1548 would be 154800.";
        assert_eq!(warned(cash, 1_548).as_deref(), Some(message));
    }
}
