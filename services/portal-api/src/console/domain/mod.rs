//! Pure rules.

pub(crate) mod staff;

pub(crate) use staff::{
    LogInWays, NewStaff, OperatorSecret, OperatorToken, Staff, StaffIdentity, TokenGrace,
};
