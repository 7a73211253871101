//! The databases can be partitioned by business: the test reads the real schemas, as the migrations create them, from
//! the catalogue.

mod keys;
