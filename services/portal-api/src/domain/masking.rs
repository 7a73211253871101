//! Masks phones and addresses in responses with orders, for roles that do not see them. The fields to keep are listed, so a
//! new field of a person or an address is hidden unless it is added here.

use serde_json::{Map, Value};

use crate::domain::masked_text::{HIDDEN, masked_phone, masked_text};
use crate::domain::{Permission, Role};

/// Of the customer and the driver.
const KEPT_OF_PERSON: [&str; 2] = ["name", "vehicle"];
/// Of the delivery address and the pickup.
const KEPT_OF_PLACE: [&str; 5] = ["businessName", "contactName", "city", "state", "pincode"];
/// Of the responses of endpoints. The others may contain anything.
const KEPT_HEADERS: [&str; 3] = ["content-type", "date", "retry-after"];
/// Tells the page that something is masked.
const MARK: &str = "personalDataMasked";

/// What a role does not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mask {
    customers: bool,
    /// The balance of the wallet in an order's timeline, and what the business owes: it owes nothing while it has a balance.
    balances: bool,
}

impl Mask {
    /// `None` for a role that sees everything.
    pub(crate) fn of(role: Role) -> Option<Self> {
        let mask = Self {
            customers: !role.may(Permission::ReadCustomers),
            balances: !role.may(Permission::ReadMoney),
        };
        (mask.customers || mask.balances).then_some(mask)
    }

    /// Of a file for a role that does not see customers.
    pub(crate) fn of_customers() -> Self {
        Self { customers: true, balances: false }
    }

    /// Masks a response: an object, or a page of objects.
    pub(crate) fn apply(self, answer: &mut Value) {
        match answer.get_mut("data").and_then(Value::as_array_mut) {
            Some(page) => page.iter_mut().for_each(|item| self.apply_to_item(item)),
            None => self.apply_to_item(answer),
        }
    }

    fn apply_to_item(self, item: &mut Value) {
        let before = item.clone();
        self.walk(item);
        if self.customers
            && *item != before
            && let Some(fields) = item.as_object_mut()
        {
            fields.insert(MARK.to_owned(), Value::Bool(true));
        }
    }

    fn walk(self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.walk(item)),
            Value::Object(fields) => {
                for (name, field) in fields {
                    self.walk_field(name, field);
                }
            }
            _ => {}
        }
    }

    fn walk_field(self, name: &str, field: &mut Value) {
        match name {
            "balanceAfterPaise" | "owedPaise" if self.balances => *field = Value::Null,
            _ if !self.customers => self.walk(field),
            "customer" | "driver" => keep(field, &KEPT_OF_PERSON),
            "delivery" | "pickup" => keep(field, &KEPT_OF_PLACE),
            // Free text, which may contain a phone or an address.
            "notes" => keep(field, &[]),
            "reason" | "note" | "specialInstructions" => *field = Value::Null,
            // Of the evidence of an attempt. `personal` is the text with all of them.
            "place" | "recipientName" | "photo" | "personal" => *field = Value::Null,
            "package" => {
                keep_contents(field);
                self.walk(field);
            }
            "requestBody" => self.mask_body(field),
            // The business's endpoint may return what it received, in any form.
            "responseBody" if field.is_null() => {}
            "responseBody" => *field = HIDDEN.into(),
            "responseHeaders" => keep_headers(field),
            _ => self.walk(field),
        }
    }

    /// Keeps the exact bytes of a body without personal data, which its signature covers.
    fn mask_body(self, field: &mut Value) {
        let Some(parsed) = field.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok()) else {
            *field = HIDDEN.into();
            return;
        };
        let mut masked = parsed.clone();
        self.walk(&mut masked);
        if masked != parsed {
            *field = Value::String(masked.to_string());
        }
    }
}

fn keep_headers(headers: &mut Value) {
    match headers.as_object_mut() {
        Some(headers) => headers.retain(|name, _| KEPT_HEADERS.contains(&name.as_str())),
        None => *headers = Value::Null,
    }
}

/// Keeps these fields, shortens the phone, and hides the rest.
fn keep(section: &mut Value, kept: &[&str]) {
    let Some(fields) = section.as_object_mut() else {
        *section = Value::Null;
        return;
    };
    let shown = |(name, value): (&String, &Value)| {
        let value = match value {
            // A name may have a phone in it.
            Value::String(text) if kept.contains(&name.as_str()) => Value::String(masked_text(text)),
            value if kept.contains(&name.as_str()) && !value.is_object() && !value.is_array() => {
                value.clone()
            }
            Value::String(phone) if name == "phone" => Value::String(masked_phone(phone)),
            _ => Value::Null,
        };
        (name.clone(), value)
    };
    let masked: Map<String, Value> = fields.iter().map(shown).collect();
    *fields = masked;
}

