//! Reconciles the ledger continuously.

use std::sync::Arc;
use std::time::Duration;

use chassis::Chassis;

use crate::reconcile::Reconciliation;

/// How often an instance checks whether a run is due.
const INTERVAL: Duration = Duration::from_secs(2);

pub(crate) fn reconcile(chassis: &mut Chassis, reconciliation: Reconciliation) {
    let reconciliation = Arc::new(reconciliation);
    chassis.every("reconciliation", INTERVAL, move |stop| {
        let reconciliation = Arc::clone(&reconciliation);
        // A run takes minutes, so a stop interrupts it. It continues later at its cursors.
        async move { stop.run_until_cancelled(reconciliation.tick()).await.unwrap_or(Ok(())) }
    });
}
