-- A query for one status must not read the orders with other statuses.
CREATE INDEX orders_for_fleet_by_status ON orders (status, updated_at, id) WHERE mode = 'live' AND placement = 'placed';
