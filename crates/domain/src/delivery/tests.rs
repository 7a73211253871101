//! That the state machine allows exactly the moves of the specification.

use super::*;
use proptest::prelude::*;

const MAX: u32 = DeliveryState::ATTEMPTS_MAX_DEFAULT;

fn drive(payment: PaymentType, events: &[EventKind]) -> Result<DeliveryState, IllegalMove> {
    events.iter().try_fold(DeliveryState::new(payment), |at, event| at.apply(*event, MAX))
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
    let end = drive(PaymentType::Cod, &way).unwrap();
    assert_eq!((end.status, end.cod), (DeliveryStatus::Delivered, CodStatus::Settled));
    assert!(end.legal(MAX).is_empty());
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
        assert_eq!(drive(PaymentType::Prepaid, way).unwrap().refund_due(), refund, "{way:?}");
    }
}

#[test]
fn nothing_is_cancelled_after_the_pickup_and_only_failures_after_it_are_returned() {
    assert!(drive(PaymentType::Prepaid, &[DriverAssigned, OrderPickedUp, OrderCancelled]).is_err());
    assert!(drive(PaymentType::Prepaid, &[OrderFailed, OrderReturned]).is_err());
    let returned = drive(PaymentType::Prepaid, &[DriverAssigned, OrderPickedUp, OrderFailed, OrderReturned]);
    assert_eq!(returned.unwrap().status, DeliveryStatus::Returned);
}

const FAILED_AT_THE_DOOR: [EventKind; 4] = [DriverAssigned, OrderPickedUp, OrderOutForDelivery, OrderFailed];

#[test]
fn a_failed_delivery_is_attempted_again_and_collects_its_cash() {
    let again = [DriverAssigned, OrderOutForDelivery, OrderDelivered, CodCollected];
    for (payment, pending) in
        [(PaymentType::Cod, CodStatus::Pending), (PaymentType::Prepaid, CodStatus::NotApplicable)]
    {
        let failed = drive(payment, &FAILED_AT_THE_DOOR).unwrap();
        assert_eq!((failed.failed_attempts, failed.cod), (1, CodStatus::NotApplicable));
        let assigned = failed.apply(DriverAssigned, MAX).unwrap();
        assert_eq!((assigned.status, assigned.cod), (DeliveryStatus::DriverAssigned, pending));
        assert!(assigned.apply(OrderCancelled, MAX).is_err(), "the parcel is with the fleet");
        assert_eq!(assigned.apply(OrderPickedUp, MAX).unwrap().status, DeliveryStatus::PickedUp);
        assert_eq!(assigned.apply(DriverUnassigned, MAX).unwrap(), failed, "and it is no other failure");
    }
    let way = [&FAILED_AT_THE_DOOR[..], &again].concat();
    assert_eq!(drive(PaymentType::Cod, &way).unwrap().cod, CodStatus::Collected);
    assert!(drive(PaymentType::Prepaid, &way).is_err());
}

#[test]
fn attempts_are_limited_and_never_follow_an_end() {
    let mut state = drive(PaymentType::Cod, &FAILED_AT_THE_DOOR).unwrap();
    assert!(state.apply(DriverAssigned, 1).is_err(), "one attempt turns further ones off");
    for failures in 2..=MAX {
        state = state.apply(DriverAssigned, MAX).and_then(|state| state.apply(OrderFailed, MAX)).unwrap();
        assert_eq!((state.failed_attempts, state.refund_due()), (failures, false));
    }
    assert_eq!(state.legal(MAX), [OrderReturned]);
    // Of release 1.0.0, which counted no failure.
    let uncounted = DeliveryState { failed_attempts: 0, ..state };
    assert!(uncounted.can_be_reattempted(2) && !uncounted.can_be_reattempted(1));
    for ended in [&[OrderFailed][..], &[DriverAssigned, OrderFailed], &[OrderCancelled]] {
        assert!(drive(PaymentType::Cod, &[ended, &[DriverAssigned]].concat()).is_err(), "{ended:?}");
    }
    let returned = drive(PaymentType::Cod, &[&FAILED_AT_THE_DOOR[..], &[OrderReturned]].concat()).unwrap();
    assert!(returned.legal(MAX).is_empty());
}

#[test]
fn a_refusal_names_the_legal_events() {
    let refused = drive(PaymentType::Prepaid, &[OrderDelivered]).unwrap_err();
    assert_eq!(refused.legal, [DriverAssigned, OrderFailed, OrderCancelled]);
}

