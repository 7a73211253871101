//! Every key and reference of a table with a business contains the business, so that PostgreSQL could partition the
//! table by business. The exceptions are listed here.

use std::collections::BTreeSet;

use local_stack::{Service, Stack};

/// A constraint or index without the business, and the reason why that is acceptable in partitioned tables.
struct Exception {
    service: Service,
    /// The name of the constraint or index.
    name: &'static str,
    /// The reason, for readers.
    _reason: &'static str,
}

const fn but(service: Service, name: &'static str, reason: &'static str) -> Exception {
    Exception { service, name, _reason: reason }
}

const EXCEPTIONS: &[Exception] = &[
    but(
        Service::OrderApi,
        "orders_tracking_code_key",
        "A tracking code gives access to an order of any business. In a partitioned table, codes are unique because they are \
         random, and a table of (code, business) leads to the partition.",
    ),
    but(
        Service::OrderApi,
        "fleet_reports_event_id",
        "The fleet uses each of its ids once. In a partitioned table, the primary key makes them unique within an order.",
    ),
    but(
        Service::Wallet,
        "debits_one_posted_per_order",
        "Only the order identifies its payment. In a partitioned table, order-api's row of the order names the business, \
         and the reconciliation finds a payment by another business.",
    ),
    but(Service::Wallet, "transfers_one_of_each_cash_step", "As debits_one_posted_per_order."),
    but(Service::Wallet, "cash_order_id", "As debits_one_posted_per_order."),
    but(
        Service::Wallet,
        "top_ups_provider_reference",
        "The payment provider's ids have no business. Top-ups are few compared with orders, so their table is not partitioned.",
    ),
    but(Service::Wallet, "top_ups_payment_reference", "As top_ups_provider_reference."),
    but(Service::Wallet, "payment_notices_pkey", "As top_ups_provider_reference."),
    but(Service::Wallet, "top_up_reversals_pkey", "As top_ups_provider_reference."),
    but(
        Service::WebhookDispatcher,
        "order_streams_order_id",
        "Distinguishes an event with another business's order from one of a new order. In a partitioned table, order-api's row \
         of the order names the business.",
    ),
    but(
        Service::KeyManagement,
        "api_keys_key_hash_key",
        "A key identifies its business. A business has at most 20 in each mode, so the table stays on one server, or complete on each.",
    ),
    but(Service::KeyManagement, "api_keys_pkey", "As api_keys_key_hash_key."),
    but(Service::KeyManagement, "api_keys_rotated_from_key", "As api_keys_key_hash_key."),
    but(
        Service::PortalApi,
        "memberships_pkey",
        "A business has only a few users. References to them contain the business.",
    ),
    but(
        Service::PortalApi,
        "memberships_account_fkey",
        "A person belongs to several businesses, and the account to none of them.",
    ),
    but(
        Service::PortalApi,
        "sessions_pkey",
        "Grows with users, not with orders, so the table stays on one server.",
    ),
    but(Service::PortalApi, "sessions_token_hash_key", "The cookie identifies the session."),
    but(Service::PortalApi, "sessions_account_fkey", "As memberships_account_fkey."),
    but(Service::PortalApi, "identities_account_fkey", "As memberships_account_fkey."),
    but(Service::PortalApi, "mails_staff_id_fkey", "Of mails to the operator's staff, who have no business."),
    but(Service::PortalApi, "invitations_pkey", "As sessions_pkey."),
    but(Service::PortalApi, "invitations_token_hash_key", "The link identifies the invitation."),
    but(Service::PortalApi, "audit_log_pkey", "As sessions_pkey."),
    but(
        Service::PortalApi,
        "sso_log_ins_pkey",
        "The cookie identifies the visit. Those of the staff have no business.",
    ),
    but(Service::PortalApi, "mails_pkey", "A queue with its own numbers, which is emptied continuously."),
];

