//! Finds the subscribers of events. Events without subscribers are stored as well if the business has endpoints: a
//! recovery may send them after a later subscription.

use std::collections::{BTreeSet, HashMap};

use diesel::QueryableByName;
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::EndpointId;
use postgres::{StoreError, statement};

use super::corrupt;
use super::secrets::SecretColumns;
use crate::domain::{ENDPOINTS_MAX, EncryptedSecrets, Subject};

/// Returns only the ids of endpoints that do not subscribe.
const SUBSCRIBERS: &str = "
    SELECT wanted.kind AS wanted_kind, wanted.mode AS wanted_mode, subscriber.*
    FROM unnest($1, $2, $3) AS wanted (business_id, kind, mode)
    CROSS JOIN LATERAL (
        SELECT endpoints.business_id, endpoints.id, max_per_second, subscribed,
            CASE WHEN subscribed THEN url ELSE '' END AS url,
            CASE WHEN subscribed THEN secret_ciphertext ELSE '' END AS secret_ciphertext,
            CASE WHEN subscribed THEN secret_key_id ELSE '' END AS secret_key_id,
            CASE WHEN subscribed THEN next_secret_ciphertext END AS next_secret_ciphertext,
            CASE WHEN subscribed THEN next_secret_key_id END AS next_secret_key_id,
            CASE WHEN subscribed THEN next_secret_from END AS next_secret_from,
            NOT paused AND health.disabled_at IS NULL AND health.tripped_until IS NULL AS open
        FROM endpoints
        JOIN endpoint_health AS health ON health.endpoint_id = endpoints.id AND health.business_id = endpoints.business_id
        CROSS JOIN LATERAL (SELECT wanted.kind = ANY (events) AND wanted.mode = ANY (modes) AS subscribed) AS wish
        WHERE endpoints.business_id = wanted.business_id AND deleted_at IS NULL
        ORDER BY id
        LIMIT $4
    ) AS subscriber";

/// An endpoint that subscribes to an event, with everything that sending needs.
#[derive(Clone)]
pub(crate) struct Subscriber {
    pub endpoint: EndpointId,
    /// Neither paused, disabled nor tripped.
    pub open: bool,
    pub max_per_second: Option<i32>,
    pub url: String,
    pub secrets: EncryptedSecrets,
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    wanted_kind: String,
    #[diesel(sql_type = Text)]
    wanted_mode: String,
    #[diesel(sql_type = Text)]
    business_id: String,
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Text)]
    url: String,
    #[diesel(sql_type = Nullable<Integer>)]
    max_per_second: Option<i32>,
    #[diesel(embed)]
    secrets: SecretColumns,
    #[diesel(sql_type = Bool)]
    subscribed: bool,
    #[diesel(sql_type = Bool)]
    open: bool,
}

impl Row {
    fn read(self) -> Result<(Subject, Subscriber), StoreError> {
        let subject = Subject {
            business_id: self.business_id.parse().map_err(corrupt)?,
            kind: self.wanted_kind.parse().map_err(corrupt)?,
            mode: self.wanted_mode.parse().map_err(corrupt)?,
        };
        let subscriber = Subscriber {
            endpoint: self.id.parse().map_err(corrupt)?,
            open: self.open,
            max_per_second: self.max_per_second,
            url: self.url,
            secrets: self.secrets.into(),
        };
        Ok((subject, subscriber))
    }
}

/// The subscribers of each subject. A business without endpoints is missing in the result. If it has endpoints and none
/// of them subscribes, the list is empty.
pub(crate) async fn subscribers(
    mut conn: &AsyncPgConnection,
    subjects: &BTreeSet<Subject>,
) -> Result<HashMap<Subject, Vec<Subscriber>>, StoreError> {
    let mut by_subject: HashMap<Subject, Vec<Subscriber>> = HashMap::new();
    if subjects.is_empty() {
        return Ok(by_subject);
    }
    let all = || subjects.iter();
    let rows: Vec<Row> = statement(SUBSCRIBERS)
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|subject| subject.business_id.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|subject| subject.kind.as_str())))
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|subject| subject.mode.as_str())))
        .bind::<BigInt, _>(ENDPOINTS_MAX)
        .load(&mut conn)
        .await?;
    for row in rows {
        let subscribed = row.subscribed;
        let (subject, subscriber) = row.read()?;
        let subscribers = by_subject.entry(subject).or_default();
        if subscribed {
            subscribers.push(subscriber);
        }
    }
    Ok(by_subject)
}
