//! The amounts of an order, for the reconciliation with the ledger of the wallet.

use chrono::{DateTime, Utc};
use domain::{BusinessId, DeliveryState, Mode, OrderId, Paise};

use super::Placement;

#[derive(Clone, Debug)]
pub struct OrderFinancials {
    pub id: OrderId,
    pub business_id: BusinessId,
    pub mode: Mode,
    pub placement: Placement,
    pub delivery_fee: Paise,
    pub cod_amount: Paise,
    pub state: DeliveryState,
    pub changed_at: DateTime<Utc>,
}
