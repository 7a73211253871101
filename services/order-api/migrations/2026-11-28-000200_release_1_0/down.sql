DROP TABLE erasures, retry_tests, testers, simulations, fleet_reports, order_events, orders;
