//! Which endpoints want which events.

use std::collections::{BTreeSet, HashMap};

use diesel::QueryableByName;
use diesel::sql_types::{Array, BigInt, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::EndpointId;
use postgres::{StoreError, statement};

use super::corrupt;
use crate::domain::{ENDPOINTS_MAX, Subject};

const SUBSCRIBERS: &str = "
    SELECT wanted.business_id, wanted.kind, wanted.mode, subscriber.id
    FROM unnest($1, $2, $3) AS wanted (business_id, kind, mode)
    CROSS JOIN LATERAL (
        SELECT id FROM endpoints
        WHERE business_id = wanted.business_id AND deleted_at IS NULL
            AND wanted.kind = ANY (events) AND wanted.mode = ANY (modes)
        ORDER BY id
        LIMIT $4
    ) AS subscriber";

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    business_id: String,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Text)]
    mode: String,
    #[diesel(sql_type = Text)]
    id: String,
}

/// The endpoints that want events of these businesses, kinds and modes; a subject that nobody wants is left out.
pub(crate) async fn subscribers(
    conn: &mut AsyncPgConnection,
    subjects: &BTreeSet<Subject>,
) -> Result<HashMap<Subject, Vec<EndpointId>>, StoreError> {
    let mut by_subject: HashMap<Subject, Vec<EndpointId>> = HashMap::new();
    if subjects.is_empty() {
        return Ok(by_subject);
    }
    let all = || subjects.iter();
    let rows: Vec<Row> = statement(SUBSCRIBERS)
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|subject| subject.business_id.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|subject| subject.kind.as_str())))
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|subject| subject.mode.as_str())))
        .bind::<BigInt, _>(ENDPOINTS_MAX)
        .load(conn)
        .await?;
    for row in rows {
        let subject = Subject {
            business_id: row.business_id.parse().map_err(corrupt)?,
            kind: row.kind.parse().map_err(corrupt)?,
            mode: row.mode.parse().map_err(corrupt)?,
        };
        by_subject.entry(subject).or_default().push(row.id.parse().map_err(corrupt)?);
    }
    Ok(by_subject)
}
