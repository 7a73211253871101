//! Faults of a request: all of them, each by the field it is in.

use std::cell::RefCell;

use serde::Serialize;

/// One thing that is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldError {
    /// Dotted path, such as `package.items[2].quantity`.
    pub field: String,
    /// For programs: `required`, `invalid_type`, `invalid_value`, `invalid_format`, `too_long`, `out_of_range`.
    pub code: &'static str,
    /// For people.
    pub message: String,
}

/// Collects faults while a request is read, so that the caller hears of all at once.
#[derive(Debug, Default)]
pub struct FieldErrors(RefCell<Vec<FieldError>>);

impl FieldErrors {
    /// No answer names more; a body full of nonsense must not be answered with one many times its size.
    pub(crate) const MAX: usize = 100;

    pub fn add(&self, field: impl Into<String>, code: &'static str, message: impl Into<String>) {
        let mut field_errors = self.0.borrow_mut();
        if field_errors.len() < Self::MAX {
            field_errors.push(FieldError { field: field.into(), code, message: message.into() });
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    pub fn into_vec(self) -> Vec<FieldError> {
        self.0.into_inner()
    }
}

impl From<FieldErrors> for Vec<FieldError> {
    fn from(field_errors: FieldErrors) -> Self {
        field_errors.into_vec()
    }
}
