//! Pure rules.

mod cell;
mod export;

pub(crate) use cell::{Cell, text};
pub(crate) use export::{
    ATTEMPTS_MAX, Export, ExportFailure, ExportFormat, ExportKind, ExportScope, ExportState, KEPT_FOR,
    MAILED_ABOVE_ROWS, Progress, ROWS_MAX, percent,
};
