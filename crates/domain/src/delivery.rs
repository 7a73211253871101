//! The state machine of a delivery: which event moves it to which state, and whether the move causes a refund.
//!
//! `created → driver_assigned → picked_up → out_for_delivery → delivered`, with `driver_assigned → created` when a
//! driver drops out, `cancelled` before the pickup, `failed` from any of the first four, `returned` after a failure
//! that came after the pickup. Cash on delivery: `pending → collected → handed_over → settled`, after `delivered` only;
//! `not_applicable` once the delivery is cancelled, failed or returned.

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
    /// Whether a driver ever had the parcel. Decides refunds and returns.
    pub picked_up: bool,
}

/// An accepted move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    pub to: DeliveryState,
    /// The delivery ended before a driver had the parcel, so the business gets its fee back.
    pub refund_due: bool,
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
    /// The state of a new order.
    pub fn new(payment: PaymentType) -> Self {
        let cod = match payment {
            PaymentType::Cod => CodStatus::Pending,
            PaymentType::Prepaid => CodStatus::NotApplicable,
        };
        Self { status: DeliveryStatus::Created, cod, picked_up: false }
    }

    /// Reads a stored state. Earlier releases kept the cash `pending` when a delivery ended without payment.
    pub fn stored(status: DeliveryStatus, cod: CodStatus, picked_up: bool) -> Self {
        use DeliveryStatus::{Cancelled, Failed, Returned};
        let is_over = matches!(status, Cancelled | Failed | Returned);
        Self { status, cod: if is_over { CodStatus::NotApplicable } else { cod }, picked_up }
    }

    /// The move that `event` causes.
    ///
    /// # Errors
    /// When the event is illegal in this state.
    pub fn apply(self, event: EventKind) -> Result<Move, IllegalMove> {
        self.next(event).ok_or_else(|| IllegalMove { event, from: self, legal: self.legal() })
    }

    /// The events that are legal in this state.
    pub fn legal(self) -> Vec<EventKind> {
        EventKind::VARIANTS.iter().copied().filter(|event| self.next(*event).is_some()).collect()
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
            // A failed delivery that was picked up must still be returned.
            DeliveryStatus::Failed => !self.picked_up,
            _ => false,
        }
    }

    /// Whether the business may still cancel (before the pickup).
    pub fn can_be_cancelled(self) -> bool {
        self.next(EventKind::OrderCancelled).is_some()
    }

    fn next(self, event: EventKind) -> Option<Move> {
        use DeliveryStatus as S;
        use EventKind as E;
        let moved = |status| Some(Move { to: Self { status, ..self }, refund_due: false });
        let ended = |status, refund_due| {
            Some(Move { to: Self { status, cod: CodStatus::NotApplicable, ..self }, refund_due })
        };
        let cash = |cod| Some(Move { to: Self { cod, ..self }, refund_due: false });
        match (event, self.status) {
            (E::DriverAssigned, S::Created) => moved(S::DriverAssigned),
            (E::DriverUnassigned, S::DriverAssigned) => moved(S::Created),
            (E::OrderPickedUp, S::DriverAssigned) => {
                Some(Move { to: Self { status: S::PickedUp, picked_up: true, ..self }, refund_due: false })
            }
            (E::OrderOutForDelivery, S::PickedUp) => moved(S::OutForDelivery),
            (E::OrderDelivered, S::OutForDelivery) => moved(S::Delivered),
            (E::OrderFailed, S::Created | S::DriverAssigned | S::PickedUp | S::OutForDelivery) => {
                ended(S::Failed, !self.picked_up)
            }
            (E::OrderCancelled, S::Created | S::DriverAssigned) => ended(S::Cancelled, true),
            (E::OrderReturned, S::Failed) if self.picked_up => ended(S::Returned, false),
            (E::CodCollected, S::Delivered) if self.cod == CodStatus::Pending => cash(CodStatus::Collected),
            (E::CodHandedOver, S::Delivered) if self.cod == CodStatus::Collected => {
                cash(CodStatus::HandedOver)
            }
            (E::CodSettled, S::Delivered) if self.cod == CodStatus::HandedOver => cash(CodStatus::Settled),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drive(payment: PaymentType, events: &[EventKind]) -> Result<Move, IllegalMove> {
        let start = Move { to: DeliveryState::new(payment), refund_due: false };
        events.iter().try_fold(start, |at, event| at.to.apply(*event))
    }

    use EventKind::*;

    #[test]
    fn a_cod_delivery_passes_all_states() {
        let way = [
            DriverAssigned,
            DriverUnassigned,
            DriverAssigned,
            OrderPickedUp,
            OrderOutForDelivery,
            OrderDelivered,
            CodCollected,
            CodHandedOver,
            CodSettled,
        ];
        let end = drive(PaymentType::Cod, &way).unwrap().to;
        assert_eq!((end.status, end.cod), (DeliveryStatus::Delivered, CodStatus::Settled));
        assert!(end.legal().is_empty());
    }

    #[test]
    fn a_prepaid_delivery_has_no_cash_to_collect() {
        let way = [DriverAssigned, OrderPickedUp, OrderOutForDelivery, OrderDelivered];
        let refused = drive(PaymentType::Prepaid, &[&way[..], &[CodCollected]].concat()).unwrap_err();
        assert_eq!((refused.event, refused.legal), (CodCollected, vec![]));
    }

    #[test]
    fn only_an_end_before_the_pickup_refunds() {
        for (way, refund) in [
            (&[OrderCancelled][..], true),
            (&[DriverAssigned, OrderCancelled], true),
            (&[OrderFailed], true),
            (&[DriverAssigned, OrderFailed], true),
            (&[DriverAssigned, OrderPickedUp, OrderFailed], false),
            (&[DriverAssigned, OrderPickedUp, OrderOutForDelivery, OrderFailed], false),
        ] {
            assert_eq!(drive(PaymentType::Prepaid, way).unwrap().refund_due, refund, "{way:?}");
        }
    }

    #[test]
    fn nothing_is_cancelled_after_the_pickup_and_only_failures_after_it_are_returned() {
        assert!(drive(PaymentType::Prepaid, &[DriverAssigned, OrderPickedUp, OrderCancelled]).is_err());
        assert!(drive(PaymentType::Prepaid, &[OrderFailed, OrderReturned]).is_err());
        let returned =
            drive(PaymentType::Prepaid, &[DriverAssigned, OrderPickedUp, OrderFailed, OrderReturned]);
        assert_eq!(returned.unwrap().to.status, DeliveryStatus::Returned);
    }

    #[test]
    fn a_refusal_names_the_legal_events() {
        let refused = drive(PaymentType::Prepaid, &[OrderDelivered]).unwrap_err();
        assert_eq!(refused.legal, [DriverAssigned, OrderFailed, OrderCancelled]);
    }

    /// All moves of SPECIFICATION §12. Any other move is refused in every state.
    #[test]
    fn only_the_specified_moves_are_legal() {
        use DeliveryStatus as S;
        let legal = |from: DeliveryState, event: EventKind| {
            let moved = |to: S| Some((to, from.cod));
            let ended = |to: S| Some((to, CodStatus::NotApplicable));
            let cash = |wanted: CodStatus, to: CodStatus| {
                (from.status == S::Delivered && from.cod == wanted).then_some((S::Delivered, to))
            };
            match event {
                DriverAssigned if from.status == S::Created => moved(S::DriverAssigned),
                DriverUnassigned if from.status == S::DriverAssigned => moved(S::Created),
                OrderPickedUp if from.status == S::DriverAssigned => moved(S::PickedUp),
                OrderOutForDelivery if from.status == S::PickedUp => moved(S::OutForDelivery),
                OrderDelivered if from.status == S::OutForDelivery => moved(S::Delivered),
                OrderCancelled if [S::Created, S::DriverAssigned].contains(&from.status) => {
                    ended(S::Cancelled)
                }
                OrderFailed if (from.status as u8) < S::Delivered as u8 => ended(S::Failed),
                OrderReturned if from.status == S::Failed && from.picked_up => ended(S::Returned),
                CodCollected => cash(CodStatus::Pending, CodStatus::Collected),
                CodHandedOver => cash(CodStatus::Collected, CodStatus::HandedOver),
                CodSettled => cash(CodStatus::HandedOver, CodStatus::Settled),
                _ => None,
            }
        };
        for (status, cod, picked_up) in S::VARIANTS.iter().flat_map(|status| {
            CodStatus::VARIANTS
                .iter()
                .flat_map(|cod| [false, true].map(|picked_up| (*status, *cod, picked_up)))
        }) {
            let from = DeliveryState { status, cod, picked_up };
            for event in EventKind::VARIANTS {
                let wanted = legal(from, *event);
                let went = from.apply(*event);
                assert_eq!(
                    went.as_ref().ok().map(|went| (went.to.status, went.to.cod)),
                    wanted,
                    "{event}: {from:?}"
                );
                match went {
                    Ok(went) => {
                        assert_eq!(went.to.picked_up, picked_up || *event == OrderPickedUp);
                        let ends = matches!(event, OrderCancelled) || (*event == OrderFailed && !picked_up);
                        assert_eq!(went.refund_due, ends, "{event}: {from:?}");
                    }
                    Err(refused) => {
                        assert_eq!((refused.from, refused.event), (from, *event));
                        assert_eq!(refused.legal, from.legal());
                    }
                }
            }
            let can = |event: &&EventKind| legal(from, **event).is_some();
            assert_eq!(from.legal(), EventKind::VARIANTS.iter().filter(can).copied().collect::<Vec<_>>());
            assert_eq!(from.can_be_cancelled(), legal(from, OrderCancelled).is_some());
            assert_eq!(from.is_completed(), from.legal().iter().all(|event| event.is_cash()), "{from:?}");
            let ended_early = status == S::Cancelled || (status == S::Failed && !picked_up);
            assert_eq!(from.refund_due(), ended_early, "{from:?}");
        }
    }

    #[test]
    fn a_stored_delivery_that_ended_without_payment_expects_no_cash() {
        use DeliveryStatus as S;
        for (status, cod) in [
            (S::Cancelled, CodStatus::NotApplicable),
            (S::Failed, CodStatus::NotApplicable),
            (S::Returned, CodStatus::NotApplicable),
            (S::OutForDelivery, CodStatus::Pending),
            (S::Delivered, CodStatus::Pending),
        ] {
            assert_eq!(DeliveryState::stored(status, CodStatus::Pending, true).cod, cod, "{status}");
        }
    }

    #[test]
    fn a_new_delivery_waits_for_a_driver_and_for_its_cash() {
        for (payment, cod) in
            [(PaymentType::Cod, CodStatus::Pending), (PaymentType::Prepaid, CodStatus::NotApplicable)]
        {
            let new = DeliveryState { status: DeliveryStatus::Created, cod, picked_up: false };
            assert_eq!(DeliveryState::new(payment), new);
        }
    }

    #[test]
    fn states_have_the_same_name_in_json_and_text() {
        for status in DeliveryStatus::VARIANTS {
            assert_eq!(serde_json::to_string(status).unwrap(), format!("\"{}\"", status.as_str()));
        }
        for cod in CodStatus::VARIANTS {
            assert_eq!(serde_json::to_string(cod).unwrap(), format!("\"{}\"", cod.as_str()));
        }
    }

    proptest! {
        /// For any sequence of reports: at most one refund, cash moves only after delivery and never backwards, and a
        /// finished delivery stays finished.
        #[test]
        fn any_sequence_of_reports_keeps_the_rules(
            cod in any::<bool>(),
            picks in proptest::collection::vec(0..EventKind::VARIANTS.len(), 0..60),
        ) {
            let payment = if cod { PaymentType::Cod } else { PaymentType::Prepaid };
            let mut state = DeliveryState::new(payment);
            let mut refunds = 0;
            for pick in picks {
                let before = state;
                let event = EventKind::VARIANTS[pick];
                let Ok(moved) = state.apply(event) else { continue };
                state = moved.to;
                refunds += u32::from(moved.refund_due);
                prop_assert!(event.is_progress());
                prop_assert!(state != before);
                prop_assert!(!before.picked_up || state.picked_up);
                prop_assert_eq!(DeliveryState::stored(state.status, state.cod, state.picked_up), state);
                let is_over = state.status as u8 > DeliveryStatus::Delivered as u8;
                prop_assert!(!is_over || state.cod == CodStatus::NotApplicable);
                prop_assert!(is_over || state.cod == before.cod || before.status == DeliveryStatus::Delivered);
                prop_assert!(is_over || state.cod as u8 >= before.cod as u8);
                prop_assert!(!moved.refund_due || !state.picked_up);
            }
            prop_assert!(refunds <= 1);
            prop_assert_eq!(refunds == 1, state.status == DeliveryStatus::Cancelled
                || (state.status == DeliveryStatus::Failed && !state.picked_up));
            prop_assert_eq!(refunds == 1, state.refund_due());
        }
    }
}