/// Tables without a business: they stay on one server, or complete on each.
const OF_NO_BUSINESS: &[(Service, &str)] = &[
    // How far the index of the search has come for all businesses: one row.
    (Service::OrderApi, "order_search_position"),
    (Service::PortalApi, "businesses"),
    // Failed log-ins by account and by address, and the operator's own.
    (Service::PortalApi, "attempts"),
    // People, who may belong to several businesses or to the operator, and what proves who they are.
    (Service::PortalApi, "accounts"),
    (Service::PortalApi, "password_links"),
    (Service::PortalApi, "email_confirmations"),
    (Service::PortalApi, "second_factors"),
    (Service::PortalApi, "recovery_codes"),
    (Service::PortalApi, "log_in_challenges"),
    (Service::PortalApi, "passkeys"),
    (Service::PortalApi, "passkey_ceremonies"),
    (Service::PortalApi, "staff_roles"),
    (Service::PortalApi, "operator_tokens"),
    (Service::PortalApi, "operator_audit_log"),
    (Service::PortalApi, "operator_approvals"),
    (Service::PortalApi, "approval_limit"),
    // The progress and findings of the reconciliation.
    (Service::Wallet, "reconciliation_cursors"),
    (Service::Wallet, "reconciliation_findings"),
    (Service::Wallet, "reconciliation_runs"),
    // The running instances.
    (Service::WebhookDispatcher, "dispatchers"),
];

/// In every database: the outbox, the inbox, and the migrations.
const OF_EVERY_SERVICE: [&str; 3] = ["__diesel_schema_migrations", "inbox", "outbox_messages"];

/// `kind|table|name|definition` of each rule that does not contain the table's business: anywhere in a key, or as the
/// business of the referenced row.
const RULES_WITHOUT_BUSINESS: &str = "
    WITH tenants AS (
        SELECT pg_class.oid, pg_class.relname, pg_attribute.attnum AS business
        FROM pg_class
        JOIN pg_namespace ON pg_namespace.oid = relnamespace AND nspname = 'public'
        JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'business_id' AND NOT attisdropped
        WHERE relkind IN ('r', 'p'))
    SELECT 'key', tenants.relname, index.relname, pg_get_indexdef(index.oid)
    FROM tenants
    JOIN pg_index ON indrelid = tenants.oid AND indisunique
    JOIN pg_class AS index ON index.oid = indexrelid
    WHERE business <> ALL (indkey)
    UNION ALL
    SELECT 'reference', tenants.relname, conname, pg_get_constraintdef(pg_constraint.oid)
    FROM tenants
    JOIN pg_constraint ON conrelid = tenants.oid AND contype = 'f'
    JOIN pg_class AS referred ON referred.oid = confrelid
    LEFT JOIN tenants AS other ON other.oid = confrelid
    WHERE NOT EXISTS (
        SELECT FROM unnest(conkey, confkey) AS pair (mine, theirs)
        WHERE mine = tenants.business AND (theirs = other.business OR referred.relname = 'businesses'))
    ORDER BY 1, 2, 3";

const WITHOUT_BUSINESS: &str = "
    SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace AND nspname = 'public'
    WHERE relkind IN ('r', 'p') AND NOT EXISTS (
        SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'business_id' AND NOT attisdropped)";

#[tokio::test]
async fn every_key_and_every_reference_holds_the_business() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let mut errors = Vec::new();
    for service in Service::ALL {
        errors.extend(errors_of(service, &stack.query(service, RULES_WITHOUT_BUSINESS).await?));
        let named = OF_NO_BUSINESS.iter().filter(|(of, _)| *of == service).map(|(_, table)| *table);
        let named: BTreeSet<&str> = OF_EVERY_SERVICE.into_iter().chain(named).collect();
        let found = stack.query(service, WITHOUT_BUSINESS).await?;
        let found: BTreeSet<&str> = found.lines().collect();
        for table in found.symmetric_difference(&named) {
            errors.push(format!(
                "{}: {table} is missing in the list of tables without a business, or does not belong there",
                service.name()
            ));
        }
    }
    assert!(errors.is_empty(), "\n{}", errors.join("\n"));
    stack.shut_down().await
}

/// The rules without the business.
pub(super) fn exceptions(service: Service) -> BTreeSet<&'static str> {
    let of_service = EXCEPTIONS.iter().filter(|exception| exception.service == service);
    of_service.map(|exception| exception.name).collect()
}

/// The rules that are found but not listed, and those that are listed but not found.
fn errors_of(service: Service, found: &str) -> Vec<String> {
    let mut excepted = exceptions(service);
    let mut errors = Vec::new();
    for error in found.lines() {
        let name = error.split('|').nth(2).unwrap_or_default();
        if !excepted.remove(name) {
            errors.push(format!("{}: {error}", service.name()));
        }
    }
    let needless = excepted.into_iter();
    errors.extend(
        needless.map(|name| format!("{}: {name} is listed as an exception but is none", service.name())),
    );
    errors
}
