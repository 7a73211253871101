//! Warnings about probable mistakes, and consistency of payments.

use super::*;

#[test]
fn cash_is_collected_for_cod_alone() {
    refuses("/payment/prepaidAmountPaise", json!(1), "invalid_value");
    let prepaid = |cod: Value| {
        let mut body = with("/payment/paymentType", json!("prepaid"));
        body["payment"]["codAmountPaise"] = cod;
        body["payment"]["prepaidAmountPaise"] = json!(90_000);
        read(&body)
    };
    assert!(prepaid(json!(0)).is_ok() && prepaid(json!(null)).is_ok());
    let field_errors = prepaid(json!(1)).unwrap_err().field_errors;
    assert_eq!((&*field_errors[0].field, field_errors[0].code), ("payment.codAmountPaise", "invalid_value"));
    assert!(takes("/payment/codAmountPaise", json!(0)).warnings.listed().is_empty());
    refuses("/payment/codAmountPaise", json!(null), "cod_amount_required");
}

#[test]
fn an_error_suggests_the_field_for_a_misspelt_one() {
    let mut body = with("/payment/codAmountPaise", json!(null));
    body["payment"]["codAmount"] = json!(94_900);
    let InvalidOrder { field_errors, warnings } = read(&body).unwrap_err();
    assert_eq!((field_errors.len(), field_errors[0].code), (1, "cod_amount_required"));
    let message =
        "payment.codAmount is not a field of an order and was ignored. Did you mean `codAmountPaise`?";
    assert_eq!((warnings.len(), &*warnings[0].message), (1, message));
}

#[test]
fn probable_mistakes_cause_warnings() {
    let warned = |body: &Value| -> Vec<(String, &'static str)> {
        let warnings = read(body).unwrap().warnings.listed();
        warnings.into_iter().map(|warning| (warning.field, warning.code)).collect()
    };
    assert_eq!(
        warned(&with("/package/totalItems", json!(4))),
        [("package.totalItems".to_owned(), "total_items_mismatch")]
    );
    assert_eq!(
        warned(&with("/package/items/1/colour", json!("red"))),
        [("package.items[1].colour".to_owned(), "unknown_field")]
    );
    assert_eq!(
        warned(&with("/payment/deliveryFeePaise", json!(49))),
        [("payment.deliveryFeePaise".to_owned(), "amount_looks_like_rupees")]
    );
    assert_eq!(
        warned(&with("/delivery/pincode", json!("110001"))),
        [("delivery.pincode".to_owned(), "pincode_state_mismatch")]
    );
    assert_eq!(
        warned(&with("/pickup/longitude", json!(null))),
        [("pickup.longitude".to_owned(), "coordinate_missing")]
    );
    let many: serde_json::Map<_, _> = (0..5_000).map(|n| (format!("x{n}"), json!(n))).collect();
    assert_eq!(warned(&with("/notes", json!(many))).len(), Warnings::MAX + 1);
}

#[test]
fn an_invalid_coordinate_is_not_called_missing() {
    let refused = read(&with("/pickup/latitude", json!(120))).unwrap_err();
    assert_eq!((refused.field_errors.len(), &*refused.field_errors[0].field), (1, "pickup.latitude"));
    assert!(refused.warnings.is_empty());
}
