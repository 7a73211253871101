//! Pure rules: when a key works, how it is hashed, and which grace periods exist.

mod grace;
mod hasher;
mod key;

pub(crate) use grace::Grace;
pub(crate) use hasher::{KeyHash, KeyHasher};
pub(crate) use key::{Key, WORKING_KEYS_MAX};
