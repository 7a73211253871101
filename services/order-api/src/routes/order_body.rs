//! Reads and validates the body of an order (SPECIFICATION §2.1), and collects all field errors in one pass.

#[cfg(test)]
mod tests;

use domain::{Paise, PaymentType};
use serde_json::Value;
use web::{FieldErrors, Fields, TextRule, one_line};

use super::limits::{
    ADDRESS, ADDRESS_LINE, FULL_ADDRESS, ITEMS_MAX, NAME, NOTE, QUANTITY_MAX, REFERENCE, SOURCE,
    TOTAL_ITEMS_MAX, WEIGHT_KG_MAX,
};
use crate::commands::create_order::InvalidOrder;
use crate::domain::{
    Customer, Delivery, Item, Notes, OrderDraft, Package, Payment, Pickup, Place, Warnings, order_fields,
    warn_of_amounts, warn_of_place,
};

/// The draft, or all field errors with the warnings.
pub(super) fn read(body: &Value) -> Result<OrderDraft, InvalidOrder> {
    let field_errors = FieldErrors::default();
    let mut warnings = Warnings::default();
    match read_fields(body, &field_errors, &mut warnings) {
        Some(draft) if field_errors.is_empty() => Ok(OrderDraft { warnings, ..draft }),
        _ => Err(InvalidOrder { field_errors: field_errors.into_vec(), warnings: warnings.listed() }),
    }
}

/// The reference of a body that may be invalid otherwise.
pub(super) fn reference(body: &Value) -> Option<String> {
    let reference = REFERENCE.check(body.get("orderReference")?.as_str()?);
    reference.ok().flatten().map(str::to_owned)
}

/// `None` only with a field error. Reads all sections before it returns, to collect all errors.
fn read_fields(body: &Value, field_errors: &FieldErrors, warnings: &mut Warnings) -> Option<OrderDraft> {
    let fields = Fields::of_body(body, field_errors)?;
    warn_of_unknown(&fields, "", warnings);
    let order_reference = fields.required_text("orderReference", REFERENCE);
    let order_source = fields.optional_text("orderSource", SOURCE);
    let customer = fields.required_object("customer").and_then(|customer| read_customer(&customer, warnings));
    let delivery = fields.required_object("delivery").map(|delivery| read_delivery(&delivery, warnings));
    let pickup = fields.optional_object("pickup").map(|pickup| read_pickup(&pickup, warnings));
    let package = fields.optional_object("package").map(|package| read_package(&package, warnings));
    let payment = fields.required_object("payment").and_then(|payment| read_payment(&payment, warnings));
    let notes = fields.optional_object("notes").map(|notes| read_notes(&notes, warnings));
    Some(OrderDraft {
        order_reference: order_reference?,
        order_source: order_source.unwrap_or_else(|| "business_website".into()),
        customer: customer?,
        delivery: delivery?,
        pickup,
        package: package.unwrap_or_default(),
        payment: payment?,
        notes: notes.unwrap_or_default(),
        warnings: Warnings::default(),
    })
}

fn warn_of_unknown(fields: &Fields<'_>, section: &str, warnings: &mut Warnings) {
    for field in fields.unknown(&order_fields(section)) {
        warnings.add_unknown(&field);
    }
}

fn read_customer(fields: &Fields<'_>, warnings: &mut Warnings) -> Option<Customer> {
    warn_of_unknown(fields, "customer", warnings);
    let name = fields.required_text("name", NAME);
    let phone = fields.required_phone("phone");
    let email = fields.optional_email("email");
    Some(Customer { name: name?, phone: phone?, email })
}

/// A corrected address, by the rules of a new order's, but a misspelt field is refused: it would remove what it replaces.
pub(super) fn read_address(fields: &Fields<'_>) -> Delivery {
    fields.refuse_unknown(&order_fields("delivery"));
    read_delivery(fields, &mut Warnings::default())
}

fn read_delivery(fields: &Fields<'_>, warnings: &mut Warnings) -> Delivery {
    warn_of_unknown(fields, "delivery", warnings);
    let place = read_place(fields, &["addressLine1", "city", "state", "pincode"]);
    warn_of_readable_place("delivery", fields, &place, warnings);
    place
}

/// Skips coordinates with a field error: they are not missing.
fn warn_of_readable_place(path: &str, fields: &Fields<'_>, place: &Place, warnings: &mut Warnings) {
    let is_read = |name: &str, value: Option<f64>| fields.value(name).is_some() == value.is_some();
    if is_read("latitude", place.latitude) && is_read("longitude", place.longitude) {
        warn_of_place(path, place, warnings);
    }
}

fn read_place(fields: &Fields<'_>, required: &[&str]) -> Place {
    let text = |name: &str, rule: TextRule| match required.contains(&name) {
        true => fields.required_text(name, rule),
        false => fields.optional_text(name, rule),
    };
    Place {
        address_line1: text("addressLine1", ADDRESS_LINE).map(one_line),
        address_line2: text("addressLine2", ADDRESS_LINE).map(one_line),
        city: text("city", NAME),
        state: text("state", NAME),
        pincode: match required.contains(&"pincode") {
            true => fields.required_pincode("pincode"),
            false => fields.optional_pincode("pincode"),
        },
        landmark: text("landmark", ADDRESS),
        latitude: fields.optional_number("latitude", -90.0, 90.0),
        longitude: fields.optional_number("longitude", -180.0, 180.0),
        full_address: text("fullAddress", FULL_ADDRESS),
    }
}