/// The description is free text. The names of the items stay, without phones and e-mail addresses.
fn keep_contents(package: &mut Value) {
    let Some(fields) = package.as_object_mut() else {
        *package = Value::Null;
        return;
    };
    if let Some(description) = fields.get_mut("description") {
        *description = Value::Null;
    }
    if let Some(items) = fields.get_mut("items") {
        mask_texts(items);
    }
}

/// Masks within all texts of a value.
fn mask_texts(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(mask_texts),
        Value::Object(fields) => fields.values_mut().for_each(mask_texts),
        Value::String(text) => {
            let masked = masked_text(text);
            // Most texts stay.
            if masked != *text {
                *text = masked;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn masked(role: Role, mut answer: Value) -> Value {
        if let Some(mask) = Mask::of(role) {
            mask.apply(&mut answer);
        }
        answer
    }

    fn order() -> Value {
        json!({
            "orderReference": "shop-1",
            "customer": { "name": "Asha Rao", "phone": "+919876543210", "email": "asha@example.com", "later": { "name": "x" } },
            "delivery": { "addressLine1": "12 MG Road", "city": "Bengaluru", "pincode": "560001", "latitude": 12.9 },
            "pickup": { "contactName": "Meera", "phone": "080 2222 3333", "landmark": "Clock", "pincode": "560001" },
            "driver": { "name": "Ravi", "phone": "+919800000009", "vehicle": "Bike" },
            "package": { "fragile": true, "specialInstructions": "ring at 12 MG Road" },
            "notes": { "customerNote": "call +919876543210" },
            "reason": "gave it to 14 MG Road",
        })
    }

    #[test]
    fn phones_are_shortened_and_addresses_reduced_to_the_area() {
        let expected = json!({
            "orderReference": "shop-1",
            "customer": { "name": "Asha Rao", "phone": "••••••3210", "email": null, "later": null },
            "delivery": { "addressLine1": null, "city": "Bengaluru", "pincode": "560001", "latitude": null },
            "pickup": { "contactName": "Meera", "phone": "••••••3333", "landmark": null, "pincode": "560001" },
            "driver": { "name": "Ravi", "phone": "••••••0009", "vehicle": "Bike" },
            "package": { "fragile": true, "specialInstructions": null },
            "notes": { "customerNote": null },
            "reason": null,
            "personalDataMasked": true,
        });
        for role in [Role::Developer, Role::Finance, Role::Viewer] {
            assert_eq!(masked(role, order()), expected, "{role}");
            let page = masked(role, json!({ "data": [order(), order()], "hasMore": true }));
            assert_eq!(page, json!({ "data": [expected, expected], "hasMore": true }), "{role}");
        }
        for role in [Role::Owner, Role::Support] {
            assert_eq!(masked(role, order()), order(), "{role}");
        }
    }

    #[test]
    fn evidence_stays_without_its_personal_part() {
        let attempt = json!({
            "attempt": 1, "hash": "ab", "record": "{}", "recipientRelation": "guard", "codeVerified": true,
            "place": { "latitude": 12.9, "longitude": 77.6 }, "recipientName": "Asha", "reason": "gone",
            "photo": { "url": "https://fleet.example/7", "sha256": "cd" }, "personal": "{}",
        });
        let seen = masked(Role::Viewer, json!({ "intact": true, "attempts": [attempt] }));
        let hidden = ["place", "recipientName", "reason", "photo", "personal"];
        let mut expected = attempt.clone();
        hidden.iter().for_each(|name| expected[*name] = Value::Null);
        assert_eq!(seen, json!({ "intact": true, "attempts": [expected], "personalDataMasked": true }));
        let event = masked(Role::Finance, json!({ "data": [{ "data": { "evidence": attempt } }] }));
        assert_eq!(event["data"][0]["data"]["evidence"], expected);
    }

    #[test]
    fn nothing_is_marked_where_nothing_is_hidden() {
        let erased = json!({ "customer": { "name": null, "phone": null }, "delivery": { "pincode": "560001" }, "reason": null });
        assert_eq!(masked(Role::Viewer, erased.clone()), erased);
        assert_eq!(masked(Role::Viewer, json!([7, "x", null])), json!([7, "x", null]));
    }

    #[test]
    fn sections_of_another_form_are_hidden() {
        for odd in [json!("12 MG Road"), json!(["12 MG Road"]), json!(9_876_543_210_i64)] {
            let answer = masked(Role::Viewer, json!({ "delivery": odd, "customer": odd, "notes": odd }));
            assert_eq!(answer["delivery"], Value::Null, "{answer}");
            assert_eq!((&answer["customer"], &answer["notes"]), (&Value::Null, &Value::Null), "{answer}");
        }
        let nested = masked(
            Role::Viewer,
            json!({ "customer": { "name": { "phone": "9876543210" }, "phone": 9_876_543_210_i64 } }),
        );
        assert_eq!(nested["customer"], json!({ "name": null, "phone": null }));
    }

    #[test]
    fn support_sees_neither_balances_nor_debts() {
        let money =
            json!({ "type": "money", "amountPaise": -4_900, "balanceAfterPaise": 95_100, "owedPaise": 0 });
        let debt = json!({ "type": "money", "amountPaise": 0, "balanceAfterPaise": 0, "owedPaise": 3_000 });
        let page = json!({ "data": [money, debt, { "type": "status", "data": { "reason": "closed" } }] });
        let seen = masked(Role::Support, page.clone());
        for (line, amount) in [(0, -4_900), (1, 0)] {
            let expected = json!({ "type": "money", "amountPaise": amount, "balanceAfterPaise": null, "owedPaise": null });
            assert_eq!(seen["data"][line], expected);
        }
        assert_eq!(seen["data"][2], page["data"][2]);
        let all = masked(Role::Finance, page);
        assert_eq!((&all["data"][0], &all["data"][1]), (&money, &debt));
    }

    #[test]
    fn a_body_keeps_its_bytes_unless_it_contains_personal_data() {
        let plain = r#"{ "order":{"id":"ord_1"},  "data":{} }"#;
        let answer = masked(Role::Developer, json!({ "requestBody": plain }));
        assert_eq!(answer, json!({ "requestBody": plain }));
        let personal =
            r#"{"data":{"driver":{"name":"Ravi","phone":"+919800000009"},"reason":"gave it to 14 MG Road"}}"#;
        let answer = masked(Role::Developer, json!({ "requestBody": personal }));
        let body: Value = serde_json::from_str(answer["requestBody"].as_str().unwrap()).unwrap();
        assert_eq!(
            body["data"],
            json!({ "driver": { "name": "Ravi", "phone": "••••••0009" }, "reason": null })
        );
        assert_eq!(answer[MARK], true);
    }

    #[test]
    fn contents_stay_without_their_free_text() {
        let package = json!({
            "description": "cakes, call 9876543210", "totalItems": 2, "weightKg": 1.5,
            "items": [
                { "name": "Plum cake", "quantity": 1, "pricePaise": 123_456_789 },
                { "name": "for Asha, 98765 43210, asha@home.example", "quantity": 1 },
            ],
        });
        let expected = json!({
            "description": null, "totalItems": 2, "weightKg": 1.5,
            "items": [
                { "name": "Plum cake", "quantity": 1, "pricePaise": 123_456_789 },
                { "name": "for Asha, ••••••3210, ••••••", "quantity": 1 },
            ],
        });
        let answer = masked(Role::Finance, json!({ "package": package }));
        assert_eq!(answer, json!({ "package": expected, "personalDataMasked": true }));
        assert_eq!(masked(Role::Viewer, json!({ "package": ["call 9876543210"] }))["package"], Value::Null);
        let plain = json!({ "package": { "items": [{ "name": "Plum cake" }], "fragile": true } });
        assert_eq!(masked(Role::Viewer, plain.clone()), plain);
        let named =
            json!({ "customer": { "name": "Asha 98765 43210" }, "driver": { "name": "ravi@fleet.example" } });
        let expected = json!({ "customer": { "name": "Asha ••••••3210" }, "driver": { "name": "••••••" } });
        let answer = masked(Role::Viewer, named);
        assert_eq!((&answer["customer"], &answer["driver"]), (&expected["customer"], &expected["driver"]));
    }

    #[test]
    fn responses_of_endpoints_and_unreadable_bodies_are_hidden() {
        let attempt = json!({
            "responseStatus": 500,
            "responseBody": r#"{"call":"98765\t43210"}"#,
            "responseHeaders": { "x-customer": "+919876543210", "retry-after": "60", "date": "Wed, 25 Nov 2026 10:00:00 GMT" },
        });
        let seen = masked(Role::Viewer, json!({ "attemptLog": [attempt], "requestBody": "no JSON of Asha" }));
        let hidden = json!({
            "responseStatus": 500,
            "responseBody": HIDDEN,
            "responseHeaders": { "retry-after": "60", "date": "Wed, 25 Nov 2026 10:00:00 GMT" },
        });
        let expected = json!({ "attemptLog": [hidden], "requestBody": HIDDEN, "personalDataMasked": true });
        assert_eq!(seen, expected);
        let silent = json!({ "attemptLog": [{ "responseBody": null, "responseHeaders": {} }] });
        assert_eq!(masked(Role::Viewer, silent.clone()), silent);
    }
}
