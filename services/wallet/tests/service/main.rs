//! wallet as its callers meet it: the whole service on a real PostgreSQL and RabbitMQ, through its typed client.
#![expect(clippy::expect_used, clippy::panic, reason = "helpers of tests end the test that cannot go on")]

mod books;
mod broker;
mod cash;
mod contracts;
mod debits;
mod fake_razorpay;
mod fitting_entries;
mod harness;
mod ledger_model;
mod ledger_sql;
mod migrations;
mod money_in;
mod outage;
mod payments;
mod process;
mod races;
mod reconciliation;
mod refunds;
mod rights;
mod spend;
mod statement;
mod thresholds;
