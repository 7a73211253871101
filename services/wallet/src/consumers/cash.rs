//! `live.order.delivered` and `live.cod.*`: records cash on delivery.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::{BusinessId, CodStatus, EventKind, Mode};
use events::{Body, Envelope, OrderEvent};
use messaging::{Handler, Rejection};

use crate::commands::record_cash::{RecordCashError, record_cash};
use crate::domain::{CashReport, CashStep};
use crate::state::State;

/// Idempotent: repeated events have no further effect.
pub(crate) struct CashReports(pub(crate) Arc<State>);

impl Handler for CashReports {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        let recorded_at = envelope.recorded_at();
        let Body::Order(event) = envelope.body else {
            return Err(Rejection::Never("this queue accepts only events of orders".into()));
        };
        if event.mode != Mode::Live {
            return Err(Rejection::Never("a test order has no cash".into()));
        }
        let Some(report) = report(*event, envelope.business_id, recorded_at)? else { return Ok(()) };
        record_cash(&self.0, envelope.id, &report).await.map_err(rejection)?;
        Ok(())
    }
}

/// The report in an event; `None` for a prepaid order.
fn report(
    event: OrderEvent,
    business: BusinessId,
    at: DateTime<Utc>,
) -> Result<Option<CashReport>, Rejection> {
    let step = match event.event {
        EventKind::OrderDelivered if event.order.cod_status == CodStatus::NotApplicable => return Ok(None),
        EventKind::OrderDelivered => None,
        EventKind::CodCollected => Some(CashStep::Collected),
        EventKind::CodHandedOver => Some(CashStep::HandedOver),
        EventKind::CodSettled => Some(CashStep::Settled),
        other => return Err(Rejection::Never(format!("{other} does not report cash"))),
    };
    let amount = event.data.cod_amount_paise;
    let step = match (step, amount) {
        (None, _) => None,
        (Some(step), Some(amount)) if !amount.is_negative() => Some((step, amount)),
        (Some(_), _) => {
            return Err(Rejection::Never("a report of cash needs an amount of at least 0".into()));
        }
    };
    let expected = event.cod_expected_paise.filter(|expected| !expected.is_negative());
    let order_reference = event.order.order_reference;
    Ok(Some(CashReport { order: event.order.id, business, order_reference, expected, at, step }))
}

fn rejection(error: RecordCashError) -> Rejection {
    match error {
        RecordCashError::Store(error) => outbox::rejection(&error),
        error @ RecordCashError::Contradiction => Rejection::Never(error.to_string()),
    }
}
