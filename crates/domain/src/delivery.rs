//! The state machine of a delivery: which event moves it to which state, and in which states its fee is refunded.
//!
//! `created → driver_assigned → picked_up → out_for_delivery → delivered`, with `driver_assigned → created` when a
//! driver drops out, `cancelled` before the pickup, `failed` from any of the first four. A failure that came after the
//! pickup is followed by `returned`, or by another attempt: `failed → driver_assigned → out_for_delivery`. Cash on
//! delivery: `pending → collected → handed_over → settled`, after `delivered` only; `not_applicable` while the delivery
//! is cancelled, failed or returned.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::{EventKind, PaymentType};

/// The position of the parcel.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DeliveryStatus {
    Created,
    DriverAssigned,
    PickedUp,
    OutForDelivery,
    Delivered,
    Failed,
    Cancelled,
    Returned,
}

impl DeliveryStatus {
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The position of the cash.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum CodStatus {
    NotApplicable,
    Pending,
    Collected,
    HandedOver,
    Settled,
}

impl CodStatus {
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The state that decides which events are legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryState {
    pub status: DeliveryStatus,
    pub cod: CodStatus,
    /// Whether a driver ever had the parcel. Decides refunds, returns and further attempts.
    pub picked_up: bool,
    /// Decides whether another attempt collects cash.
    pub payment: PaymentType,
    /// The attempts that failed after the pickup.
    pub failed_attempts: u32,
}

/// A refused move, with the events that would be legal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{event} cannot happen while the delivery is {} and its cash is {}", from.status, from.cod)]
pub struct IllegalMove {
    pub event: EventKind,
    pub from: DeliveryState,
    pub legal: Vec<EventKind>,
}

impl DeliveryState {
    /// The attempts at a delivery, unless the operator sets another number.
    pub const ATTEMPTS_MAX_DEFAULT: u32 = 3;

    /// The state of a new order.
    pub fn new(payment: PaymentType) -> Self {
        let (status, cod) = (DeliveryStatus::Created, cash_at_first(payment));
        Self { status, cod, picked_up: false, payment, failed_attempts: 0 }
    }

    /// The state after `event`, for an operator who makes at most `attempts_max` attempts.
    ///
    /// # Errors
    /// When the event is illegal in this state.
    pub fn apply(self, event: EventKind, attempts_max: u32) -> Result<Self, IllegalMove> {
        self.next(event, attempts_max).ok_or_else(|| IllegalMove {
            event,
            from: self,
            legal: self.legal(attempts_max),
        })
    }

    /// The events that are legal in this state.
    pub fn legal(self, attempts_max: u32) -> Vec<EventKind> {
        let is_legal = |event: &EventKind| self.next(*event, attempts_max).is_some();
        EventKind::VARIANTS.iter().copied().filter(is_legal).collect()
    }

    /// Whether the delivery ended before a driver had the parcel, so that the business gets its fee back.
    pub fn refund_due(self) -> bool {
        match self.status {
            DeliveryStatus::Cancelled => true,
            DeliveryStatus::Failed => !self.picked_up,
            _ => false,
        }
    }

    /// Whether the parcel moves no more. The cash may still move.
    pub fn is_completed(self) -> bool {
        match self.status {
            DeliveryStatus::Delivered | DeliveryStatus::Cancelled | DeliveryStatus::Returned => true,
            // A failed delivery that was picked up is attempted again or returned.
            DeliveryStatus::Failed => !self.picked_up,
            _ => false,
        }
    }

    /// Whether the business may still cancel (before the pickup).
    pub fn can_be_cancelled(self) -> bool {
        matches!(self.status, DeliveryStatus::Created | DeliveryStatus::DriverAssigned) && !self.picked_up
    }

    /// Whether the parcel is with the fleet after a failed attempt: it is attempted again, or returned.
    pub fn awaits_decision(self) -> bool {
        self.status == DeliveryStatus::Failed && self.picked_up
    }

    /// Whether another attempt may follow.
    pub fn can_be_reattempted(self, attempts_max: u32) -> bool {
        // Release 1.0.0 counted no failure, and this one is at least the first.
        self.awaits_decision() && self.failed_attempts.max(1) < attempts_max
    }

    fn next(self, event: EventKind, attempts_max: u32) -> Option<Self> {
        use DeliveryStatus as S;
        use EventKind as E;
        let moved = |status| Some(Self { status, ..self });
        let ended = |status| Some(Self { status, cod: CodStatus::NotApplicable, ..self });
        let cash = |cod| Some(Self { cod, ..self });
        match (event, self.status) {
            (E::DriverAssigned, S::Created) => moved(S::DriverAssigned),
            (E::DriverAssigned, S::Failed) if self.can_be_reattempted(attempts_max) => {
                // Release 1.0 did not count the first failure.
                let failed_attempts = self.failed_attempts.max(1);
                Some(Self {
                    status: S::DriverAssigned,
                    cod: cash_at_first(self.payment),
                    failed_attempts,
                    ..self
                })
            }
            // The fleet has the parcel still.
            (E::DriverUnassigned, S::DriverAssigned) if self.picked_up => ended(S::Failed),
            (E::DriverUnassigned, S::DriverAssigned) => moved(S::Created),
            (E::OrderPickedUp, S::DriverAssigned) => {
                Some(Self { status: S::PickedUp, picked_up: true, ..self })
            }
            (E::OrderOutForDelivery, S::PickedUp) => moved(S::OutForDelivery),
            (E::OrderOutForDelivery, S::DriverAssigned) if self.picked_up => moved(S::OutForDelivery),
            (E::OrderDelivered, S::OutForDelivery) => moved(S::Delivered),
            (E::OrderFailed, S::Created | S::DriverAssigned | S::PickedUp | S::OutForDelivery) => {
                let failed_attempts = self.failed_attempts.saturating_add(self.picked_up.into());
                ended(S::Failed).map(|failed| Self { failed_attempts, ..failed })
            }
            (E::OrderCancelled, _) if self.can_be_cancelled() => ended(S::Cancelled),
            (E::OrderReturned, _) if self.awaits_decision() => ended(S::Returned),
            (E::CodCollected, S::Delivered) if self.cod == CodStatus::Pending => cash(CodStatus::Collected),
            (E::CodHandedOver, S::Delivered) if self.cod == CodStatus::Collected => {
                cash(CodStatus::HandedOver)
            }
            (E::CodSettled, S::Delivered) if self.cod == CodStatus::HandedOver => cash(CodStatus::Settled),
            _ => None,
        }
    }
}

/// The cash of an order whose delivery begins.
fn cash_at_first(payment: PaymentType) -> CodStatus {
    match payment {
        PaymentType::Cod => CodStatus::Pending,
        PaymentType::Prepaid => CodStatus::NotApplicable,
    }
}
