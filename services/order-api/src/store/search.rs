//! The search for orders: the newest ones first, within bounds whatever is searched for.
//!
//! A frequent word is found among the newest orders, so these are read first. A rare word is looked up in the index of words,
//! which would return too many orders for a frequent one. A frequent word that the filter excludes nearly everywhere is
//! searched page by page.

use std::collections::BTreeSet;
use std::ops;

use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use domain::{BusinessId, CodStatus, DeliveryStatus, Mode, OrderId, PaymentType};
use postgres::{Statement, statement};

use super::{StoreError, corrupt};
use crate::domain::{OrderFilter, search_query};

/// How many of the newest orders are looked at: few at first, because most searches end there.
const LOOKS: [i64; 2] = [500, 2_000];
/// How many of the newest orders in any state show how frequent a word is.
const SAMPLE: i64 = 2_000;
/// Words in more of each thousand orders are frequent. With a filter by state, the index also reads the orders.
const FREQUENT_PER_MILLE: usize = 20;
const FREQUENT_IN_STATES_PER_MILLE: usize = 5;
/// How many of the newest orders of all businesses are looked at first.
const LOOK_ANYWHERE: i64 = 2_000;
/// Of the index of words. A search that takes longer is refused. With less memory, the places of some ten thousand orders are kept
/// by page, and all orders of these pages are read.
const INDEX_LIMITS: &str = "SET LOCAL statement_timeout = '1500ms'; SET LOCAL work_mem = '32MB'";

/// The next orders of a business in these modes and states, newest first. Each combination is a range of an index.
macro_rules! next_orders {
    ($is_wanted:literal) => {
        concat!(
            "WITH next AS MATERIALIZED (
                SELECT one.id
                FROM unnest($5, $6, $7, $8) AS wanted (mode, status, cod_status, payment_type)
                CROSS JOIN LATERAL (
                    SELECT id FROM orders
                    WHERE business_id = $1 AND placement = 'placed' AND id < $2 AND id >= $3
                        AND mode = wanted.mode",
            $is_wanted,
            " ORDER BY id DESC LIMIT $4) AS one
                ORDER BY one.id DESC LIMIT $4
            )"
        )
    };
}

macro_rules! next_in_any_state {
    () => {
        next_orders!("")
    };
}
macro_rules! next_in_states {
    () => {
        next_orders!(
            " AND status = wanted.status AND cod_status = wanted.cod_status AND payment_type = wanted.payment_type"
        )
    };
}

/// All of them are found, without a text.
macro_rules! all_of_next {
    () => {
        " SELECT id AS last, 1::bigint AS looked_at, TRUE AS is_found FROM next"
    };
}
/// Those with the words, and the last one.
macro_rules! found_of_next {
    () => {
        ", numbered AS (SELECT id, row_number() OVER (ORDER BY id DESC) AS number FROM next)
        SELECT numbered.id AS last, numbered.number AS looked_at, words IS NOT NULL AS is_found
        FROM numbered
        LEFT JOIN LATERAL (
            SELECT words FROM order_search
            WHERE order_id = numbered.id AND business_id = $1 AND words @@ replace($9, '~', right($1, 6))::tsquery
        ) AS search ON TRUE
        WHERE words IS NOT NULL OR number = (SELECT count(*) FROM next)"
    };
}

const ALL_IN_ANY_STATE: &str = concat!(next_in_any_state!(), all_of_next!());
const ALL_IN_STATES: &str = concat!(next_in_states!(), all_of_next!());
const FOUND_IN_ANY_STATE: &str = concat!(next_in_any_state!(), found_of_next!());
const FOUND_IN_STATES: &str = concat!(next_in_states!(), found_of_next!());

/// By the index of words, which alone decides which words are read. Orders are read until the page is full.
const BY_INDEX: &str = "
    WITH matched AS MATERIALIZED (
        SELECT order_id FROM order_search
        WHERE words @@ replace($9, '~', right($1, 6))::tsquery AND business_id = $1
    ),
    sorted AS MATERIALIZED (
        SELECT order_id FROM matched WHERE order_id < $2 AND order_id >= $3 ORDER BY order_id DESC
    )
    SELECT sorted.order_id AS last, 0::bigint AS looked_at, TRUE AS is_found
    FROM sorted
    CROSS JOIN LATERAL (
        SELECT FROM orders
        WHERE id = sorted.order_id AND business_id = $1 AND placement = 'placed' AND mode = ANY ($5)
            AND status = ANY ($6) AND cod_status = ANY ($7) AND payment_type = ANY ($8)
        OFFSET 0) AS wanted
    LIMIT $4";

