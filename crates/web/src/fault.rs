//! Faults of a request: all of them, each by the field it is in.

use std::cell::RefCell;

use serde::Serialize;

/// One thing that is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// Dotted path, such as `package.items[2].quantity`.
    pub field: String,
    /// For programs: `required`, `invalid_type`, `invalid_value`, `invalid_format`, `too_long`, `out_of_range`.
    pub code: &'static str,
    /// For people.
    pub message: String,
}

/// Collects faults while a request is read, so that the caller hears of all at once.
#[derive(Debug, Default)]
pub struct FaultList(RefCell<Vec<Fault>>);

impl FaultList {
    /// No answer names more; a body full of nonsense must not be answered with one many times its size.
    pub(crate) const MAX: usize = 100;

    pub fn add(&self, field: impl Into<String>, code: &'static str, message: impl Into<String>) {
        let mut faults = self.0.borrow_mut();
        if faults.len() < Self::MAX {
            faults.push(Fault { field: field.into(), code, message: message.into() });
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    pub fn into_faults(self) -> Vec<Fault> {
        self.0.into_inner()
    }
}

impl From<FaultList> for Vec<Fault> {
    fn from(faults: FaultList) -> Self {
        faults.into_faults()
    }
}
