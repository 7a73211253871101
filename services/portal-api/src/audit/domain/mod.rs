//! Pure rules.

pub(crate) mod audit;
pub(crate) mod operator_audit;

pub(crate) use audit::{
    Action, Actor, AuditEntry, AuditEvent, AuditFilter, AuditTarget, Author, Target, TargetKind,
};
pub(crate) use operator_audit::{AuditRetention, OperatorEntry, OperatorFilter};