/// Visits each business, because words begin with their business. Newest first: orders are read until the page is full.
const ANYWHERE: &str = "
    WITH RECURSIVE businesses AS (
        (SELECT business_id FROM orders ORDER BY business_id LIMIT 1)
        UNION ALL
        SELECT (
            SELECT next.business_id FROM orders AS next
            WHERE next.business_id > businesses.business_id ORDER BY next.business_id LIMIT 1)
        FROM businesses WHERE businesses.business_id IS NOT NULL),
    matched AS MATERIALIZED (
        SELECT found.order_id, businesses.business_id
        FROM businesses
        CROSS JOIN LATERAL (
            SELECT order_id FROM order_search
            WHERE words @@ replace($5, '~', right(businesses.business_id, 6))::tsquery
                AND business_id = businesses.business_id
            OFFSET 0) AS found
        WHERE found.order_id >= $2 AND found.order_id < $3),
    sorted AS MATERIALIZED (SELECT order_id, business_id FROM matched ORDER BY order_id DESC)
    SELECT sorted.order_id AS last, 0::bigint AS looked_at, TRUE AS is_found
    FROM sorted
    CROSS JOIN LATERAL (
        SELECT FROM orders
        WHERE id = sorted.order_id AND business_id = sorted.business_id AND placement = 'placed'
            AND status = ANY ($4)
        OFFSET 0) AS wanted
    LIMIT $1";

/// Those with the words among the newest of all businesses, and last the oldest of these.
const NEWEST_ANYWHERE: &str = "
    WITH next AS MATERIALIZED (
        SELECT id, business_id, status FROM orders
        WHERE id >= $2 AND id < $3 AND placement = 'placed'
        ORDER BY id DESC
        LIMIT $1)
    SELECT next.id AS last, 0::bigint AS looked_at, next.status = ANY ($4) AS is_found
    FROM next
    CROSS JOIN LATERAL (
        SELECT FROM order_search
        WHERE order_id = next.id AND business_id = next.business_id
            AND words @@ replace($5, '~', right(next.business_id, 6))::tsquery
        OFFSET 0) AS with_words
    UNION ALL
    SELECT coalesce(min(id), ''), count(*), FALSE FROM next";

/// Of a period alone: along the primary key.
const CREATED_ANYWHERE: &str = "
    SELECT id AS last, 0::bigint AS looked_at, TRUE AS is_found
    FROM orders
    WHERE id >= $2 AND id < $3 AND placement = 'placed' AND status = ANY ($4)
    ORDER BY id DESC
    LIMIT $1";

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    last: String,
    /// The number of orders up to this one.
    #[diesel(sql_type = BigInt)]
    looked_at: i64,
    #[diesel(sql_type = diesel::sql_types::Bool)]
    is_found: bool,
}

impl Row {
    fn id(&self) -> Result<OrderId, StoreError> {
        self.last.parse().map_err(|error| corrupt("orders.id", error))
    }
}

/// The result of a search.
#[derive(Debug, Default)]
pub struct Found {
    /// One more than the wanted number if there are more.
    pub ids: BTreeSet<OrderId>,
    /// The last order that was looked at, if more may follow although fewer than the wanted number were found.
    pub continue_after: Option<OrderId>,
}

impl Found {
    /// The newest of these that match.
    fn among(rows: &[Row], max: usize) -> Result<Self, StoreError> {
        let mut ids: BTreeSet<OrderId> =
            rows.iter().filter(|row| row.is_found).map(Row::id).collect::<Result<_, _>>()?;
        while ids.len() > max {
            ids.pop_first();
        }
        Ok(Self { ids, continue_after: None })
    }
}

