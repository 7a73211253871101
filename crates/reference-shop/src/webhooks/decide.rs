//! The effect of a webhook on an order. Pure: the worker loads the order and writes the decision.

use domain::Mode;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::event::WebhookEvent;
use crate::{DeliveryDetails, LocalOrder, Modes, SyncStatus};

/// The kinds that the shop applies: the nine of SPECIFICATION §6, `order.created`, and two opt-in kinds.
const KNOWN_KINDS: [&str; 12] = [
    "order.created",
    "driver.assigned",
    "driver.unassigned",
    "order.picked_up",
    "order.out_for_delivery",
    "order.delivered",
    "order.failed",
    "order.cancelled",
    "order.returned",
    "cod.collected",
    "cod.handed_over",
    "cod.settled",
];

/// The result of a webhook. The shop answers 200 in every case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum WebhookOutcome {
    /// The order was updated.
    Applied,
    /// The shop does not apply this kind.
    UnknownKind,
    /// The shop does not apply this mode, or the order has another mode.
    OtherMode,
    /// The shop requested no delivery for such an order.
    UnknownOrder,
    /// The same or a later event of the order is already applied.
    StaleSequence,
    /// An order event without the required fields.
    Incomplete,
}

impl WebhookOutcome {
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The update of the order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The delivery after the event.
    pub(crate) delivery: DeliveryDetails,
    pub(crate) cod_status: Option<String>,
    pub(crate) sequence: i64,
}

/// Whether the order should be loaded at all.
pub(crate) fn is_for_this_shop(event: &WebhookEvent, modes: &Modes) -> Result<Mode, WebhookOutcome> {
    if !KNOWN_KINDS.contains(&event.kind.as_str()) {
        return Err(WebhookOutcome::UnknownKind);
    }
    match event.mode.as_deref().and_then(|mode| mode.parse().ok()) {
        Some(mode) if modes.contains(mode) => Ok(mode),
        _ => Err(WebhookOutcome::OtherMode),
    }
}

/// The effect of `event` on its order.
pub(crate) fn decide(
    event: &WebhookEvent,
    mode: Mode,
    order: Option<&LocalOrder>,
) -> Result<Progress, WebhookOutcome> {
    let order = order.ok_or(WebhookOutcome::UnknownOrder)?;
    // The event belongs to another order if the shop never requested a delivery for this one.
    if order.sync_status == SyncStatus::NotStarted {
        return Err(WebhookOutcome::UnknownOrder);
    }
    // Test and live orders may have the same reference.
    if order.mode != Some(mode) {
        return Err(WebhookOutcome::OtherMode);
    }
    let progress = progress(event).ok_or(WebhookOutcome::Incomplete)?;
    if order
        .delivery
        .as_ref()
        .is_some_and(|known| known.service_order_id != progress.delivery.service_order_id)
    {
        return Err(WebhookOutcome::UnknownOrder);
    }
    // Webhooks may be repeated and reordered; the newest state wins.
    if order.last_sequence.is_some_and(|last| progress.sequence <= last) {
        return Err(WebhookOutcome::StaleSequence);
    }
    Ok(progress)
}

fn progress(event: &WebhookEvent) -> Option<Progress> {
    let order = event.order.clone()?;
    let given = |text: &String| !text.is_empty();
    Some(Progress {
        delivery: DeliveryDetails {
            service_order_id: order.id.or(order.service_order_id).filter(given)?,
            tracking_code: order.tracking_code.filter(given)?,
            tracking_url: order.tracking_url.filter(given)?,
            status: order.status.filter(given)?,
        },
        cod_status: order.cod_status,
        sequence: event.sequence?,
    })
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::LocalOrderId;

    fn event(sequence: i64) -> WebhookEvent {
        let body = format!(
            r#"{{"id":"evt_{sequence}","event":"order.picked_up","sequence":{sequence},"mode":"live","order":{{
                "id":"ord_1","orderReference":"A-1","trackingCode":"T1","trackingUrl":"http://t/T1",
                "status":"picked_up","codStatus":"pending"}}}}"#
        );
        WebhookEvent::parse(body.as_bytes()).unwrap()
    }

    fn order(sync_status: SyncStatus) -> LocalOrder {
        let delivery = (sync_status == SyncStatus::Created).then(|| DeliveryDetails {
            service_order_id: "ord_1".into(),
            tracking_code: "T1".into(),
            tracking_url: "http://t/T1".into(),
            status: "created".into(),
        });
        LocalOrder {
            id: LocalOrderId::parse("A-1").unwrap(),
            confirmed_at: DateTime::UNIX_EPOCH,
            sync_status,
            attempts: 1,
            last_attempt_at: Some(DateTime::UNIX_EPOCH),
            mode: Some(Mode::Live),
            sync_error: None,
            delivery,
            cod_status: None,
            last_sequence: None,
        }
    }

    #[test]
    fn only_higher_sequences_are_applied() {
        let mut order = order(SyncStatus::Created);
        order.last_sequence = Some(3);
        for (sequence, expected) in
            [(2, Err(WebhookOutcome::StaleSequence)), (3, Err(WebhookOutcome::StaleSequence)), (4, Ok(4))]
        {
            let decided = decide(&event(sequence), Mode::Live, Some(&order));
            assert_eq!(decided.map(|progress| progress.sequence), expected, "{sequence}");
        }
    }

    #[test]
    fn an_order_whose_response_was_lost_is_known_and_an_unsynced_one_is_not() {
        for (status, applied) in [
            (SyncStatus::NotStarted, false),
            (SyncStatus::Creating, true),
            (SyncStatus::Failed, true),
            (SyncStatus::Created, true),
        ] {
            assert_eq!(decide(&event(1), Mode::Live, Some(&order(status))).is_ok(), applied, "{status}");
        }
        assert_eq!(decide(&event(1), Mode::Live, None), Err(WebhookOutcome::UnknownOrder));
    }

    #[test]
    fn another_delivery_under_the_same_reference_is_left_alone() {
        let mut other = event(1);
        other.order.as_mut().unwrap().id = Some("ord_2".into());
        let known = order(SyncStatus::Created);
        assert_eq!(decide(&other, Mode::Live, Some(&known)), Err(WebhookOutcome::UnknownOrder));
        assert_eq!(decide(&event(1), Mode::Test, Some(&known)), Err(WebhookOutcome::OtherMode));
    }

    #[test]
    fn other_kinds_and_modes_have_their_own_outcomes() {
        let live = Modes::new([Mode::Live]);
        assert_eq!(is_for_this_shop(&event(1), &live), Ok(Mode::Live));
        assert_eq!(is_for_this_shop(&event(1), &Modes::new([Mode::Test])), Err(WebhookOutcome::OtherMode));
        let later = WebhookEvent { kind: "order.teleported".into(), ..event(1) };
        assert_eq!(is_for_this_shop(&later, &live), Err(WebhookOutcome::UnknownKind));
    }

    #[test]
    fn an_event_without_required_fields_is_incomplete() {
        let known = order(SyncStatus::Created);
        let without_sequence = WebhookEvent { sequence: None, ..event(1) };
        let without_order = WebhookEvent { order: None, ..event(1) };
        let mut without_status = event(1);
        without_status.order.as_mut().unwrap().status = None;
        for event in [without_sequence, without_order, without_status] {
            assert_eq!(decide(&event, Mode::Live, Some(&known)), Err(WebhookOutcome::Incomplete));
        }
    }
}
