//! A large table: orders of a thousand businesses, as in an old deployment, inserted directly into the database.

use std::time::Instant;

use local_stack::{Service, Stack, say};

/// The number of rows per statement, so that none takes minutes.
const CHUNK: u64 = 100_000;

/// Copies of the first order with new keys: increasing ids, and random codes and keys.
const FILL: &str = "
    WITH sample AS (SELECT details, receipt FROM orders ORDER BY id LIMIT 1),
    filled AS (
        INSERT INTO orders (id, business_id, mode, placement, attempt, order_reference, idempotency_key, fingerprint,
            tracking_code, order_source, status, cod_status, payment_type, delivery_fee_paise, cod_amount_paise, details,
            receipt, sequence, created_at, updated_at, request_id, key_id)
        SELECT 'ord_00' || lpad(upper(to_hex(n)), 24, '0'), 'biz_00' || lpad((n % 1000)::text, 24, '0'), 'test', 'placed', 1,
            'reference-' || n, md5('key' || n), decode(repeat('ab', 32), 'hex'), 'TEST-' || upper(substr(md5('code' || n), 1, 14)),
            'business_website', 'created', 'pending', 'cod', 4900, 129800, details, receipt, 1,
            timestamptz '2020-01-01' + n * interval '1 second', timestamptz '2020-01-01' + n * interval '1 second',
            'req_00' || lpad(upper(to_hex(n)), 24, '0'), 'key_00' || lpad((n % 1000)::text, 24, '0')
        FROM generate_series({from}::bigint, {to}::bigint) AS n, sample
        RETURNING id, business_id, created_at
    )
    INSERT INTO order_events (order_id, sequence, event_id, business_id, kind, status, cod_status, data, occurred_at, recorded_at)
    SELECT id, 1, 'evt' || substr(id, 4), business_id, 'order.created', 'created', 'pending', '{}', created_at, created_at
    FROM filled";

/// Adds orders until the table contains `wanted`.
pub(crate) async fn fill(stack: &Stack, wanted: u64) -> anyhow::Result<()> {
    let begun = Instant::now();
    let held: u64 = stack.query(Service::OrderApi, "SELECT count(*) FROM orders").await?.trim().parse()?;
    for from in (held + 1..=wanted).step_by(CHUNK as usize) {
        let to = (from + CHUNK - 1).min(wanted);
        let sql = FILL.replace("{from}", &from.to_string()).replace("{to}", &to.to_string());
        stack.query(Service::OrderApi, &sql).await?;
    }
    for maintenance in ["VACUUM ANALYZE orders", "VACUUM ANALYZE order_events"] {
        stack.query(Service::OrderApi, maintenance).await?;
    }
    say(&format!("Filled up to {wanted} orders in {:.0} s", begun.elapsed().as_secs_f64()));
    Ok(())
}
