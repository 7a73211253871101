//! What the service holds, and how it is put together.

use anyhow::Context as _;
use chassis::{Chassis, Running};
use domain::{Clock, Entropy, KeySegment};
use outbox::OutboxNotifier;
use postgres::Database;

use crate::domain::KeyHasher;
use crate::last_uses::LastUses;
use crate::settings::Settings;
use crate::{routes, workers};

/// What commands and queries need.
#[derive(Clone)]
pub(crate) struct App {
    pub database: Database,
    pub clock: Clock,
    pub entropy: Entropy,
    pub segment: KeySegment,
    pub hasher: KeyHasher,
    pub last_uses: LastUses,
    pub notifier: OutboxNotifier,
}

impl App {
    fn new(settings: &Settings, chassis: &Chassis) -> anyhow::Result<Self> {
        Ok(Self {
            database: chassis.unit.database.clone(),
            clock: chassis.unit.clock.clone(),
            entropy: chassis.unit.entropy.clone(),
            segment: KeySegment::new(&settings.brand.key_segment).context("WAYBILL_BRAND__KEY_SEGMENT")?,
            hasher: KeyHasher::new(&settings.keys.pepper)?,
            last_uses: LastUses::default(),
            notifier: chassis.unit.outbox.clone(),
        })
    }
}

/// Puts the service together.
///
/// # Errors
/// When an address cannot be bound or a setting is not usable.
pub fn start(settings: &Settings, mut chassis: Chassis) -> anyhow::Result<Running> {
    routes::create_counters();
    let app = App::new(settings, &chassis)?;
    chassis.relay();
    chassis.worker("end-graces", |stop| workers::end_graces(app.clone(), stop));
    chassis.worker("note-uses", |stop| workers::note_uses(app.clone(), stop));
    let tasks = chassis.tasks.clone();
    chassis.start(routes::internal(app, settings.internal.clone(), tasks))
}
