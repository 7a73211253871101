//! Warnings about valid values that look like mistakes: coordinates, states and amounts.

use super::{Place, Warnings};

/// A smaller amount, less than ₹10, is probably in rupees: ₹49 is 4900 paise.
const PAISE_MIN: i64 = 1_000;
/// India's mainland and islands, with room at the borders.
const LATITUDES: std::ops::RangeInclusive<f64> = 6.0..=38.0;
const LONGITUDES: std::ops::RangeInclusive<f64> = 68.0..=98.0;

/// States and union territories with their codes and former names, in the form of [`plain`].
const STATES: &str = "andamannicobarislands an andamannicobar andhrapradesh ap arunachalpradesh ar assam as bihar br \
     chandigarh ch chhattisgarh cg ct dadranagarhavelidamandiu dh dn dd dadranagarhaveli damandiu delhi dl nctofdelhi \
     newdelhi nctdelhi goa ga gujarat gj haryana hr himachalpradesh hp jammukashmir jk jharkhand jh karnataka ka kerala kl \
     ladakh la lakshadweep ld madhyapradesh mp maharashtra mh manipur mn meghalaya ml mizoram mz nagaland nl odisha od or \
     orissa puducherry py pondicherry punjab pb rajasthan rj sikkim sk tamilnadu tn telangana ts tg tripura tr uttarpradesh \
     up uttarakhand uk ut uttaranchal westbengal wb";

/// Warns of amounts that look like rupees. 0 is intended.
pub fn warn_of_amounts(amounts: &[(&str, Option<i64>)], warnings: &mut Warnings) {
    for (field, amount) in amounts {
        if let Some(amount) = amount.filter(|amount| (1..PAISE_MIN).contains(amount)) {
            let message = format!(
                "{field} is {amount} paise, which is less than ₹10. Amounts are in paise: ₹{amount} would be {}.",
                amount * 100
            );
            warnings.add(*field, "amount_looks_like_rupees", message);
        }
    }
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
        (Some(_), None) => warnings.add(longitude, "coordinate_missing", missing(path, "longitude")),
        (None, Some(_)) => warnings.add(latitude, "coordinate_missing", missing(path, "latitude")),
        _ => {}
    }
    if let Some(state) = place.state.as_deref().filter(|state| !is_state(state)) {
        let shown: String = state.chars().take(40).collect();
        let message = format!("{path}.state is not a known state or union territory of India: {shown}.");
        warnings.add(format!("{path}.state"), "unknown_state", message);
    }
}

fn missing(path: &str, name: &str) -> String {
    format!("{path}.{name} is missing: one coordinate alone names no place.")
}

fn is_state(name: &str) -> bool {
    let plain = plain(name);
    !plain.is_empty() && STATES.split_whitespace().any(|state| state == plain)
}

/// Without case, separators, and the words "and" and "the".
fn plain(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !matches!(*word, "and" | "the"));
    words.collect()
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
        ] {
            assert_eq!(codes(&place), [(field.to_owned(), code)]);
        }
        for good in [at(None, None), at(Some(12.9), Some(77.6)), at(Some(0.0), Some(77.6))] {
            assert_eq!(codes(&good), []);
        }
    }

    #[test]
    fn an_unknown_state_causes_a_warning() {
        let of = |state: &str| Place { state: Some(state.to_owned()), ..Place::default() };
        for good in
            ["Karnataka", "TAMIL NADU", "Jammu & Kashmir", "Jammu and Kashmir", "KA", "Orissa", "Tamilnadu"]
        {
            assert_eq!(codes(&of(good)), [], "{good}");
        }
        for bad in ["Karnatka", "California", "c", "-"] {
            assert_eq!(codes(&of(bad)), [("delivery.state".to_owned(), "unknown_state")], "{bad}");
        }
    }

    #[test]
    fn amounts_below_ten_rupees_look_like_rupees() {
        let warned = |amount: Option<i64>| {
            let mut warnings = Warnings::default();
            warn_of_amounts(&[("payment.deliveryFeePaise", amount)], &mut warnings);
            warnings.listed().len()
        };
        assert_eq!([None, Some(0), Some(1_000), Some(4_900)].map(warned), [0; 4]);
        assert_eq!([Some(1), Some(49), Some(999)].map(warned), [1; 3]);
    }
}
