//! Background tasks, one per file.

mod finish_top_ups;
mod reconcile;

pub(crate) use finish_top_ups::finish_top_ups;
pub(crate) use reconcile::reconcile;