fn read_pickup(fields: &Fields<'_>, warnings: &mut Warnings) -> Pickup {
    warn_of_unknown(fields, "pickup", warnings);
    let place = read_place(fields, &[]);
    warn_of_readable_place("pickup", fields, &place, warnings);
    Pickup {
        business_name: fields.optional_text("businessName", NAME),
        contact_name: fields.optional_text("contactName", NAME),
        phone: fields.optional_phone("phone"),
        place,
    }
}

fn read_package(fields: &Fields<'_>, warnings: &mut Warnings) -> Package {
    warn_of_unknown(fields, "package", warnings);
    let items: Vec<Item> = fields
        .optional_objects("items", ITEMS_MAX)
        .unwrap_or_default()
        .iter()
        .map(|item| {
            warn_of_unknown(item, "package.items", warnings);
            Item {
                name: item.optional_text("name", NAME),
                quantity: item.optional_integer("quantity", 1, QUANTITY_MAX),
                price_paise: item.optional_integer("pricePaise", 0, Paise::REQUEST_MAX.get()),
            }
        })
        .collect();
    let total_items = fields.optional_integer("totalItems", 0, TOTAL_ITEMS_MAX);
    // Cannot overflow: at most TOTAL_ITEMS_MAX, because both factors are bounded.
    let counted: i64 = items.iter().filter_map(|item| item.quantity).sum();
    if total_items.is_some_and(|total| !items.is_empty() && total != counted) {
        let message =
            format!("package.totalItems is not the sum of the items' quantities, which is {counted}.");
        warnings.add("package.totalItems", "total_items_mismatch", message);
    }
    Package {
        description: fields.optional_text("description", NOTE),
        items,
        total_items,
        weight_kg: fields.optional_number("weightKg", 0.0, WEIGHT_KG_MAX),
        fragile: fields.optional_boolean("fragile").unwrap_or_default(),
        special_instructions: fields.optional_text("specialInstructions", NOTE),
    }
}

fn read_payment(fields: &Fields<'_>, warnings: &mut Warnings) -> Option<Payment> {
    warn_of_unknown(fields, "payment", warnings);
    let max = Paise::REQUEST_MAX.get();
    let payment_type = fields.required_word::<PaymentType>("paymentType", "\"cod\" or \"prepaid\"");
    let delivery_fee = fields.required_integer("deliveryFeePaise", 1, max);
    let order_value = fields.optional_integer("orderValuePaise", 0, max);
    let cod_amount = fields.optional_integer("codAmountPaise", 0, max);
    let prepaid_amount = fields.optional_integer("prepaidAmountPaise", 0, max);
    if fields.value("currency").is_some_and(|currency| currency != "INR") {
        fields.reject("currency", "invalid_value", "payment.currency must be \"INR\".");
    }
    check_amounts(fields, payment_type, cod_amount, prepaid_amount);
    warn_of_amounts(
        &[
            ("payment.deliveryFeePaise", delivery_fee),
            ("payment.orderValuePaise", order_value),
            ("payment.codAmountPaise", cod_amount),
            ("payment.prepaidAmountPaise", prepaid_amount),
        ],
        warnings,
    );
    Some(Payment {
        payment_type: payment_type?,
        order_value_paise: order_value.map(Paise::new),
        delivery_fee_paise: Paise::new(delivery_fee?),
        cod_amount_paise: Paise::new(cod_amount.unwrap_or_default()),
        prepaid_amount_paise: Paise::new(prepaid_amount.unwrap_or_default()),
        currency: "INR",
    })
}

/// Cash is collected only for cod.
fn check_amounts(
    fields: &Fields<'_>,
    payment_type: Option<PaymentType>,
    cod_amount: Option<i64>,
    prepaid_amount: Option<i64>,
) {
    if payment_type == Some(PaymentType::Cod) && fields.value("codAmountPaise").is_none() {
        fields.reject(
            "codAmountPaise",
            "cod_amount_required",
            "payment.codAmountPaise is required with paymentType cod: it is the cash that the driver collects. Send 0 to \
             collect nothing.",
        );
    }
    match payment_type {
        Some(PaymentType::Cod) if prepaid_amount.is_some_and(|amount| amount != 0) => {
            fields.reject(
                "prepaidAmountPaise",
                "invalid_value",
                "payment.prepaidAmountPaise must be 0 for cod.",
            );
        }
        Some(PaymentType::Prepaid) if cod_amount.is_some_and(|amount| amount != 0) => {
            fields.reject("codAmountPaise", "invalid_value", "payment.codAmountPaise must be 0 for prepaid.");
        }
        _ => {}
    }
}

fn read_notes(fields: &Fields<'_>, warnings: &mut Warnings) -> Notes {
    warn_of_unknown(fields, "notes", warnings);
    Notes {
        customer_note: fields.optional_text("customerNote", NOTE),
        internal_note: fields.optional_text("internalNote", NOTE),
    }
}
