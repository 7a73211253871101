//! Each field of SPECIFICATION §2.1 by tables of valid and invalid values, and any JSON in any place by a property
//! test.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::read;
use crate::commands::create_order::InvalidOrder;
use crate::domain::{OrderDraft, Warnings};

mod warnings;

/// A body with every field.
fn whole() -> Value {
    json!({
        "orderReference": "order-1",
        "orderSource": "business_website",
        "customer": { "name": "Asha Rao", "phone": "+919800000001", "email": "asha@example.com" },
        "delivery": place(),
        "pickup": {
            "businessName": "Malabar Coffee Works", "contactName": "Joseph Mathew", "phone": "+919800000002",
            "addressLine1": "27, Church Street", "addressLine2": "2nd floor", "city": "Bengaluru",
            "state": "Karnataka", "pincode": "560001", "landmark": "Metro", "latitude": 12.97, "longitude": 77.6,
            "fullAddress": "27, Church Street\nBengaluru"
        },
        "package": {
            "description": "Coffee",
            "items": [{ "name": "Beans", "quantity": 2, "pricePaise": 45_000 }, { "name": "Filter", "quantity": 1 }],
            "totalItems": 3, "weightKg": 1.2, "fragile": true, "specialInstructions": "Keep dry"
        },
        "payment": {
            "paymentType": "cod", "orderValuePaise": 90_000, "deliveryFeePaise": 4_900, "codAmountPaise": 94_900,
            "prepaidAmountPaise": 0, "currency": "INR"
        },
        "notes": { "customerNote": "Ring twice", "internalNote": "Regular" }
    })
}

fn place() -> Value {
    json!({
        "addressLine1": "12th Main Road", "addressLine2": "Indiranagar", "city": "Bengaluru", "state": "Karnataka",
        "pincode": "560038", "landmark": "Park", "latitude": 12.97, "longitude": 77.64,
        "fullAddress": "12th Main Road, Indiranagar, Bengaluru"
    })
}

/// The whole body with another value at a pointer such as `/package/items/0/quantity`. `null` equals absent.
fn with(pointer: &str, value: Value) -> Value {
    let mut body = whole();
    if pointer.is_empty() {
        return value;
    }
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match body.pointer_mut(parent).unwrap() {
        Value::Array(items) => items[name.parse::<usize>().unwrap()] = value,
        parent => parent[name] = value,
    }
    body
}

/// Errors name `/package/items/0/name` as `package.items[0].name`.
fn path(pointer: &str) -> String {
    pointer.trim_start_matches('/').split('/').fold(String::new(), |path, name| match name.parse::<usize>() {
        Ok(index) => format!("{path}[{index}]"),
        Err(_) if path.is_empty() => name.to_owned(),
        Err(_) => format!("{path}.{name}"),
    })
}

#[track_caller]
fn takes(pointer: &str, value: Value) -> OrderDraft {
    read(&with(pointer, value.clone()))
        .unwrap_or_else(|field_errors| panic!("{pointer} = {value}: {field_errors:?}"))
}

/// Expects exactly this error, with a message that names the field. For a missing section also its required fields.
#[track_caller]
fn refuses(pointer: &str, value: Value, code: &str) {
    let field_errors =
        read(&with(pointer, value.clone())).expect_err(&format!("{pointer} = {value}")).field_errors;
    let within = format!("{}.", path(pointer));
    let found: Vec<_> = field_errors.iter().map(|error| (&*error.field, error.code)).collect();
    let found: Vec<_> = found
        .into_iter()
        .filter(|(field, code)| !(field.starts_with(&within) && *code == "required"))
        .collect();
    assert_eq!(found, [(&*path(pointer), code)], "{pointer} = {value}");
    assert!(field_errors[0].message.contains(&path(pointer)), "{}", field_errors[0].message);
}

#[track_caller]
fn refuses_absence(pointer: &str, is_required: bool, absent: &[Value]) {
    for value in absent {
        if is_required {
            refuses(pointer, value.clone(), "required");
        } else {
            takes(pointer, value.clone());
        }
    }
}

