//! Two persons of the operator and a business, with approvals switched on.

use serde_json::{Value, json};

use crate::client::{Answer, Client};
use crate::portal::Portal;
use crate::staff::person;

pub(crate) const APPROVALS: &str = "/v1/operator/approvals";
pub(crate) const BUSINESSES: &str = "/v1/operator/businesses";
pub(crate) const TRANSFER: &str = "trf_01ARZ3NDEKTSV4RRFFQ69G5FAV";

pub(crate) const ON: [(&str, &str); 4] = [
    ("WAYBILL_LIMITS__PER_ADDRESS", "false"),
    ("WAYBILL_APPROVALS__CREDITS_ABOVE_PAISE", "500"),
    ("WAYBILL_APPROVALS__LIFT_SUSPENSION", "true"),
    ("WAYBILL_APPROVALS__RESET_LINKS", "true"),
];

/// Two persons who may do everything, and a business.
pub(crate) struct Office {
    pub(crate) portal: Portal,
    pub(crate) business: String,
    pub(crate) asha: Client,
    pub(crate) ashas: String,
    pub(crate) ravi: Client,
    pub(crate) ravis: String,
}

impl Office {
    pub(crate) async fn open() -> Self {
        Self::at(Portal::with(&ON).await).await
    }

    pub(crate) async fn at(portal: Portal) -> Self {
        let business = portal.owner("owner@shop.example").await.business;
        let (asha, ashas) = person(&portal, "asha@carrier.example", "administrator").await;
        let (ravi, ravis) = person(&portal, "ravi@carrier.example", "administrator").await;
        Self { portal, business, asha, ashas, ravi, ravis }
    }

    pub(crate) fn path(&self, rest: &str) -> String {
        format!("{BUSINESSES}/{}{rest}", self.business)
    }

    pub(crate) fn wallet_call(&self) -> String {
        format!("POST /wallet/internal/wallets/{}/credits", self.business)
    }

    pub(crate) fn wallet_answers(&self, amount: i64, reference: &str) {
        self.portal.peers.answer(self.wallet_call(), 200, credited(amount, reference));
    }

    /// Asha requests a credit; the id of the request.
    pub(crate) async fn requested_credit(&mut self) -> String {
        let path = self.path("/wallet/credits");
        id_of(&self.asha.post(&path, credit(700)).await)
    }

    /// Asha requests a reset link for the owner; the id of the request.
    pub(crate) async fn requested_link(&mut self) -> String {
        let path = self.path("/password-resets");
        id_of(&self.asha.post(&path, json!({ "email": "owner@shop.example" })).await)
    }
}

/// The wallet's answer.
pub(crate) fn credited(amount: i64, reference: &str) -> Value {
    json!({
        "transferId": TRANSFER, "amountPaise": amount, "reference": reference, "balancePaise": amount,
        "owedPaise": 0, "createdAt": "2026-01-01T00:00:00Z", "alreadyCredited": false,
    })
}

pub(crate) fn credit(amount: i64) -> Value {
    json!({ "amountPaise": amount, "reference": "invoice-7" })
}

/// The id of a call that waits for an approval.
pub(crate) fn id_of(answer: &Answer) -> String {
    assert_eq!((answer.status, &answer.body["state"]), (202, &json!("pending")), "{answer:?}");
    answer.body["id"].as_str().unwrap().to_owned()
}

pub(crate) fn step(id: &str, step: &str) -> String {
    format!("{APPROVALS}/{id}/{step}")
}

pub(crate) async fn approve(by: &mut Client, id: &str) -> Answer {
    by.post(&step(id, "approve"), json!({})).await
}

pub(crate) async fn state(office: &Office, id: &str) -> Value {
    office.portal.operator().get(&format!("{APPROVALS}/{id}")).await.body["state"].clone()
}
