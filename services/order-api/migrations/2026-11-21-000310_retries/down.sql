DROP TABLE failed_test_requests, retry_proofs;
