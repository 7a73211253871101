//! The rights of the role that serves, where another role owns the tables and migrates.

use anyhow::{bail, ensure};
use diesel::QueryableByName;
use diesel::sql_types::Text;
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};

const EVERY: &str = include_str!("grants/every.sql");
/// The rights of a service that may change all rows, and no tables.
pub const ROWS: &str = include_str!("grants/rows.sql");

#[derive(QueryableByName)]
struct Session {
    #[diesel(sql_type = Text)]
    database: String,
    #[diesel(sql_type = Text)]
    role: String,
}

impl Session {
    async fn of(connection: &mut AsyncPgConnection) -> diesel::QueryResult<Self> {
        let query = "SELECT current_database()::text AS database, current_user::text AS role";
        diesel::sql_query(query).get_result(connection).await
    }
}

/// Gives the role that serves what every service needs, and the service's own `rights`. An owner that serves has them already,
/// and must not lose any. A service without `rights` makes tables itself.
pub(crate) async fn grant(
    connection: &mut AsyncPgConnection,
    role: &str,
    rights: &str,
) -> anyhow::Result<()> {
    let session = Session::of(connection).await?;
    let is_owner = role == session.role;
    ensure!(
        is_owner || !rights.is_empty(),
        "this service must serve as the owner of its tables, {}",
        session.role
    );
    let rights = if is_owner { "" } else { rights };
    let script = format!("{EVERY}{rights}")
        .replace(":\"database\"", &quoted(&session.database))
        .replace(":\"service\"", &quoted(role));
    // Statements that are sent together are one transaction.
    connection.batch_execute(&script).await?;
    tracing::info!(role, "rights given");
    Ok(())
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The first tables of the migrations' owner that this role may not read. Partitions are read through their table.
const UNREADABLE: &str = "SELECT ours.relname::text AS name FROM pg_class AS migrations \
    JOIN pg_class AS ours ON ours.relnamespace = migrations.relnamespace AND ours.relowner = migrations.relowner \
    WHERE migrations.oid = to_regclass('__diesel_schema_migrations') AND ours.relkind IN ('r', 'p') \
      AND NOT ours.relispartition AND NOT has_table_privilege(ours.oid, 'SELECT') \
    ORDER BY ours.relname LIMIT 4";

#[derive(QueryableByName)]
struct Table {
    #[diesel(sql_type = Text)]
    name: String,
}

/// # Errors
/// When this role lacks its rights. The right to read stands for the others, which `grant` gives in the same transaction.
pub(crate) async fn expect_rights(connection: &mut AsyncPgConnection) -> anyhow::Result<()> {
    let unreadable: Vec<Table> = diesel::sql_query(UNREADABLE).load(connection).await?;
    if unreadable.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = unreadable.into_iter().map(|table| table.name).collect();
    let Session { role, .. } = Session::of(connection).await?;
    bail!(
        "the role {role} may not read {}; run the service's `migrate` command with WAYBILL_DATABASE__SERVING_ROLE={role} \
         (tables that are not Waybill's belong in another schema)",
        names.join(", ")
    )
}