/// All moves of SPECIFICATION §3.4. Any other move is refused in every state.
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
            DriverAssigned if from.status == S::Failed && from.picked_up && from.failed_attempts < MAX => {
                Some((S::DriverAssigned, DeliveryState::new(from.payment).cod))
            }
            DriverUnassigned if from.status == S::DriverAssigned && from.picked_up => ended(S::Failed),
            DriverUnassigned if from.status == S::DriverAssigned => moved(S::Created),
            OrderPickedUp if from.status == S::DriverAssigned => moved(S::PickedUp),
            OrderOutForDelivery if from.status == S::PickedUp => moved(S::OutForDelivery),
            OrderOutForDelivery if from.status == S::DriverAssigned && from.picked_up => {
                moved(S::OutForDelivery)
            }
            OrderDelivered if from.status == S::OutForDelivery => moved(S::Delivered),
            OrderCancelled if [S::Created, S::DriverAssigned].contains(&from.status) && !from.picked_up => {
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
    for (status, cod, (picked_up, payment, failed_attempts)) in S::VARIANTS.iter().flat_map(move |status| {
        CodStatus::VARIANTS.iter().flat_map(move |cod| {
            let before = [false, true].map(|cash| {
                let payment = if cash { PaymentType::Cod } else { PaymentType::Prepaid };
                [(false, payment, 0), (true, payment, 0), (true, payment, MAX - 1), (true, payment, MAX)]
            });
            before.into_iter().flatten().map(move |before| (*status, *cod, before))
        })
    }) {
        let from = DeliveryState { status, cod, picked_up, payment, failed_attempts };
        for event in EventKind::VARIANTS {
            let wanted = legal(from, *event);
            let went = from.apply(*event, MAX);
            assert_eq!(went.as_ref().ok().map(|went| (went.status, went.cod)), wanted, "{event}: {from:?}");
            match went {
                Ok(went) => {
                    assert_eq!(went.picked_up, picked_up || *event == OrderPickedUp);
                    assert_eq!(went.payment, payment);
                    let failures = u32::from(*event == OrderFailed && picked_up);
                    let uncounted = u32::from(
                        from.status == S::Failed && *event == DriverAssigned && failed_attempts == 0,
                    );
                    assert_eq!(went.failed_attempts, failed_attempts + failures + uncounted);
                    let ends = matches!(event, OrderCancelled) || (*event == OrderFailed && !picked_up);
                    assert_eq!(went.refund_due(), ends, "{event}: {from:?}");
                }
                Err(refused) => {
                    assert_eq!((refused.from, refused.event), (from, *event));
                    assert_eq!(refused.legal, from.legal(MAX));
                }
            }
        }
        let can = |event: &&EventKind| legal(from, **event).is_some();
        assert_eq!(from.legal(MAX), EventKind::VARIANTS.iter().filter(can).copied().collect::<Vec<_>>());
        assert_eq!(from.can_be_cancelled(), legal(from, OrderCancelled).is_some());
        assert_eq!(from.is_completed(), from.legal(MAX).iter().all(|event| event.is_cash()), "{from:?}");
        let ended_early = status == S::Cancelled || (status == S::Failed && !picked_up);
        assert_eq!(from.refund_due(), ended_early, "{from:?}");
    }
}

#[test]
fn a_new_delivery_waits_for_a_driver_and_for_its_cash() {
    for (payment, cod) in
        [(PaymentType::Cod, CodStatus::Pending), (PaymentType::Prepaid, CodStatus::NotApplicable)]
    {
        let new = DeliveryState::new(payment);
        assert_eq!((new.status, new.cod, new.picked_up), (DeliveryStatus::Created, cod, false));
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
    /// For any sequence of reports: at most one refund, never after the pickup; cash moves only after delivery and never
    /// backwards, except that it waits again for another attempt; and a finished delivery stays finished.
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
            let Ok(moved) = state.apply(event, MAX) else { continue };
            state = moved;
            refunds += u32::from(state.refund_due());
            prop_assert!(event.is_progress());
            prop_assert!(state != before);
            prop_assert!(!before.picked_up || state.picked_up);
            let is_over = state.status as u8 > DeliveryStatus::Delivered as u8;
            prop_assert!(!is_over || state.cod == CodStatus::NotApplicable);
            let again = before.status == DeliveryStatus::Failed && state.status == DeliveryStatus::DriverAssigned;
            prop_assert!(!again || (before.picked_up && state.cod == DeliveryState::new(payment).cod));
            prop_assert!(state.failed_attempts <= MAX);
            prop_assert!(!before.is_completed() || event.is_cash());
            let is_same = state.cod == before.cod;
            prop_assert!(is_over || again || is_same || before.status == DeliveryStatus::Delivered);
            prop_assert!(is_over || state.cod as u8 >= before.cod as u8);
            prop_assert!(!state.refund_due() || !state.picked_up);
        }
        prop_assert!(refunds <= 1);
        prop_assert_eq!(refunds == 1, state.status == DeliveryStatus::Cancelled
            || (state.status == DeliveryStatus::Failed && !state.picked_up));
        prop_assert_eq!(refunds == 1, state.refund_due());
    }
}

#[test]
fn the_guide_lists_what_can_follow() {
    const GUIDE: &str = include_str!("../../../../proto-docs/integrators/test-orders.md");
    let again = [DriverAssigned, OrderPickedUp, OrderFailed, DriverAssigned];
    for (row, way) in [
        ("`created`", &[][..]),
        ("`driver_assigned`", &again[..1]),
        ("`driver_assigned`, of a second or later attempt", &again[..]),
        ("`picked_up`", &again[..2]),
        ("`out_for_delivery`", &[DriverAssigned, OrderPickedUp, OrderOutForDelivery]),
        ("`failed`, after the pickup", &again[..3]),
    ] {
        let legal = drive(PaymentType::Prepaid, way).unwrap().legal(MAX);
        let begin = format!("| {row} |");
        let line = GUIDE.lines().find(|line| line.starts_with(&begin)).unwrap();
        let listed: Vec<_> =
            EventKind::VARIANTS.iter().filter(|kind| line.contains(&format!("`{kind}`"))).collect();
        assert_eq!(listed, legal.iter().collect::<Vec<_>>(), "{row}");
    }
}
