//! The number of Tokio's worker threads. It is needed before the settings are read.

use std::ffi::OsString;
use std::num::NonZeroUsize;

use crate::{SettingErrors, SettingsError};

/// Tokio's own name.
const VARIABLE: &str = "TOKIO_WORKER_THREADS";

/// The number that this process was given, or one.
///
/// # Errors
/// When it is not a positive number.
pub fn worker_threads() -> Result<usize, SettingsError> {
    parse(std::env::var_os(VARIABLE))
}

fn parse(given: Option<OsString>) -> Result<usize, SettingsError> {
    let Some(given) = given.filter(|number| !number.is_empty()) else { return Ok(1) };
    let number = given.to_str().and_then(|number| number.parse::<NonZeroUsize>().ok());
    number.map(NonZeroUsize::get).ok_or_else(|| {
        let mut errors = SettingErrors::default();
        errors.add(VARIABLE, "must be a number from 1");
        SettingsError::Invalid(errors)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_unless_a_positive_number_is_given() {
        let number = |given: &str| parse(Some(given.into()));
        assert_eq!(parse(None).unwrap(), 1);
        assert_eq!(number("").unwrap(), 1);
        assert_eq!(number("3").unwrap(), 3);
        for bad in ["0", "-1", "many", " "] {
            let said = number(bad).unwrap_err().to_string();
            assert!(
                said.contains("TOKIO_WORKER_THREADS") && said.contains("must be a number from 1"),
                "{said}"
            );
        }
    }
}
