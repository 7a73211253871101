-- A former release that erases an order leaves its meaning. Few, and none once they are cleared.
CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_meanings_to_forget ON orders (id)
    WHERE personal_data_erased_at IS NOT NULL AND meaning IS NOT NULL;
