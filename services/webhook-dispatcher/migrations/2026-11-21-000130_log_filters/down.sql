DROP INDEX deliveries_unsuccessful;
DROP INDEX events_by_reference;