/// The orders of a business that match the filter, from `before` on: more than `limit` if there are more.
///
/// Needs a transaction. A search that takes too long is [`StoreError::Unavailable`].
pub async fn find(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    filter: &OrderFilter,
    before: OrderId,
    limit: usize,
) -> Result<Found, StoreError> {
    let Some(search) = &filter.search else {
        let rows = Range::of(filter, before).all(conn, business, limit + 1).await?;
        return Ok(Found { ids: rows, continue_after: None });
    };
    let mut found = Found::default();
    let Some(query) = search_query(&search.text, search.sees_phones) else { return Ok(found) };
    let mut range = Range::of(filter, before);
    for look in LOOKS {
        let rows = range.look(conn, business, &query, look).await?;
        let Some(last) = rows.last() else { return Ok(found) };
        let (looked_at, last) = (last.looked_at, last.id()?);
        for row in rows.iter().filter(|row| row.is_found) {
            found.ids.insert(row.id()?);
        }
        while found.ids.len() > limit + 1 {
            found.ids.pop_first();
        }
        if found.ids.len() > limit || looked_at < look {
            return Ok(found);
        }
        range.before = last;
    }
    let OrderFilter { created_from, created_until, .. } = *filter;
    let period = OrderFilter { created_from, created_until, ..OrderFilter::default() };
    let sample = Range::of(&period, before).look(conn, business, &query, SAMPLE).await?;
    let looked_at = sample.last().map_or(0, |last| usize::try_from(last.looked_at).unwrap_or_default());
    let frequent = if range.has_states { FREQUENT_IN_STATES_PER_MILLE } else { FREQUENT_PER_MILLE };
    if sample.iter().filter(|row| row.is_found).count() * 1_000 > looked_at * frequent {
        found.continue_after = Some(range.before);
        return Ok(found);
    }
    conn.batch_execute(INDEX_LIMITS).await?;
    let wanted = limit + 1 - found.ids.len();
    found.ids.extend(range.by_index(conn, business, &query, wanted).await?);
    Ok(found)
}

/// The newest orders of any business with the words, if any, in any status or in one. Frequent words are found among the newest
/// orders, and the others by the index.
///
/// Needs a transaction. A search that takes too long is [`StoreError::Unavailable`].
pub async fn find_anywhere(
    conn: &mut AsyncPgConnection,
    text: &str,
    status: Option<DeliveryStatus>,
    created: &ops::Range<OrderId>,
    max: usize,
) -> Result<Found, StoreError> {
    let query = search_query(text, true);
    if query.is_none() && !text.is_empty() {
        return Ok(Found::default());
    }
    conn.batch_execute(INDEX_LIMITS).await?;
    let begin = |sql, limit| {
        statement(sql)
            .bind::<BigInt, _>(limit)
            .bind::<Text, _>(created.start.to_string())
            .bind::<Text, _>(created.end.to_string())
            .bind::<Array<Text>, _>(one_or_all(status).map(DeliveryStatus::as_str).collect::<Vec<_>>())
    };
    let limit = i64::try_from(max).unwrap_or(i64::MAX);
    let Some(query) = query else {
        let rows: Vec<Row> = begin(CREATED_ANYWHERE, limit).load(conn).await?;
        return Found::among(&rows, max);
    };
    let newest = begin(NEWEST_ANYWHERE, LOOK_ANYWHERE).bind::<Text, _>(query.clone());
    let newest: Vec<Row> = newest.load(conn).await?;
    let mut found = Found::among(&newest, max)?;
    let oldest = newest.iter().max_by_key(|row| row.looked_at);
    let Some(oldest) = oldest.filter(|row| row.looked_at >= LOOK_ANYWHERE) else { return Ok(found) };
    if found.ids.len() >= max {
        return Ok(found);
    }
    let looked_at = usize::try_from(LOOK_ANYWHERE).unwrap_or(usize::MAX);
    if newest.len() * 1_000 > looked_at * FREQUENT_IN_STATES_PER_MILLE {
        found.continue_after = Some(oldest.id()?);
        return Ok(found);
    }
    let rows: Vec<Row> = begin(ANYWHERE, limit).bind::<Text, _>(query).load(conn).await?;
    Found::among(&rows, max)
}

