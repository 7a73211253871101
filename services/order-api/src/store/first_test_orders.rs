//! Businesses with a test order.

use diesel::prelude::*;
use diesel::sql_types::{Array, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::BusinessId;
use postgres::statement;

use super::{StoreError, corrupt};

const ADD: &str = "
    INSERT INTO testers (business_id) SELECT unnest($1) ON CONFLICT DO NOTHING RETURNING business_id";

#[derive(QueryableByName)]
struct Added {
    #[diesel(sql_type = Text)]
    business_id: String,
}

/// Adds businesses, and returns those that were new.
pub async fn add(
    mut conn: &AsyncPgConnection,
    businesses: impl IntoIterator<Item = BusinessId>,
) -> Result<Vec<BusinessId>, StoreError> {
    let ids: Vec<String> = businesses.into_iter().map(|business| business.to_string()).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let added: Vec<Added> = statement(ADD).bind::<Array<Text>, _>(ids).get_results(&mut conn).await?;
    let read =
        |added: Added| added.business_id.parse().map_err(|error| corrupt("testers.business_id", error));
    added.into_iter().map(read).collect()
}
