-- A fleet that asks for one status must not read past all orders of the others.
CREATE INDEX orders_for_fleet_by_status ON orders (status, updated_at, id) WHERE mode = 'live' AND placement = 'placed';
