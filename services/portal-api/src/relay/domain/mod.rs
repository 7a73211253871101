//! Pure rules.

pub(crate) mod reports;

pub(crate) use reports::{
    ConnectionTest, EndpointReport, EndpointStatus, KeysReport, WalletReport, WebhooksReport,
};
