//! Issues the code that the customer tells the driver. The business sends it: Waybill sends nothing to customers.

use domain::{BusinessId, DeliveryStatus, Mode, OrderId};
use postgres::StoreError;

use crate::domain::DeliveryCode;
use crate::state::State;
use crate::store::{evidence, orders};

/// Why no code was issued.
#[derive(Debug, thiserror::Error)]
pub enum IssueError {
    #[error("the order does not exist")]
    NotFound,
    #[error("the delivery has ended")]
    Ended(DeliveryStatus),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The code of an order. A repeated call returns the same one.
pub async fn issue_delivery_code(
    state: &State,
    (business, mode, id): (BusinessId, Mode, OrderId),
) -> Result<String, IssueError> {
    let issue = async |conn: &mut _| -> Result<String, IssueError> {
        let order = orders::lock(conn, business, mode, id).await?.ok_or(IssueError::NotFound)?;
        if let Some(issued) = evidence::code(conn, business, id).await? {
            return Ok(issued.code);
        }
        if order.state.is_completed() {
            return Err(IssueError::Ended(order.state.status));
        }
        let code = format!("{:06}", state.unit.entropy.below(DeliveryCode::COUNT));
        evidence::insert_code(conn, business, id, &code).await?;
        Ok(code)
    };
    state.unit.transaction(issue).await
}
