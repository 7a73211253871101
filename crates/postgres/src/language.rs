//! In which language the server tells of errors. Diesel keeps the server's message and drops its SQLSTATE, so errors that
//! pass by themselves are told by English words (see `error`).

use anyhow::ensure;
use diesel::QueryableByName;
use diesel::sql_types::Text;
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};

/// An error that is caught, so that the server's log does not tell of it.
const PROVOKE: &str = "DO $$ BEGIN PERFORM 1 / 0; \
    EXCEPTION WHEN division_by_zero THEN PERFORM set_config('waybill.message', SQLERRM, false); END $$";
const IN_ENGLISH: &str = "division by zero";

#[derive(QueryableByName)]
struct Said {
    #[diesel(sql_type = Text)]
    message: String,
    #[diesel(sql_type = Text)]
    role: String,
}

/// # Errors
/// When the server speaks another language to our role, or does not answer.
pub(crate) async fn expect_english(connection: &mut AsyncPgConnection) -> anyhow::Result<()> {
    connection.batch_execute(PROVOKE).await?;
    let query = "SELECT current_setting('waybill.message') AS message, current_user::text AS role";
    let Said { message, role } = diesel::sql_query(query).get_result(connection).await?;
    ensure!(
        message == IN_ENGLISH,
        "the server tells of errors in another language (\"{message}\"), which this program does not understand; as a \
         superuser, run: ALTER ROLE {role} SET lc_messages TO 'C'"
    );
    Ok(())
}
