//! Schemas that are computed from the rules that requests are read by, so that the two cannot differ.

use std::sync::LazyLock;

use domain::schema::{id_pattern, open_words};
use domain::{
    Email, EventId, EventKind, FailureReason, KeyScope, OrderId, Paise, RecipientRelation, TrackingCode,
    is_invisible,
};
use serde_json::json;
use strum::VariantArray;
use utoipa::openapi::schema::{AnyOfBuilder, ArrayBuilder, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{KnownFormat, Ref, SchemaFormat};
use web::{PHONE_TEXT, PINCODE_TEXT, TextRule};

use crate::routes::limits::{
    ADDRESS, ADDRESS_LINE, DRIVER_NAME, DRIVER_PHONE, DRIVER_VEHICLE, FULL_ADDRESS, HASH_LENGTH, ITEMS_MAX,
    NAME, NOTE, PHOTO_URL, PHOTO_URL_BEGIN, QUANTITY_MAX, REASON, REFERENCE, REPORT_ID, SEARCH, SOURCE,
    TOTAL_ITEMS_MAX, WAIT_MAX_S, WEIGHT_KG_MAX,
};

/// Types that exist in the document only: each names a computed schema.
macro_rules! schemas {
    ($($name:ident = $schema:expr;)*) => {
        $(
            pub(super) struct $name;

            impl utoipa::PartialSchema for $name {
                fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                    $schema.into()
                }
            }

            impl utoipa::ToSchema for $name {
                fn name() -> std::borrow::Cow<'static, str> {
                    stringify!($name).into()
                }
            }
        )*
    };
}

schemas! {
    OrderReference = text(REFERENCE);
    SearchText = text(SEARCH);
    OrderSource = optional_text(SOURCE);
    Name = text(NAME);
    OptionalName = optional_text(NAME);
    Phone = format(string(), "phone").min_length(Some(1)).max_length(Some(PHONE_TEXT.max)).examples(["+919800000001"]);
    OptionalPhone = optional_form(format(string(), "phone"), PHONE_TEXT.max);
    OptionalEmail = optional_form(format(string(), "email"), Email::MAX);
    AddressLine = text(ADDRESS_LINE);
    OptionalAddressLine = optional_text(ADDRESS_LINE);
    OptionalLandmark = optional_text(ADDRESS);
    OptionalFullAddress = optional_text(FULL_ADDRESS);
    Pincode = pincode().max_length(Some(PINCODE_TEXT.max)).examples(["560038"]);
    OptionalPincode = optional_form(pincode(), PINCODE_TEXT.max);
    OptionalNote = optional_text(NOTE);
    NewItems = ArrayBuilder::new().items(Ref::from_schema_name("NewItem")).max_items(Some(ITEMS_MAX));
    Quantity = integer(1, QUANTITY_MAX);
    TotalItems = integer(0, TOTAL_ITEMS_MAX);
    WeightKg = ObjectBuilder::new().schema_type(Type::Number).minimum(Some(0.0)).maximum(Some(WEIGHT_KG_MAX));
    Prepaid = words(["prepaid"]);
    Cod = words(["cod"]);
    DeliveryFee = integer(1, Paise::REQUEST_MAX.get());
    Amount = integer(0, Paise::REQUEST_MAX.get());
    NoAmount = ObjectBuilder::new().schema_type(Type::Integer).enum_values(Some([0]));
    CancelReason = optional_text(REASON);
    SimulatedEvent = words(EventKind::of_progress().map(EventKind::as_str).chain(["auto"]));
    FleetEventId = text(REPORT_ID);
    Reason = text(REASON);
    FailureCode = words(FailureReason::words());
    OptionalReason = optional_text(REASON);
    DriverName = text(DRIVER_NAME);
    OptionalDriverPhone = optional_text(DRIVER_PHONE);
    OptionalVehicle = optional_text(DRIVER_VEHICLE);
    RecipientKind = words(RecipientRelation::words());
    ReportedCode = format(string().pattern(Some("^([0-9]{6})?$")), "delivery-code");
    PhotoUrl = format(string().pattern(Some(format!("^{PHOTO_URL_BEGIN}[!-~]+$"))), "photo-url").max_length(Some(PHOTO_URL.max));
    PhotoHash = string().pattern(Some(format!("^[0-9a-f]{{{HASH_LENGTH}}}$")));
    MoveKind = progress(|kind| {
        !matches!(kind, EventKind::OrderDelivered | EventKind::OrderFailed) && !kind.is_cash()
    });
    DeliveryKind = progress(|kind| kind == EventKind::OrderDelivered);
    FailureKind = progress(|kind| kind == EventKind::OrderFailed);
    CashKind = progress(EventKind::is_cash);
    OrderIdParameter = format(string().pattern(Some(id_pattern(OrderId::PREFIX))), "order-id");
    TrackingCodeParameter = format(string().pattern(Some(TrackingCode::PATTERN)), "tracking-code");
    EventIdParameter = format(string().pattern(Some(id_pattern(EventId::PREFIX))), "event-id");
    OrderCursor = format(string().max_length(Some(200)), "order-cursor");
    FleetCursor = format(string().max_length(Some(200)), "fleet-cursor");
    EventCursor = format(string().max_length(Some(200)), "event-cursor");
    TimelineCursor = format(string().max_length(Some(64)), "timeline-id");
    FeedKind = words(EventKind::of_orders().map(EventKind::as_str));
    WaitSeconds = integer(0, WAIT_MAX_S.cast_signed()).default(Some(json!(0)));
    IdempotencyKey = string()
        .min_length(Some(1))
        .max_length(Some(web::IDEMPOTENCY_KEY_MAX))
        .pattern(Some("^[!-~]([ -~]*[!-~])?$"));
    PageLimit = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(1))
        .maximum(Some(web::PAGE_LIMIT_MAX))
        .default(Some(json!(web::PAGE_LIMIT_DEFAULT)));
    ProgressKind = open_words(EventKind::of_progress().map(EventKind::as_str), "What can happen to a delivery and its cash.");
    RequiredScope = open_words(KeyScope::VARIANTS.iter().map(|scope| scope.as_str()), "What a key may do.");
    FaultCode = open_words(
        [
            "required",
            "invalid_type",
            "invalid_value",
            "invalid_format",
            "too_long",
            "out_of_range",
            "unknown_parameter",
            "conflicting_fields",
            "too_broad",
            "cod_amount_required",
        ],
        "For programs.",
    );
}