#[test]
fn the_whole_and_the_smallest_body_are_orders() {
    assert!(read(&whole()).unwrap().warnings.listed().is_empty());
    let smallest = json!({
        "orderReference": "r",
        "customer": { "name": "A", "phone": "+919800000001" },
        "delivery": { "addressLine1": "a", "city": "b", "state": "Karnataka", "pincode": "560038" },
        "payment": { "paymentType": "prepaid", "deliveryFeePaise": 1_000 }
    });
    let draft = read(&smallest).unwrap();
    assert_eq!(draft.order_source, "business_website");
    assert!(draft.pickup.is_none() && draft.warnings.listed().is_empty());
}

#[test]
fn texts() {
    const TEXTS: [(&str, usize, bool, bool); 30] = [
        ("/orderReference", 128, true, false),
        ("/orderSource", 64, false, false),
        ("/customer/name", 200, true, false),
        ("/delivery/addressLine1", 300, true, true),
        ("/delivery/addressLine2", 300, false, true),
        ("/delivery/city", 200, true, false),
        ("/delivery/state", 200, true, false),
        ("/delivery/landmark", 300, false, false),
        ("/delivery/fullAddress", 1_000, false, true),
        ("/pickup/businessName", 200, false, false),
        ("/pickup/contactName", 200, false, false),
        ("/pickup/addressLine1", 300, false, true),
        ("/pickup/addressLine2", 300, false, true),
        ("/pickup/city", 200, false, false),
        ("/pickup/state", 200, false, false),
        ("/pickup/landmark", 300, false, false),
        ("/pickup/fullAddress", 1_000, false, true),
        ("/package/description", 1_000, false, true),
        ("/package/items/0/name", 200, false, false),
        ("/package/items/1/name", 200, false, false),
        ("/package/specialInstructions", 1_000, false, true),
        ("/notes/customerNote", 1_000, false, true),
        ("/notes/internalNote", 1_000, false, true),
        // These also have a format. Too long values are reported by their length.
        ("/customer/email", 254, false, false),
        ("/customer/phone", 40, true, false),
        ("/pickup/phone", 40, false, false),
        ("/delivery/pincode", 20, true, false),
        ("/pickup/pincode", 20, false, false),
        ("/payment/paymentType", usize::MAX, true, false),
        ("/payment/currency", usize::MAX, false, false),
    ];
    for (pointer, max, is_required, may_have_lines) in TEXTS {
        refuses_absence(pointer, is_required, &[Value::Null]);
        let is_word = max == usize::MAX;
        for other in [json!(7), json!(true), json!(["a"]), json!({ "a": "b" })] {
            refuses(
                pointer,
                other,
                if pointer == "/payment/currency" { "invalid_value" } else { "invalid_type" },
            );
        }
        if is_word {
            continue;
        }
        refuses_absence(pointer, is_required, &[json!(""), json!(" \t ")]);
        refuses(pointer, json!("न".repeat(max + 1)), "too_long");
        for control in ["a\u{0}b", "a\u{7f}b", "a\u{1b}b", "a\u{85}b"] {
            refuses(pointer, json!(control), "invalid_format");
        }
        if has_form(pointer) {
            continue;
        }
        takes(pointer, json!("न".repeat(max)));
        takes(pointer, json!(format!("  {}  ", "x".repeat(max - 4))));
        match may_have_lines {
            true => drop(takes(pointer, json!("one\r\n\ttwo"))),
            false => refuses(pointer, json!("one\ntwo"), "invalid_format"),
        }
    }
    assert_eq!(takes("/orderReference", json!("  order 7 ")).order_reference, "order 7");
    let place = takes("/delivery/addressLine1", json!("Flat 4\r\n 12th Main\tRoad ")).delivery;
    assert_eq!(place.address_line1.as_deref(), Some("Flat 4 12th Main Road"));
}

fn has_form(pointer: &str) -> bool {
    ["email", "phone", "pincode"].iter().any(|name| pointer.ends_with(name))
}

