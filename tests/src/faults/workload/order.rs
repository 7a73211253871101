//! An order as its callers know it.

use anyhow::ensure;
use demo::clients::Reply;
use domain::Entropy;
use serde_json::{Value, json};

use crate::smallest_order;

/// How an order's delivery ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Waits,
    Cancelled,
    FailsBeforePickup,
    FailsAfterPickup,
    Delivered,
}

impl Fate {
    pub(super) fn draw(chance: &Entropy) -> Self {
        match chance.below(20) {
            0..=4 => Self::Cancelled,
            5..=7 => Self::FailsBeforePickup,
            8 | 9 => Self::FailsAfterPickup,
            10..=13 => Self::Delivered,
            _ => Self::Waits,
        }
    }

    /// The fleet's reports.
    pub(super) fn reports(self) -> &'static [&'static str] {
        match self {
            Self::Waits | Self::Cancelled => &[],
            Self::FailsBeforePickup => &["driver.assigned", "order.failed"],
            Self::FailsAfterPickup => &["driver.assigned", "order.picked_up", "order.failed"],
            Self::Delivered => &[
                "driver.assigned",
                "order.picked_up",
                "order.out_for_delivery",
                "order.delivered",
                "cod.collected",
                "cod.handed_over",
            ],
        }
    }

    /// The final status of the delivery.
    pub(crate) fn status(self) -> &'static str {
        match self {
            Self::Waits => "created",
            Self::Cancelled => "cancelled",
            Self::FailsBeforePickup | Self::FailsAfterPickup => "failed",
            Self::Delivered => "delivered",
        }
    }

    pub(crate) fn gives_the_fee_back(self) -> bool {
        matches!(self, Self::Cancelled | Self::FailsBeforePickup)
    }
}

/// An order as its shop knows it.
#[derive(Clone, Debug)]
pub(crate) struct OrderStory {
    pub(crate) reference: String,
    pub(crate) key: String,
    pub(crate) body: Value,
    pub(crate) fee: i64,
    pub(crate) cash: i64,
    /// The body of its 201 response; all replays must equal it.
    pub(crate) receipt: Option<String>,
    /// The final response, if it was a refusal.
    pub(crate) refused: Option<u16>,
    /// A request has an unknown outcome, so a refusal is not final.
    pub(crate) was_left: bool,
    pub(crate) fate: Fate,
    /// A remittance paid its cash out.
    pub(crate) paid_out: bool,
}

impl OrderStory {
    pub(super) fn begin(reference: &str, chance: &Entropy) -> Self {
        let fee = i64::from(100 + chance.below(9_900));
        let cash = i64::from(10_000 + chance.below(90_000));
        let mut body = smallest_order(reference);
        body["payment"] = json!({ "paymentType": "cod", "deliveryFeePaise": fee, "codAmountPaise": cash });
        Self {
            reference: reference.to_owned(),
            key: format!("key-{reference}"),
            body,
            fee,
            cash,
            receipt: None,
            refused: None,
            was_left: false,
            fate: Fate::Waits,
            paid_out: false,
        }
    }

    /// Records a response, and whether an earlier request was lost. After a success, every further response must be the
    /// same success.
    pub(crate) fn note(&mut self, reply: Reply, lost: bool) -> anyhow::Result<()> {
        let status = reply.status.as_u16();
        // An invalid key says nothing about the order, which an earlier request may still place.
        self.was_left |= lost || status == 401;
        if let Some(receipt) = &self.receipt {
            ensure!(status == 201 && *receipt == reply.text, "a replay says {status} {}", reply.text);
        } else if status == 201 {
            self.receipt = Some(reply.text);
            self.refused = None;
        } else {
            ensure!(matches!(status, 401..=403), "an order is answered with {status}: {}", reply.text);
            self.refused = Some(status);
        }
        Ok(())
    }

    /// The order id in the response.
    pub(crate) fn id(&self) -> Option<String> {
        let receipt: Value = serde_json::from_str(self.receipt.as_deref()?).ok()?;
        receipt["id"].as_str().map(str::to_owned)
    }
}
