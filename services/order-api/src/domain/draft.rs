//! A validated order request (SPECIFICATION §2.1). It is stored as it serializes here.

use chrono::{DateTime, Utc};
use domain::{ApiKeyId, Paise, PaymentType};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Warnings;

#[derive(Clone, Debug)]
pub struct OrderDraft {
    pub order_reference: String,
    pub order_source: String,
    pub customer: Customer,
    pub delivery: Delivery,
    /// Absent: use the pickup profile of the business.
    pub pickup: Option<Pickup>,
    pub package: Package,
    pub payment: Payment,
    pub notes: Notes,
    /// About accepted values that look like mistakes.
    pub warnings: Warnings,
}

#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Customer {
    pub name: String,
    pub phone: String,
    pub email: Option<String>,
}

/// The destination of the parcel.
pub type Delivery = Place;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    pub address_line1: Option<String>,
    pub address_line2: Option<String>,
    pub city: Option<String>,
    pub state: Option<String>,
    pub pincode: Option<String>,
    pub landmark: Option<String>,
    pub latitude: Option<f64>,
    pub longitude: Option<f64>,
    pub full_address: Option<String>,
}

/// The origin of the parcel.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pickup {
    pub business_name: Option<String>,
    pub contact_name: Option<String>,
    pub phone: Option<String>,
    #[serde(flatten)]
    pub place: Place,
}

#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Package {
    pub description: Option<String>,
    pub items: Vec<Item>,
    pub total_items: Option<i64>,
    pub weight_kg: Option<f64>,
    pub fragile: bool,
    pub special_instructions: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    pub name: Option<String>,
    pub quantity: Option<i64>,
    pub price_paise: Option<i64>,
}

/// Amounts in paise.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment {
    pub payment_type: PaymentType,
    pub order_value_paise: Option<Paise>,
    pub delivery_fee_paise: Paise,
    pub cod_amount_paise: Paise,
    pub prepaid_amount_paise: Paise,
    pub currency: &'static str,
}

#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Notes {
    pub customer_note: Option<String>,
    pub internal_note: Option<String>,
}

impl OrderDraft {
    /// The sections that are stored in one column.
    pub fn details(&self) -> Value {
        json!({
            "customer": self.customer,
            "delivery": self.delivery,
            "pickup": self.pickup,
            "package": self.package,
            "payment": self.payment,
            "notes": self.notes,
        })
    }
}

/// What a business corrects before the delivery.
#[derive(Clone, Debug)]
pub struct Correction {
    pub phone: Option<String>,
    /// The whole new address.
    pub delivery: Option<Delivery>,
}

/// The section of the phone and the address that the request had, of a corrected order. As a part of the details it is erased with
/// them, and in their form it is masked like them, also by release 1.0.0.
const AS_SENT: &str = "asSent";
/// The list of corrections in that section.
const CORRECTIONS: &str = "corrections";
/// An order keeps its latest ones.
const CORRECTIONS_MAX: usize = 10;

/// What an order keeps of a correction, without values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Corrected {
    pub at: DateTime<Utc>,
    /// `None` for a person in the portal, whom its audit log names.
    pub key_id: Option<ApiKeyId>,
    /// The names of the changed fields, as in the request.
    pub fields: Vec<String>,
}

impl Correction {
    /// The details of an order with this correction, at this time and with this key.
    pub fn applied_to(&self, details: &Value, at: DateTime<Utc>, key_id: Option<ApiKeyId>) -> Value {
        let mut corrected = details.clone();
        if let Some(phone) = &self.phone {
            corrected["customer"]["phone"] = phone.as_str().into();
        }
        if let Some(delivery) = &self.delivery {
            corrected["delivery"] = json!(delivery);
        }
        if corrected == *details {
            return corrected;
        }
        let fields = changed_fields(details, &corrected);
        if details.get(AS_SENT).is_none() {
            corrected[AS_SENT] = json!({ "customer": { "phone": details["customer"]["phone"] }, "delivery": details["delivery"] });
        }
        let mut list = corrections(details);
        list.push(Corrected { at, key_id, fields });
        list.drain(..list.len().saturating_sub(CORRECTIONS_MAX));
        corrected[AS_SENT][CORRECTIONS] = json!(list);
        corrected
    }
}

/// The fields of a correction that differ.
fn changed_fields(before: &Value, after: &Value) -> Vec<String> {
    let phone = (before["customer"]["phone"] != after["customer"]["phone"]).then(|| "phone".to_owned());
    let address = after["delivery"].as_object().into_iter().flatten();
    let changed = address.filter(|(name, value)| before["delivery"][name.as_str()] != **value);
    phone.into_iter().chain(changed.map(|(name, _)| format!("delivery.{name}"))).collect()
}

/// The latest corrections of an order, oldest first; none of an erased order.
pub fn corrections(details: &Value) -> Vec<Corrected> {
    let list = details[AS_SENT][CORRECTIONS].as_array();
    list.into_iter().flatten().filter_map(|one| Corrected::deserialize(one).ok()).collect()
}

/// The details as they were before their first correction.
pub fn without_corrections(details: &Value) -> Value {
    let mut details = details.clone();
    if let Some(mut sent) = details.as_object_mut().and_then(|sections| sections.remove(AS_SENT)) {
        details["customer"]["phone"] = sent["customer"]["phone"].take();
        details["delivery"] = sent["delivery"].take();
    }
    details
}