#[test]
fn whole_numbers() {
    const MAX: i64 = domain::Paise::REQUEST_MAX.get();
    const INTEGERS: [(&str, i64, i64, bool); 6] = [
        ("/payment/deliveryFeePaise", 1, MAX, true),
        ("/payment/orderValuePaise", 0, MAX, false),
        ("/payment/codAmountPaise", 0, MAX, false),
        ("/package/items/0/quantity", 1, 1_000_000, false),
        ("/package/items/0/pricePaise", 0, MAX, false),
        ("/package/totalItems", 0, 500_000_000, false),
    ];
    for (pointer, min, max, is_required) in INTEGERS {
        // The whole body has cod, for which a missing value has its own code.
        if pointer != "/payment/codAmountPaise" {
            refuses_absence(pointer, is_required, &[Value::Null]);
        }
        takes(pointer, json!(min));
        takes(pointer, json!(max));
        for other in [json!("100"), json!(100.0), json!(1e3), json!(0.5), json!(true), json!([1]), json!({})]
        {
            refuses(pointer, other, "invalid_type");
        }
        for outside in [json!(min - 1), json!(i64::MIN), json!(i64::MAX), json!(u64::MAX)] {
            refuses(pointer, outside, "out_of_range");
        }
    }
    refuses("/payment/deliveryFeePaise", json!(MAX + 1), "out_of_range");
    refuses("/package/items/0/quantity", json!(1_000_001), "out_of_range");
}

#[test]
fn other_numbers_and_booleans() {
    let numbers = [
        ("/delivery/latitude", -90.0, 90.0),
        ("/delivery/longitude", -180.0, 180.0),
        ("/pickup/latitude", -90.0, 90.0),
        ("/pickup/longitude", -180.0, 180.0),
        ("/package/weightKg", 0.0, 10_000.0),
    ];
    for (pointer, min, max) in numbers {
        for inside in [json!(null), json!(min), json!(max), json!(0), json!(1.5)] {
            takes(pointer, inside);
        }
        for other in [json!("1.5"), json!(true), json!([1.5]), json!({})] {
            refuses(pointer, other, "invalid_type");
        }
        for outside in [json!(min - 0.001), json!(max + 0.001), json!(f64::MAX), json!(u64::MAX)] {
            refuses(pointer, outside, "out_of_range");
        }
    }
    for good in [json!(null), json!(true), json!(false)] {
        takes("/package/fragile", good);
    }
    for other in [json!("true"), json!(1), json!([]), json!({})] {
        refuses("/package/fragile", other, "invalid_type");
    }
}

#[test]
fn an_empty_body_is_told_all_that_an_order_needs() {
    let field_errors = read(&json!({})).unwrap_err().field_errors;
    let fields: Vec<_> = field_errors.iter().map(|error| &*error.field).collect();
    for needed in [
        "orderReference",
        "customer",
        "customer.name",
        "customer.phone",
        "delivery",
        "delivery.addressLine1",
        "delivery.city",
        "delivery.state",
        "delivery.pincode",
        "payment",
        "payment.paymentType",
        "payment.deliveryFeePaise",
    ] {
        assert!(fields.contains(&needed), "{needed} is not among {fields:?}");
    }
    assert_eq!(fields.len(), 12, "{fields:?}");
}

#[test]
fn sections_and_items() {
    for (pointer, is_required) in [
        ("/customer", true),
        ("/delivery", true),
        ("/payment", true),
        ("/pickup", false),
        ("/package", false),
        ("/notes", false),
    ] {
        refuses_absence(pointer, is_required, &[Value::Null]);
        for other in [json!("x"), json!(7), json!([]), json!(false)] {
            refuses(pointer, other, "invalid_type");
        }
    }
    for other in [json!("x"), json!(7), json!({})] {
        refuses("/package/items", other, "invalid_type");
    }
    for other in [json!("x"), json!(7), json!(null), json!([])] {
        refuses("/package/items/1", other, "invalid_type");
    }
    takes("/package/items", json!([]));
    takes("/package/items", json!(vec![json!({ "quantity": 1_000_000 }); 500]));
    refuses("/package/items", json!(vec![json!({}); 501]), "too_long");
    for body in [json!(null), json!([]), json!("x"), json!(7)] {
        assert_eq!(read(&body).unwrap_err().field_errors[0].code, "invalid_type", "{body}");
    }
}

