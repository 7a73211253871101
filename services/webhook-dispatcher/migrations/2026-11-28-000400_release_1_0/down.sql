DROP TABLE dispatchers, recoveries, attempts, deliveries, events, held_back_events, order_streams, endpoint_notices, endpoint_health,
    endpoints;
