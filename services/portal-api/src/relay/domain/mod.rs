//! Pure rules.

pub(crate) mod remittance_file;
