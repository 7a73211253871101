DROP INDEX events_of_order;