impl Place {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn is_complete(&self) -> bool {
        self.full_address.is_some()
            || (self.address_line1.is_some() && self.city.is_some() && self.pincode.is_some())
    }
}

impl Pickup {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the pickup profile has to fill in some fields.
    pub fn is_partial(&self) -> bool {
        self.business_name.is_none()
            || self.contact_name.is_none()
            || self.phone.is_none()
            || !self.place.is_complete()
    }

    /// Takes missing fields from the profile. The address comes from one of the two as a whole, because parts of two
    /// addresses name no place.
    #[must_use]
    pub fn filled_from(self, profile: Self) -> Self {
        Self {
            business_name: self.business_name.or(profile.business_name),
            contact_name: self.contact_name.or(profile.contact_name),
            phone: self.phone.or(profile.phone),
            place: if self.place.is_complete() || !profile.place.is_complete() && !self.place.is_empty() {
                self.place
            } else {
                profile.place
            },
        }
    }

    /// Whether the address is incomplete.
    pub fn has_partial_address(&self) -> bool {
        !self.place.is_empty() && !self.place.is_complete()
    }

    /// Whether a driver can find the address.
    pub fn is_usable(&self) -> bool {
        self.place.is_complete()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::without_personal_data;

    fn profile() -> Pickup {
        Pickup {
            business_name: Some("Malabar Coffee Works".into()),
            contact_name: Some("Joseph".into()),
            phone: Some("+919800000002".into()),
            place: Place {
                address_line1: Some("27, Church Street".into()),
                city: Some("Bengaluru".into()),
                pincode: Some("560001".into()),
                ..Place::default()
            },
        }
    }

    #[test]
    fn an_empty_pickup_is_the_profile_and_a_name_alone_keeps_its_address() {
        assert_eq!(Pickup::default().filled_from(profile()), profile());
        let named = Pickup { contact_name: Some("Meera".into()), ..Pickup::default() };
        assert!(named.is_partial() && !named.is_usable());
        let filled = named.filled_from(profile());
        assert_eq!(filled.contact_name.as_deref(), Some("Meera"));
        assert_eq!(filled.place, profile().place);
        assert!(filled.is_usable() && !filled.is_partial());
    }

    #[test]
    fn a_corrected_order_keeps_what_was_sent() {
        let sent = json!({
            "customer": { "name": "Asha", "phone": "+919800000001" },
            "delivery": { "city": "Mysuru" },
            "notes": {},
        });
        let phone = |phone: &str| Correction { phone: Some(phone.into()), delivery: None };
        let key = ApiKeyId::MAX;
        let at = |seconds| DateTime::from_timestamp(seconds, 0).unwrap();
        assert_eq!(phone("+919800000001").applied_to(&sent, at(1), Some(key)), sent, "nothing was corrected");
        let once = phone("+919800000002").applied_to(&sent, at(2), Some(key));
        assert_eq!(
            (&once["customer"]["phone"], &once["delivery"]),
            (&json!("+919800000002"), &sent["delivery"])
        );
        let place = Place { city: Some("Hubballi".into()), ..Place::default() };
        let again = Correction { phone: None, delivery: Some(place.clone()) };
        let twice = again.applied_to(&phone("+919800000003").applied_to(&once, at(3), None), at(4), None);
        assert_eq!(twice["delivery"], json!(place));
        assert_eq!(again.applied_to(&twice, at(5), None), twice);
        for details in [&sent, &once, &twice] {
            assert_eq!(without_corrections(details), sent);
        }
        let corrected = |seconds, key_id, field: &str| Corrected {
            at: at(seconds),
            key_id,
            fields: vec![field.to_owned()],
        };
        let expected = [
            corrected(2, Some(key), "phone"),
            corrected(3, None, "phone"),
            corrected(4, None, "delivery.city"),
        ];
        assert_eq!(corrections(&twice), expected);
        assert!(corrections(&without_personal_data(&twice)).is_empty(), "erased");
        let many = (0..30).fold(twice, |details, number| {
            phone(&format!("+9198000001{number:02}")).applied_to(&details, at(number), None)
        });
        let times: Vec<_> = corrections(&many).iter().map(|one| one.at).collect();
        assert_eq!(times, (20..30).map(at).collect::<Vec<_>>(), "the latest ones");
        assert_eq!(without_corrections(&many), sent);
    }

    #[test]
    fn two_addresses_are_never_mixed() {
        let place = Place { city: Some("Mysuru".into()), ..Place::default() };
        let partial = Pickup { place: place.clone(), ..Pickup::default() };
        assert_eq!(
            partial.clone().filled_from(profile()).place,
            profile().place,
            "a complete address wins over a part"
        );
        assert_eq!(partial.filled_from(Pickup::default()).place, place, "a part wins over nothing");
        let whole =
            Place { address_line1: Some("1 Hill Road".into()), pincode: Some("570001".into()), ..place };
        let elsewhere = Pickup { place: whole.clone(), ..Pickup::default() };
        assert_eq!(elsewhere.filled_from(profile()).place, whole);
    }
}
