//! What this service knows of businesses, held against what the services say that own their keys, endpoints, orders and
//! wallets: after one of the five databases went back to an earlier moment, they tell different stories. The audit log is
//! the witness. Reads only, and corrects nothing: who is right is for people to say.

pub(crate) mod command;
mod compare;
mod gather;
