//! Why a delivery failed, as the fleet says with a code next to its own words.

use strum::{Display, EnumString, IntoStaticStr, VariantArray};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum FailureReason {
    CustomerUnreachable,
    CustomerRefused,
    CustomerRescheduled,
    CashNotReady,
    WrongAddress,
    OutOfArea,
    PremisesClosed,
    ParcelDamaged,
    Other,
}

impl FailureReason {
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    pub fn words() -> impl Iterator<Item = &'static str> {
        Self::VARIANTS.iter().map(|reason| reason.as_str())
    }
}
