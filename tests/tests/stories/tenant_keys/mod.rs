//! The databases can be partitioned by business: the test reads the real schemas, as the migrations create them, from
//! the catalogue and partitions them.

mod keys;
mod spread;