/// Character classes for patterns, each as the inside of a class of a regular expression.
struct Classes {
    /// The characters that `str::trim` removes.
    space: String,
    /// The characters that show nothing.
    invisible: String,
}

static CLASSES: LazyLock<Classes> =
    LazyLock::new(|| Classes { space: class(char::is_whitespace), invisible: class(is_invisible) });

/// Control characters, which a line must not contain.
const CONTROL: &str = r"\u0000-\u001f\u007f-\u009f";
/// The same without tab, line feed and carriage return.
const CONTROL_BUT_LINES: &str = r"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f";

/// The ranges of these characters within the basic plane: the dialects of regular expressions have no common escape for
/// characters beyond it. The parser therefore refuses more than the pattern.
fn class(is_meant: impl Fn(char) -> bool) -> String {
    let mut ranges: Vec<(char, char)> = Vec::new();
    for c in ('\0'..='\u{ffff}').filter(|c| is_meant(*c)) {
        match ranges.last_mut() {
            Some((_, end)) if u32::from(*end) + 1 == u32::from(c) => *end = c,
            _ => ranges.push((c, c)),
        }
    }
    let escaped = |c: char| format!("\\u{:04x}", u32::from(c));
    ranges.into_iter().map(|(begin, end)| format!("{}-{}", escaped(begin), escaped(end))).collect()
}

/// The characters that a rule refuses within a trimmed text.
fn refused(rule: TextRule) -> String {
    let control = if rule.lines { CONTROL_BUT_LINES } else { CONTROL };
    let invisible = if rule.code { CLASSES.invisible.as_str() } else { "" };
    format!("{control}{invisible}")
}

pub(super) fn string() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// A text that must hold more than spaces.
fn text(rule: TextRule) -> ObjectBuilder {
    let Classes { space, invisible } = &*CLASSES;
    let refused = refused(rule);
    let pattern = format!("^[{space}]*[^{refused}]*[^{refused}{space}{invisible}][^{refused}]*[{space}]*$");
    string().min_length(Some(1)).max_length(Some(rule.max)).pattern(Some(pattern))
}

/// A text that may be empty, which means that there is none.
fn optional_text(rule: TextRule) -> ObjectBuilder {
    let Classes { space, invisible } = &*CLASSES;
    let refused = refused(rule);
    let pattern = format!("^([{space}]*[^{refused}]*[{space}]*|[{space}{invisible}]*)$");
    string().max_length(Some(rule.max)).pattern(Some(pattern))
}

/// Six digits; the parser ignores white space around them, and spaces between them.
fn pincode() -> ObjectBuilder {
    let space = &CLASSES.space;
    string().pattern(Some(format!("^[{space}]*[1-9]([ \\u00a0]*[0-9]){{5}}[{space}]*$")))
}

/// A text of this form, or one that shows nothing.
fn optional_form(form: ObjectBuilder, max: usize) -> AnyOfBuilder {
    let Classes { space, invisible } = &*CLASSES;
    let empty = string().pattern(Some(format!("^[{space}{invisible}]*$")));
    let builder = AnyOfBuilder::new().schema_type(SchemaType::AnyValue);
    builder.item(form.max_length(Some(max))).item(empty.max_length(Some(max)))
}

fn integer(min: usize, max: i64) -> ObjectBuilder {
    let format = SchemaFormat::KnownFormat(KnownFormat::Int64);
    let max = usize::try_from(max).unwrap_or(usize::MAX);
    let builder = ObjectBuilder::new().schema_type(Type::Integer).format(Some(format));
    builder.minimum(Some(min)).maximum(Some(max))
}

/// One of a closed set of words.
pub(super) fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> ObjectBuilder {
    string().enum_values(Some(words))
}

fn progress(is_meant: impl Fn(EventKind) -> bool) -> ObjectBuilder {
    words(EventKind::of_progress().filter(|kind| is_meant(*kind)).map(EventKind::as_str))
}

/// A text of a format that the tests of the API know how to make.
fn format(builder: ObjectBuilder, name: &str) -> ObjectBuilder {
    builder.format(Some(SchemaFormat::Custom(name.to_owned())))
}