#[test]
fn forms() {
    for good in ["a@b.co", "o'neil+x@a-b.c-d.in"] {
        takes("/customer/email", json!(good));
    }
    for bad in ["asha", "@b.co", "a@", "a b@c.co", "a@b..co"] {
        refuses("/customer/email", json!(bad), "invalid_format");
    }
    for pointer in ["/customer/phone", "/pickup/phone"] {
        for bad in ["9800000001", "+91980000000", "+9198000000012345", "+999123456789", "+91 98000 0000x"] {
            refuses(pointer, json!(bad), "invalid_format");
        }
        takes(pointer, json!("+1 (415) 555-0100"));
    }
    assert_eq!(takes("/customer/phone", json!(" +91 98000-00001 ")).customer.phone, "+919800000001");
    for pointer in ["/delivery/pincode", "/pickup/pincode"] {
        for bad in ["56003", "5600380", "056003", "56003a", "५६००३८"] {
            refuses(pointer, json!(bad), "invalid_format");
        }
        takes(pointer, json!("560 038"));
    }
    for bad in ["card", "COD", "", " "] {
        refuses("/payment/paymentType", json!(bad), "invalid_value");
    }
    for bad in ["USD", "inr", ""] {
        refuses("/payment/currency", json!(bad), "invalid_value");
    }
}

/// Any JSON of a few levels, with strings and numbers that often cause failures.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (0..10_i64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        r"\PC{0,40}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        r"[+0-9 ().a@-]{0,20}".prop_map(Value::from),
        (0..5_000_usize).prop_map(|length| Value::from("x".repeat(length))),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map("[a-zA-Z]{1,12}|name|quantity|phone", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Every place in the whole body.
fn places() -> Vec<String> {
    fn walk(value: &Value, at: &str, found: &mut Vec<String>) {
        found.push(at.to_owned());
        match value {
            Value::Object(object) => {
                object.iter().for_each(|(name, value)| walk(value, &format!("{at}/{name}"), found))
            }
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(n, value)| walk(value, &format!("{at}/{n}"), found));
            }
            _ => {}
        }
    }
    let mut found = vec!["/unknown".to_owned(), "/payment/unknown".to_owned()];
    walk(&whole(), "", &mut found);
    found
}

fn holds(draft: &OrderDraft) {
    let reference = &draft.order_reference;
    assert!((1..=128).contains(&reference.chars().count()) && reference.trim() == reference);
    assert!((1..=64).contains(&draft.order_source.chars().count()));
    let payment = &draft.payment;
    assert!((1..=domain::Paise::REQUEST_MAX.get()).contains(&payment.delivery_fee_paise.get()));
    assert!(payment.cod_amount_paise.get() == 0 || payment.prepaid_amount_paise.get() == 0);
    assert!(
        domain::Phone::parse(&draft.customer.phone)
            .is_some_and(|phone| phone.as_str() == draft.customer.phone)
    );
    assert!(draft.delivery.address_line1.is_some() && draft.delivery.pincode.is_some());
    assert!(draft.package.items.len() <= 500 && draft.warnings.listed().len() <= Warnings::MAX + 1);
    let stored = json!([draft.customer, draft.delivery, draft.pickup, draft.package, payment, draft.notes]);
    // PostgreSQL stores no NUL in a text.
    assert!(
        !stored.to_string().contains("\\u0000")
            && !reference.contains('\0')
            && !draft.order_source.contains('\0')
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn any_value_anywhere_is_read_or_refused(place in prop::sample::select(places()), value in any_json()) {
        match read(&with(&place, value)) {
            Ok(draft) => holds(&draft),
            Err(InvalidOrder { field_errors, warnings }) => {
                prop_assert!(warnings.len() <= Warnings::MAX + 1);
                prop_assert!(!field_errors.is_empty() && field_errors.len() <= 100);
                prop_assert!(field_errors.iter().all(|error| !error.message.is_empty() && error.message.len() < 300));
            }
        }
    }
}