/// The modes and states of a filter, and where to begin and to end.
struct Range {
    before: OrderId,
    from: OrderId,
    modes: Vec<&'static str>,
    statuses: Vec<&'static str>,
    cod_statuses: Vec<&'static str>,
    payment_types: Vec<&'static str>,
    has_states: bool,
}

impl Range {
    fn of(filter: &OrderFilter, before: OrderId) -> Self {
        let created = filter.created_ids();
        Self {
            before: before.min(created.end),
            from: created.start,
            modes: one_or_all(filter.mode).map(Mode::as_str).collect(),
            statuses: one_or_all(filter.status).map(DeliveryStatus::as_str).collect(),
            cod_statuses: one_or_all(filter.cod_status).map(CodStatus::as_str).collect(),
            payment_types: one_or_all(filter.payment_type).map(PaymentType::as_str).collect(),
            has_states: filter.status.is_some()
                || filter.cod_status.is_some()
                || filter.payment_type.is_some(),
        }
    }

    async fn all(
        &self,
        conn: &mut AsyncPgConnection,
        business: BusinessId,
        limit: usize,
    ) -> Result<BTreeSet<OrderId>, StoreError> {
        let sql = if self.has_states { ALL_IN_STATES } else { ALL_IN_ANY_STATE };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows: Vec<Row> = self.bind_combinations(self.begin(sql, business, limit)).load(conn).await?;
        rows.iter().map(Row::id).collect()
    }

    async fn look(
        &self,
        conn: &mut AsyncPgConnection,
        business: BusinessId,
        query: &str,
        look: i64,
    ) -> Result<Vec<Row>, StoreError> {
        let sql = if self.has_states { FOUND_IN_STATES } else { FOUND_IN_ANY_STATE };
        let look = self.bind_combinations(self.begin(sql, business, look)).bind::<Text, _>(query.to_owned());
        let mut rows: Vec<Row> = look.load(conn).await?;
        rows.sort_unstable_by_key(|row| row.looked_at);
        Ok(rows)
    }

    async fn by_index(
        &self,
        conn: &mut AsyncPgConnection,
        business: BusinessId,
        query: &str,
        limit: usize,
    ) -> Result<BTreeSet<OrderId>, StoreError> {
        let rows: Vec<Row> = self
            .begin(BY_INDEX, business, i64::try_from(limit).unwrap_or(i64::MAX))
            .bind::<Array<Text>, _>(&self.modes)
            .bind::<Array<Text>, _>(&self.statuses)
            .bind::<Array<Text>, _>(&self.cod_statuses)
            .bind::<Array<Text>, _>(&self.payment_types)
            .bind::<Text, _>(query.to_owned())
            .load(conn)
            .await?;
        rows.iter().map(Row::id).collect()
    }

    fn begin<'a>(&self, sql: &'static str, business: BusinessId, limit: i64) -> Statement<'a> {
        statement(sql)
            .bind::<Text, _>(business.to_string())
            .bind::<Text, _>(self.before.to_string())
            .bind::<Text, _>(self.from.to_string())
            .bind::<BigInt, _>(limit)
    }

    /// A row of the arrays per combination; without a filter by state, per mode.
    fn bind_combinations<'a>(&self, statement: Statement<'a>) -> Statement<'a> {
        let mut columns = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut add = |mode, status, cod_status, payment_type| {
            columns.0.push(mode);
            columns.1.push(status);
            columns.2.push(cod_status);
            columns.3.push(payment_type);
        };
        for mode in &self.modes {
            if !self.has_states {
                add(*mode, None, None, None);
                continue;
            }
            for status in &self.statuses {
                for cod_status in &self.cod_statuses {
                    for payment_type in &self.payment_types {
                        add(*mode, Some(*status), Some(*cod_status), Some(*payment_type));
                    }
                }
            }
        }
        statement
            .bind::<Array<Text>, _>(columns.0)
            .bind::<Array<Nullable<Text>>, _>(columns.1)
            .bind::<Array<Nullable<Text>>, _>(columns.2)
            .bind::<Array<Nullable<Text>>, _>(columns.3)
    }
}

fn one_or_all<T: strum::VariantArray + Copy>(wanted: Option<T>) -> impl Iterator<Item = T> {
    T::VARIANTS.iter().copied().filter(move |_| wanted.is_none()).chain(wanted)
}
