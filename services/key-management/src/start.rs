//! Wires the service.

use std::sync::Arc;

use anyhow::Context as _;
use chassis::{Chassis, Running};
use domain::KeySegment;

use crate::domain::KeyHasher;
use crate::settings::Settings;
use crate::state::State;
use crate::usage::UsageBuffer;
use crate::{routes, workers};

/// # Errors
/// When an address cannot be bound or a setting is invalid.
pub fn start(settings: &Settings, mut chassis: Chassis) -> anyhow::Result<Running> {
    routes::create_counters();
    let state = Arc::new(State {
        unit: chassis.unit.clone(),
        segment: KeySegment::new(&settings.brand.key_segment).context("WAYBILL_BRAND__KEY_SEGMENT")?,
        hasher: KeyHasher::new(&settings.keys.pepper)?,
        usage: UsageBuffer::default(),
    });
    chassis.relay();
    workers::expire_keys(&mut chassis, &state);
    workers::flush_usage(&mut chassis, &state);
    let tasks = chassis.tasks.clone();
    chassis.start(routes::internal(state, settings.internal.clone(), tasks))
}
