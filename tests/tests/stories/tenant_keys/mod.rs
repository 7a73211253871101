//! The databases are shaped for being spread by business: the real schemas, as the programs' own migrations make them, are
//! read from the catalogue, and partitioned.

mod keys;
mod spread;
