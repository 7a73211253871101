//! Pure rules.

pub(crate) mod advice;
pub(crate) mod indicators;

pub(crate) use advice::{Advice, Evidence, Proof, advice};
