//! The field names of an order, and the most likely one for an unknown name.

use std::sync::LazyLock;

use domain::{Paise, PaymentType};
use serde_json::{Value, json};

use super::{Customer, Delivery, Item, Notes, Package, Payment, Pickup};

/// The sections of an order and their fields. The order itself is the section without a name.
static SECTIONS: LazyLock<Vec<(&str, Vec<String>)>> = LazyLock::new(|| {
    let payment = Payment {
        payment_type: PaymentType::Prepaid,
        order_value_paise: None,
        delivery_fee_paise: Paise::ZERO,
        cod_amount_paise: Paise::ZERO,
        prepaid_amount_paise: Paise::ZERO,
        currency: "INR",
    };
    let sections = [
        ("customer", json!(Customer::default())),
        ("delivery", json!(Delivery::default())),
        ("pickup", json!(Pickup::default())),
        ("package", json!(Package::default())),
        ("package.items", json!(Item::default())),
        ("payment", json!(payment)),
        ("notes", json!(Notes::default())),
    ];
    let own =
        ["orderReference", "orderSource"].into_iter().chain(sections.iter().map(|(section, _)| *section));
    let own = own.filter(|name| !name.contains('.')).map(str::to_owned).collect();
    let names =
        |fields: &Value| fields.as_object().into_iter().flat_map(|fields| fields.keys().cloned()).collect();
    std::iter::once(("", own))
        .chain(sections.iter().map(|(section, fields)| (*section, names(fields))))
        .collect()
});
/// Longer names are no typing errors, and comparing them is slow.
const NAME_MAX: usize = 128;
/// `codAmount` scores 0.93 against `codAmountPaise`; `colour` scores at most 0.66 against any field of a payment.
const LIKENESS_MIN: f64 = 0.8;

/// The fields of a section, such as `payment` or `package.items`. The empty name is the order itself.
pub fn order_fields(section: &str) -> Vec<&'static str> {
    let fields = SECTIONS.iter().find(|(name, _)| *name == section).map(|(_, fields)| fields.iter());
    fields.into_iter().flatten().map(String::as_str).collect()
}

/// The most likely field for an unknown path: a field of the same name in this section or another one, else the most
/// similar name of this section.
pub fn meant_field(path: &str) -> Option<String> {
    let (section, name) = path.rsplit_once('.').unwrap_or(("", path));
    let name = Some(name).filter(|name| name.len() <= NAME_MAX).map(plain)?;
    let section = section.split('[').next().unwrap_or_default();
    let own = order_fields(section);
    let same = own.iter().find(|field| plain(field) == name).map(|field| (*field).to_owned());
    same.or_else(|| elsewhere(&name)).or_else(|| nearest(&name, &own).map(str::to_owned))
}

/// Without case and separators.
fn plain(name: &str) -> String {
    name.replace(['_', '-', ' '], "").to_lowercase()
}

/// Jaro-Winkler favours a common prefix: the most frequent mistake is a missing suffix such as `Paise`.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let likeness = |known: &str| strsim::jaro_winkler(name, &plain(known));
    // `max_by` returns the last of equals, so reverse: `address` means `addressLine1` rather than `addressLine2`.
    let best =
        known.iter().rev().map(|known| (likeness(known), *known)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 >= LIKENESS_MIN).then_some(best.1)
}

fn elsewhere(name: &str) -> Option<String> {
    let mut all =
        SECTIONS.iter().flat_map(|(section, fields)| fields.iter().map(move |field| (*section, field)));
    let (section, field) = all.find(|(_, field)| plain(field) == name)?;
    Some(if section.is_empty() { field.clone() } else { format!("{section}.{field}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_field_of_the_section_is_suggested() {
        for (path, meant) in [
            ("payment.codAmount", Some("codAmountPaise")),
            ("payment.cod_amount_paise", Some("codAmountPaise")),
            ("payment.deliveryFee", Some("deliveryFeePaise")),
            ("payment.delivreyFeePaise", Some("deliveryFeePaise")),
            ("payment.DELIVERY-FEE", Some("deliveryFeePaise")),
            ("payment.prepaidAmount", Some("prepaidAmountPaise")),
            ("delivery.address", Some("addressLine1")),
            ("package.items[12].price", Some("pricePaise")),
            ("reference", Some("orderReference")),
            ("payment.type", None),
            ("payment.colour", None),
            ("payment.", None),
            ("", None),
        ] {
            assert_eq!(meant_field(path).as_deref(), meant, "{path}");
        }
        assert_eq!(meant_field(&"x".repeat(100_000)), None);
    }

    #[test]
    fn a_field_in_the_wrong_section_is_suggested_in_its_own() {
        for (path, meant) in [
            ("codAmountPaise", "payment.codAmountPaise"),
            ("customer.pincode", "delivery.pincode"),
            ("delivery.contactName", "pickup.contactName"),
            ("payment.orderReference", "orderReference"),
            ("payment.cod.codAmountPaise", "payment.codAmountPaise"),
            ("deliveryFeePaise", "payment.deliveryFeePaise"),
            ("customerNote", "notes.customerNote"),
        ] {
            assert_eq!(meant_field(path).as_deref(), Some(meant), "{path}");
        }
    }
}
