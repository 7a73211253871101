-- Finds parked deliveries of an endpoint and order: later events wait behind them.
CREATE INDEX deliveries_parked_of_order ON deliveries (endpoint_id, order_id, sequence)
    WHERE state = 'parked' AND in_turn;
