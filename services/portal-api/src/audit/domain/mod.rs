//! Pure rules.

pub(crate) mod action;
pub(crate) mod audit;
pub(crate) mod operator_audit;

pub(crate) use action::Action;
pub(crate) use audit::{Actor, AuditEntry, AuditEvent, AuditFilter, AuditTarget, Author, Target, TargetKind};
pub(crate) use operator_audit::{AuditRetention, OperatorEntry, OperatorFilter};
