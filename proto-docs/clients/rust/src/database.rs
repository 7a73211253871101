//! Your database, as the sync record and the receiver use it.

use crate::Error;

/// The tables, for a migration of yours: the same in every language.
pub const TABLES: &str = include_str!("tables.sql");

/// A row: each column as text.
pub type Row = Vec<Option<String>>;

/// Your database, with `ON CONFLICT` and `RETURNING` as PostgreSQL has them.
pub trait Database: Send + Sync {
    /// An open transaction. Dropping it rolls it back.
    type Transaction: Send;
    type Error: From<Error> + Send;

    fn begin(&self) -> impl Future<Output = Result<Self::Transaction, Self::Error>> + Send;

    /// Runs one statement. Its parameters `$1`, `$2` … and its columns are text.
    fn rows(
        &self,
        transaction: &mut Self::Transaction,
        statement: &'static str,
        parameters: &[&str],
    ) -> impl Future<Output = Result<Vec<Row>, Self::Error>> + Send;

    fn commit(&self, transaction: Self::Transaction) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// One statement in a transaction of its own.
pub(crate) async fn rows<D: Database>(
    database: &D,
    statement: &'static str,
    parameters: &[&str],
) -> Result<Vec<Row>, D::Error> {
    let mut transaction = database.begin().await?;
    let rows = database.rows(&mut transaction, statement, parameters).await?;
    database.commit(transaction).await?;
    Ok(rows)
}
