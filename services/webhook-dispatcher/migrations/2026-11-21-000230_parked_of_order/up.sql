-- Whether a parked delivery is before another of its endpoint and order: later events wait behind it.
CREATE INDEX deliveries_parked_of_order ON deliveries (endpoint_id, order_id, sequence)
    WHERE state = 'parked' AND in_turn;
