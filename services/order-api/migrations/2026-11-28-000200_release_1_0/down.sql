DROP TABLE erasures, retry_proofs, failed_test_requests, testers, simulations, fleet_reports, order_events, orders;
