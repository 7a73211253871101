//! Inserts the deliveries: copies of rows that the previous release has written, so that they have its shape.

use std::time::Instant;

use local_stack::{Service, Stack};

use super::{EVENTS_EACH, Endpoint, ORDERS, Waiting};

/// In the ids of all copies. An id has 26 characters, of which the first ten are its time.
pub(super) const MARK: &str = "BACKBACKB";
/// Orders per transaction.
const STEP: u64 = 5_000;

/// The orders from `{first}` to `{last}`. `jsonb_populate_record` copies a row and changes the named columns. Ids begin
/// with the time of the copied one, so that retention leaves them alone.
const FILL: &str = r#"
    SET LOCAL synchronous_commit = off;
    CREATE TEMPORARY TABLE sample ON COMMIT DROP AS
    SELECT id, event_id, order_id, created_at - interval '1 hour' AS at FROM deliveries
    WHERE business_id = '{business}' AND state = 'succeeded' AND sequence = 1 AND order_id NOT LIKE '%{mark}%' LIMIT 1;
    CREATE TEMPORARY TABLE endpoint ON COMMIT DROP AS
    SELECT * FROM (VALUES {endpoints}) AS endpoint (number, id, since, waits_since, waiting);
    CREATE TEMPORARY TABLE made ON COMMIT DROP AS
    SELECT number, sequence, left(sample.order_id, 14) || '{mark}' || lpad(number::text, 7, '0') AS order_id,
        left(sample.event_id, 14) || '{mark}' || lpad(number::text, 6, '0') || sequence AS event_id,
        (ARRAY['order.created', 'driver.assigned', 'order.picked_up', 'order.delivered'])[sequence] AS kind
    FROM generate_series({first}, {last}) AS number, generate_series(1, {events_each}) AS sequence, sample;

    INSERT INTO order_streams
    SELECT copy.* FROM sample JOIN order_streams AS stream USING (order_id)
    JOIN made ON made.sequence = 1
    CROSS JOIN LATERAL jsonb_populate_record(stream, jsonb_build_object(
        'order_id', made.order_id, 'next_sequence', {events_each} + 1)) AS copy;

    INSERT INTO events
    SELECT copy.* FROM sample JOIN events AS event USING (event_id)
    CROSS JOIN made
    CROSS JOIN LATERAL (SELECT replace(replace(replace(replace(convert_from(event.body, 'UTF8'),
        sample.event_id, made.event_id), sample.order_id, made.order_id), event.kind, made.kind),
        '"sequence":1', '"sequence":' || made.sequence) AS text) AS body
    CROSS JOIN LATERAL jsonb_populate_record(event, jsonb_build_object(
        'event_id', made.event_id, 'order_id', made.order_id, 'sequence', made.sequence, 'kind', made.kind,
        'order_reference', 'backlog-' || made.number, 'occurred_at', sample.at,
        'body', '\x' || encode(convert_to(body.text, 'UTF8'), 'hex'))) AS copy;

    CREATE TEMPORARY TABLE delivered ON COMMIT DROP AS
    SELECT made.*, endpoint.id AS endpoint_id,
        left(sample.id, 14) || '{mark}' || lpad(made.number::text, 5, '0') || made.sequence || endpoint.number AS id,
        CASE
            WHEN made.number >= endpoint.waits_since THEN endpoint.waiting
            WHEN made.number % 100 = 1 THEN 'failed'
            WHEN made.number % 100 = 2 THEN 'discarded'
            ELSE 'succeeded'
        END AS state
    FROM made JOIN endpoint ON made.number >= endpoint.since, sample;
    INSERT INTO deliveries
    SELECT copy.* FROM sample JOIN deliveries AS delivery USING (id)
    CROSS JOIN delivered
    CROSS JOIN LATERAL jsonb_populate_record(delivery, jsonb_build_object(
        'id', delivered.id, 'event_id', delivered.event_id, 'endpoint_id', delivered.endpoint_id,
        'order_id', delivered.order_id, 'sequence', delivered.sequence, 'kind', delivered.kind, 'state', delivered.state,
        'due_at', CASE WHEN delivered.state = 'pending' AND delivered.sequence = 1 THEN sample.at END,
        'attempts', CASE WHEN delivered.state IN ('succeeded', 'failed') THEN 1 ELSE 0 END,
        'last_status', CASE delivered.state WHEN 'succeeded' THEN 200 WHEN 'failed' THEN 500 END,
        'last_error', CASE delivered.state WHEN 'failed' THEN 'your server returned 500' WHEN 'discarded' THEN 'not sent' END,
        'created_at', sample.at,
        'completed_at', CASE WHEN delivered.state NOT IN ('pending', 'parked') THEN sample.at END)) AS copy;
    INSERT INTO attempts
    SELECT copy.* FROM sample JOIN attempts AS attempt ON attempt.delivery_id = sample.id
    JOIN delivered ON delivered.state IN ('succeeded', 'failed')
    CROSS JOIN LATERAL jsonb_populate_record(attempt, jsonb_build_object(
        'delivery_id', delivered.id, 'succeeded', delivered.state = 'succeeded',
        'response_status', CASE delivered.state WHEN 'succeeded' THEN 200 ELSE 500 END,
        'error', CASE delivered.state WHEN 'failed' THEN 'your server returned 500' END)) AS copy"#;

pub(super) async fn fill(stack: &Stack, business: &str, endpoints: &[Endpoint]) -> anyhow::Result<()> {
    let begun = Instant::now();
    let values: Vec<String> = endpoints.iter().enumerate().map(value).collect();
    for first in (0..ORDERS).step_by(usize::try_from(STEP)?) {
        let last = (first + STEP).min(ORDERS) - 1;
        let sql = FILL
            .replace("{business}", business)
            .replace("{mark}", MARK)
            .replace("{endpoints}", &values.join(", "))
            .replace("{first}", &first.to_string())
            .replace("{last}", &last.to_string())
            .replace("{events_each}", &EVENTS_EACH.to_string());
        stack.query(Service::WebhookDispatcher, &sql).await?;
    }
    eprintln!("the backlog was inserted in {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

fn value((number, endpoint): (usize, &Endpoint)) -> String {
    let waiting = match endpoint.waiting {
        Waiting::Paused => "pending",
        Waiting::Disabled => "parked",
        Waiting::No => "succeeded",
    };
    let Endpoint { id, .. } = endpoint;
    format!("({number}, '{id}', {}, {}, '{waiting}')", endpoint.since(), endpoint.waiting_since())
}
