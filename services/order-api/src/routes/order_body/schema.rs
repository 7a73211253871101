//! The schema of an order's body, from the bounds that validation uses.

use domain::Paise;

use super::{
    ADDRESS, ADDRESS_LINE, FULL_ADDRESS, ITEMS_MAX, NAME, NOTE, PINCODE, QUANTITY_MAX, REFERENCE, SOURCE,
    TOTAL_ITEMS_MAX, WEIGHT_KG_MAX,
};
use crate::routes::openapi::ordered::{Json, object};
use crate::routes::openapi::schema::{
    integer, nullable, optional_form, optional_integer, optional_number, optional_paise, optional_text,
    pincode_pattern, reference, text, with_required, words,
};

const EMAIL_MAX: usize = 254;
const PHONE_MAX: usize = 40;

/// The schemas by name, the one of the body first.
pub(in crate::routes) fn schemas() -> Vec<(&'static str, Json)> {
    vec![
        ("NewOrder", order()),
        ("NewCustomer", customer()),
        ("NewDelivery", delivery()),
        ("NewPickup", pickup()),
        ("NewPackage", package()),
        ("NewItem", item()),
        ("NewPayment", payment()),
        ("NewCodPayment", cod_payment()),
        ("NewPrepaidPayment", prepaid_payment()),
        ("NewNotes", notes()),
    ]
}

fn order() -> Json {
    with_required(
        "One confirmed order, to be delivered. Optional fields are sent as null or left out; unknown fields are \
         ignored, with a warning in the answer that names the nearest known field.",
        &["orderReference", "customer", "delivery", "payment"],
        [
            (
                "orderReference",
                text(
                    REFERENCE,
                    "Your stable, unique id of the order. A second order with the same reference is refused with 409.",
                ),
            ),
            (
                "orderSource",
                optional_text(SOURCE, "Where the order was placed; `business_website` when left out."),
            ),
            ("customer", reference("NewCustomer")),
            ("delivery", reference("NewDelivery")),
            ("pickup", nullable(reference("NewPickup"))),
            ("package", nullable(reference("NewPackage"))),
            ("payment", reference("NewPayment")),
            ("notes", nullable(reference("NewNotes"))),
        ],
    )
}

fn customer() -> Json {
    let phone = object! {
        "type": "string",
        "format": "phone",
        "description": "Phone number with country code: `+`, then digits, which spaces, hyphens, dots and brackets \
                        may part.",
        "minLength": 1,
        "maxLength": PHONE_MAX,
        "examples": ["+919800000001"],
    };
    let email = object! { "format": "email" };
    with_required(
        "Who receives the parcel.",
        &["name", "phone"],
        [
            ("name", text(NAME, "As the driver should ask for them.")),
            ("phone", phone),
            ("email", optional_form(email, EMAIL_MAX, "E-mail address.")),
        ],
    )
}

fn delivery() -> Json {
    let pincode = object! {
        "type": "string",
        "description": "India's six-digit PIN code; spaces are ignored.",
        "maxLength": PINCODE.max,
        "pattern": pincode_pattern(),
        "examples": ["560038"],
    };
    let required = ["addressLine1", "city", "state", "pincode"];
    let [latitude, longitude] = coordinates();
    with_required(
        "Where the parcel goes.",
        &required,
        [
            ("addressLine1", text(ADDRESS_LINE, "House and street.")),
            ("addressLine2", optional_text(ADDRESS_LINE, "Floor, flat, company.")),
            ("city", text(NAME, "City or town.")),
            ("state", text(NAME, "State or union territory.")),
            ("pincode", pincode),
            ("landmark", optional_text(ADDRESS, "What the driver will see nearby.")),
            latitude,
            longitude,
            ("fullAddress", optional_text(FULL_ADDRESS, "The whole address as one text.")),
        ],
    )
}

