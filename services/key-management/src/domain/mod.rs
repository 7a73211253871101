//! What key-management decides by itself: whether a key works, how it is hashed, and which graces a rotation may have.

mod grace;
mod hasher;
mod key;

pub(crate) use grace::Grace;
pub(crate) use hasher::{KeyHash, KeyHasher};
pub(crate) use key::{Key, WORKING_KEYS_MAX};
