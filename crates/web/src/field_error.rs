//! Validation errors of a request, one per field.

use std::cell::RefCell;

use serde::Serialize;

/// An invalid field of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldError {
    /// Dotted path, such as `package.items[2].quantity`.
    pub field: String,
    /// For programs: `required`, `invalid_type`, `invalid_value`, `invalid_format`, `too_long`, `out_of_range`.
    pub code: &'static str,
    /// For people.
    pub message: String,
}

/// Collects errors while a request is parsed, so that one response reports them all.
#[derive(Debug, Default)]
pub struct FieldErrors(RefCell<Vec<FieldError>>);

impl FieldErrors {
    /// The number of errors in one response, so that the response is never much larger than the request.
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