fn coordinates() -> [(&'static str, Json); 2] {
    [
        ("latitude", optional_number(-90.0, 90.0, "In degrees, WGS 84.")),
        ("longitude", optional_number(-180.0, 180.0, "In degrees, WGS 84.")),
    ]
}

fn pickup() -> Json {
    let pincode = object! { "pattern": pincode_pattern() };
    let phone = object! { "format": "phone" };
    let [latitude, longitude] = coordinates();
    with_required(
        "Where the parcel is fetched. What is left out comes from your pickup profile; the address is taken whole from \
         one of the two.",
        &[],
        [
            ("businessName", optional_text(NAME, "The name at the door.")),
            ("contactName", optional_text(NAME, "Whom the driver asks for.")),
            ("phone", optional_form(phone, PHONE_MAX, "Phone number with country code.")),
            ("addressLine1", optional_text(ADDRESS_LINE, "House and street.")),
            ("addressLine2", optional_text(ADDRESS_LINE, "Floor, unit.")),
            ("city", optional_text(NAME, "City or town.")),
            ("state", optional_text(NAME, "State or union territory.")),
            ("pincode", optional_form(pincode, PINCODE.max, "India's six-digit PIN code.")),
            ("landmark", optional_text(ADDRESS, "What the driver will see nearby.")),
            latitude,
            longitude,
            ("fullAddress", optional_text(FULL_ADDRESS, "The whole address as one text.")),
        ],
    )
}

fn package() -> Json {
    let items = object! {
        "type": ["array", "null"],
        "description": "What is in the parcel.",
        "maxItems": ITEMS_MAX,
        "items": reference("NewItem"),
    };
    let fragile = object! {
        "type": ["boolean", "null"], "description": "Whether it must be handled with care; false when left out.",
    };
    let total = "How many pieces; a warning is given where it is not the sum of the items' quantities.";
    with_required(
        "What is delivered.",
        &[],
        [
            ("description", optional_text(NOTE, "In a few words.")),
            ("items", items),
            ("totalItems", optional_integer(0, TOTAL_ITEMS_MAX, total)),
            ("weightKg", optional_number(0.0, WEIGHT_KG_MAX, "Weight in kilograms.")),
            ("fragile", fragile),
            ("specialInstructions", optional_text(NOTE, "For the driver.")),
        ],
    )
}

fn item() -> Json {
    with_required(
        "One line of the order.",
        &[],
        [
            ("name", optional_text(NAME, "What it is.")),
            ("quantity", optional_integer(1, QUANTITY_MAX, "How many.")),
            ("pricePaise", optional_paise("Price of one, in paise.")),
        ],
    )
}

fn payment() -> Json {
    object! {
        "description": "Who pays what. All amounts are whole paise: 4900 is ₹49.",
        "oneOf": [reference("NewPrepaidPayment"), reference("NewCodPayment")],
        "discriminator": object! {
            "propertyName": "paymentType",
            "mapping": object! {
                "prepaid": "#/components/schemas/NewPrepaidPayment",
                "cod": "#/components/schemas/NewCodPayment",
            },
        },
    }
}

fn zero(description: &str) -> Json {
    object! { "type": ["integer", "null"], "description": description, "enum": [Json::from(0), Json::Null] }
}

fn prepaid_payment() -> Json {
    let collected = "What you have collected already.";
    payment_of(
        "prepaid",
        "The customer has paid you.",
        &["paymentType", "deliveryFeePaise"],
        zero("Nothing is collected at the door: 0."),
        optional_paise(collected),
    )
}

fn cod_payment() -> Json {
    let cash = "The exact cash that the driver must collect, with the delivery fee if your checkout total includes it; 0 \
                for none.";
    payment_of(
        "cod",
        "The customer pays cash at the door.",
        &["paymentType", "deliveryFeePaise", "codAmountPaise"],
        integer(0, Paise::REQUEST_MAX.get(), cash),
        zero("Nothing was paid before: 0."),
    )
}

fn payment_of(
    kind: &str,
    description: &str,
    required: &[&str],
    cod_amount: Json,
    prepaid_amount: Json,
) -> Json {
    let currency = object! {
        "type": ["string", "null"], "description": "Always `INR`.", "enum": [Json::from("INR"), Json::Null],
    };
    let fee = "The delivery fee that you decided on; a live order takes it from your wallet.";
    with_required(
        description,
        required,
        [
            ("paymentType", words([kind], "How the customer pays you.")),
            ("deliveryFeePaise", integer(1, Paise::REQUEST_MAX.get(), fee)),
            ("orderValuePaise", optional_paise("Value of the order.")),
            ("codAmountPaise", cod_amount),
            ("prepaidAmountPaise", prepaid_amount),
            ("currency", currency),
        ],
    )
}

fn notes() -> Json {
    with_required(
        "",
        &[],
        [
            ("customerNote", optional_text(NOTE, "From the customer; the driver sees it.")),
            ("internalNote", optional_text(NOTE, "For yourself; nobody else sees it.")),
        ],
    )
}
