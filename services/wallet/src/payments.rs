//! The payment provider that collects top-ups. It is asked between two transactions of ours: the first writes the
//! top-up down as pending, the second credits it once the provider has confirmed.

use domain::{Paise, TopUpId};
use serde::Deserialize;
use strum::{Display, EnumString, IntoStaticStr};

/// Who collects the money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Provider {
    /// Nobody: every top-up counts as paid at once. For trying Waybill out; production refuses it.
    #[default]
    Sandbox,
}

/// How a provider answers when it is asked to collect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collection {
    /// The money is there.
    Confirmed,
}

impl Provider {
    /// The name used in SQL and in answers.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether real money stands behind its confirmations.
    pub(crate) fn is_real(self) -> bool {
        match self {
            Self::Sandbox => false,
        }
    }

    /// Asks for `amount` under the name of the top-up, which makes asking twice harmless.
    pub(crate) async fn collect(self, top_up: TopUpId, amount: Paise) -> Collection {
        match self {
            Self::Sandbox => {
                tracing::info!(%top_up, amount_paise = amount.get(), "the sandbox collects a top-up");
                Collection::Confirmed
            }
        }
    }
}
