//! Checks that the server's messages are in English. Diesel keeps the message and drops the SQLSTATE, so `error`
//! recognises temporary conditions by English texts.

use anyhow::ensure;
use diesel::QueryableByName;
use diesel::sql_types::Text;
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};

/// Causes an error and catches it, so that it does not appear in the server's log.
const PROVOKE: &str = "DO $$ BEGIN PERFORM 1 / 0; \
    EXCEPTION WHEN division_by_zero THEN PERFORM set_config('waybill.message', SQLERRM, false); END $$";
const IN_ENGLISH: &str = "division by zero";

#[derive(QueryableByName)]
struct ServerMessage {
    #[diesel(sql_type = Text)]
    message: String,
    #[diesel(sql_type = Text)]
    role: String,
}

/// # Errors
/// When the server's messages for our role are in another language, or the server does not answer.
pub(crate) async fn expect_english(connection: &mut AsyncPgConnection) -> anyhow::Result<()> {
    connection.batch_execute(PROVOKE).await?;
    let query = "SELECT current_setting('waybill.message') AS message, current_user::text AS role";
    let ServerMessage { message, role } = diesel::sql_query(query).get_result(connection).await?;
    ensure!(
        message == IN_ENGLISH,
        "the server's error messages are not in English (\"{message}\"), so this program cannot recognise them; as a \
         superuser, run: ALTER ROLE {role} SET lc_messages TO 'C'"
    );
    Ok(())
}
