//! The attempts at a delivery: requests for another one, and their evidence.

use serde::{Deserialize, Serialize};

use super::{Answered, NewDelivery, null_as_default};

body! {
    /// Another attempt at a delivery that failed.
    NewReattempt {
        /// `2026-01-31`, in India; as soon as possible if left out.
        date: Option<String>,
        /// For the driver.
        note: Option<String>,
    }
    /// What is corrected: the phone, the whole address, or both.
    NewDeliveryDetails {
        phone: Option<String>,
        delivery: Option<NewDelivery>,
    }
    Reattempt {
        on: Option<String>,
        number: i64,
        note: Option<String>,
        fee_paise: i64,
        requested_at: String,
        requested_by: Option<String>,
    }
    /// The records of all attempts of an order, for disputes.
    OrderEvidence {
        order: EvidenceOrder,
        attempts: Vec<EvidenceAttempt>,
        /// Whether all hashes match.
        intact: bool,
        /// How to verify the hashes, in words.
        verification: String,
    }
    EvidenceOrder {
        id: String,
        order_reference: String,
        tracking_code: String,
        mode: String,
        status: String,
        created_at: String,
        personal_data_erased_at: Option<String>,
    }
    /// An attempt at a delivery. Some fields are `None` after an erasure of personal data.
    EvidenceAttempt {
        attempt: i64,
        event: String,
        sequence: i64,
        report_id: String,
        occurred_at: String,
        recorded_at: String,
        reason: Option<String>,
        reason_code: Option<String>,
        captured_at: Option<String>,
        place: Option<EvidencePlace>,
        recipient_name: Option<String>,
        recipient_relation: Option<String>,
        /// Whether the driver had the customer's code; `None` for a failed attempt, or when none was issued.
        code_verified: Option<bool>,
        photo: Option<Photo>,
        previous_hash: Option<String>,
        /// SHA-256 of `record`, in hex.
        hash: String,
        record: String,
        personal: Option<String>,
    }
    EvidencePlace {
        latitude: f64,
        longitude: f64,
    }
    /// A photo in the fleet's store.
    Photo {
        url: String,
        sha256: String,
    }
    /// The code that the customer tells the driver.
    DeliveryCode {
        delivery_code: String,
    }
}

impl Answered for OrderEvidence {
    fn is_complete(&self) -> bool {
        !self.order.id.is_empty()
    }
}

impl Answered for DeliveryCode {
    fn is_complete(&self) -> bool {
        !self.delivery_code.is_empty()
    }
}
