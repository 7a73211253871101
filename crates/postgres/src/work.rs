//! The argument of [`Database::transaction`](crate::Database::transaction): an async closure over a connection.

use diesel_async::AsyncPgConnection;

/// Every `async |connection| { … }` with a `Send` future implements this trait; do not implement it by hand. It expresses
/// what `AsyncFnOnce` cannot express yet: that the future is `Send`.
pub trait Work<'r, T>:
    AsyncFnOnce(&'r mut AsyncPgConnection) -> T
    + FnOnce(&'r mut AsyncPgConnection) -> <Self as Work<'r, T>>::Running
    + Send
{
    type Running: Future<Output = T> + Send;
}

impl<'r, T, F, Running> Work<'r, T> for F
where
    F: AsyncFnOnce(&'r mut AsyncPgConnection) -> T + FnOnce(&'r mut AsyncPgConnection) -> Running + Send,
    Running: Future<Output = T> + Send,
{
    type Running = Running;
}
