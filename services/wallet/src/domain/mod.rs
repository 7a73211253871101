//! Pure rules: how money moves between accounts, how debits end, which payments pay a top-up, where cash is.

mod cash;
mod debits;
mod ledger;
mod payments;
mod reconciliation;
mod remittance;
mod top_ups;

pub(crate) use cash::{
    CashRecord, CashReport, CashStatus, CashStep, CashTerms, DifferenceState, Reported, cash_lines,
};
pub(crate) use debits::{
    Action, Debit, DebitId, DebitJob, DebitRefusal, Decided, Known, LowBalance, Outcome, decide,
};
pub(crate) use ledger::{
    Account, Line, LineKind, PostingError, ShortfallKind, TransferKind, Wallet, WalletEntry, lines,
    shortfall_lines,
};
pub use payments::Provider;
pub(crate) use payments::{CURRENCY, Notice, NoticeOutcome, Payment, Reversal, ReversalStep};
pub(crate) use reconciliation::{
    CashSide, Check, DebitSide, Discrepancy, Finding, LedgerSide, OrderSide, UNDER_WAY_MAX, compare,
};
pub(crate) use remittance::{
    NewRemittance, ORDERS_MAX, OrderName, OrderRefusal, Remittance, RemittancePlan, RemittedOrder,
    WantedOrder, is_repetition,
};
pub(crate) use top_ups::{PENDING_MAX, PaymentDecision, Status, TopUp, next_check};

#[cfg(test)]
mod tests {
    use std::fmt::Display;
    use std::str::FromStr;

    use strum::VariantArray as _;

    use super::*;

    fn named<T: FromStr + Display>(as_str: fn(T) -> &'static str, names: &[&str]) {
        for name in names {
            let Ok(value) = name.parse::<T>() else { panic!("{name} means nothing") };
            assert_eq!(value.to_string(), *name);
            assert_eq!(as_str(value), *name);
        }
    }

    /// The tables hold these names: none may ever change.
    #[test]
    fn words_have_the_names_that_are_stored() {
        named(
            Account::as_str,
            &[
                "business_wallet",
                "fee_income",
                "refunds",
                "top_up_clearing",
                "operator_credits",
                "cod_payable",
            ],
        );
        named(Account::as_str, &["business_receivable", "cod_with_drivers", "cod_with_operator"]);
        named(TransferKind::as_str, &["delivery_fee", "refund", "top_up", "operator_credit"]);
        named(TransferKind::as_str, &["operator_debit", "top_up_reversal", "receivable_payment"]);
        assert_eq!(
            ShortfallKind::VARIANTS.iter().map(|kind| kind.as_str()).collect::<Vec<_>>(),
            ["operator_debit_shortfall", "top_up_reversal_shortfall"]
        );
        named(CashStep::as_str, &["collected", "handed_over", "settled"]);
        named(Outcome::as_str, &["posted", "rejected", "voided"]);
        named(Provider::as_str, &["sandbox", "razorpay"]);
        named(Status::as_str, &["pending", "succeeded", "failed"]);
        named(
            NoticeOutcome::as_str,
            &["credited", "settled_before", "reversed", "noted", "mismatch", "ignored"],
        );
        named(Check::as_str, &["wallet_balance_wrong", "order_without_debit", "refund_missing"]);
    }
}
