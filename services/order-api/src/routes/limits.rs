//! The limits of bodies and parameters, for their parsers and for the OpenAPI document.

use web::TextRule;

pub(super) const REFERENCE: TextRule = TextRule::code(128);
pub(super) const SOURCE: TextRule = TextRule::code(64);
pub(super) const NAME: TextRule = TextRule::line(200);
pub(super) const ADDRESS: TextRule = TextRule::line(300);
/// Line breaks become spaces: forms and exports put them between house and street.
pub(super) const ADDRESS_LINE: TextRule = TextRule::lines(300);
pub(super) const FULL_ADDRESS: TextRule = TextRule::lines(1_000);
pub(super) const NOTE: TextRule = TextRule::lines(1_000);
pub(super) const ITEMS_MAX: usize = 500;
pub(super) const QUANTITY_MAX: i64 = 1_000_000;
pub(super) const TOTAL_ITEMS_MAX: i64 = QUANTITY_MAX * ITEMS_MAX as i64;
pub(super) const WEIGHT_KG_MAX: f64 = 10_000.0;

/// A search text, in any case and spelling.
pub(super) const SEARCH: TextRule = TextRule::line(200);

/// Why an order was cancelled, failed or returned.
pub(super) const REASON: TextRule = TextRule::lines(1_000);
/// The fleet's id of a report.
pub(super) const REPORT_ID: TextRule = TextRule::code(128);
pub(super) const DRIVER_NAME: TextRule = TextRule::line(200);
pub(super) const DRIVER_PHONE: TextRule = TextRule::line(40);
pub(super) const DRIVER_VEHICLE: TextRule = TextRule::line(100);

/// The link to a photo of an attempt.
pub(super) const PHOTO_URL: TextRule = TextRule::code(512);
pub(super) const PHOTO_URL_BEGIN: &str = "https://";
/// Of a SHA-256 in hex.
pub(super) const HASH_LENGTH: usize = 64;

/// How long a call may wait for the first event.
pub(super) const WAIT_MAX_S: u64 = 25;
