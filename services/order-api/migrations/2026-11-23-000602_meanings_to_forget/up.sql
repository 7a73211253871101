-- Orders that the previous release erased without their meaning: few, and none after they are cleared.
CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_meanings_to_forget ON orders (id)
    WHERE personal_data_erased_at IS NOT NULL AND meaning IS NOT NULL;
