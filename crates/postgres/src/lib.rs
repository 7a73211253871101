//! The diesel-async pool, migrations and the write batcher.
