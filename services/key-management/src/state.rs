//! What handlers, workers, commands and queries share.

use domain::KeySegment;
use outbox::Unit;

use crate::domain::KeyHasher;
use crate::usage::UsageBuffer;

pub(crate) struct State {
    pub(crate) unit: Unit,
    pub(crate) segment: KeySegment,
    pub(crate) hasher: KeyHasher,
    pub(crate) usage: UsageBuffer,
}
