//! Tests the whole service through its typed client, with a real PostgreSQL and RabbitMQ.
#![expect(clippy::expect_used, clippy::panic, reason = "test helpers panic on failure")]

mod attempt_fees;
mod attention;
mod broker;
mod cash;
mod cash_months;
mod consistency_rules;
mod contracts;
mod corrections;
mod debits;
mod deposits;
mod differences;
mod fake_razorpay;
mod harness;
mod invariants;
mod ledger_model;
mod ledger_sql;
mod migrations;
mod outage;
mod payments;
mod process;
mod races;
mod reconciliation;
mod refunds;
mod remittances;
mod rights;
mod spend;
mod statement;
mod thresholds;
