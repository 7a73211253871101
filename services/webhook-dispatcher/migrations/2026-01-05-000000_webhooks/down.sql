DROP TABLE attempts;
DROP TABLE deliveries;
DROP TABLE events;
DROP TABLE parked_events;
DROP TABLE order_streams;
DROP TABLE endpoint_health;
DROP TABLE endpoints;
