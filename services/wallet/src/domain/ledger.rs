//! The arithmetic of the ledger. A positive amount increases the account. Every transfer has one line in the wallet of a
//! business and one in an account of the operator; the two sum to zero.

use std::str::FromStr;

use domain::Paise;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// The account of a line. Only wallets store a balance. The balance of an operator account is the sum of its entries, so
/// orders do not have to lock a common row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Account {
    BusinessWallet,
    /// The operator's income from deliveries.
    FeeIncome,
    /// Refunded fees, which reduce the income.
    Refunds,
    /// Money that the payment provider owes for top-ups.
    TopUpClearing,
    /// Credits that the operator granted manually, less manual debits.
    OperatorCredits,
    /// Money that the business owes because its wallet lacked it. Negative.
    BusinessReceivable,
    /// Cash owed to businesses.
    CodPayable,
    /// Cash held by drivers.
    CodWithDrivers,
    /// Cash held by the operator.
    CodWithOperator,
}

impl Account {
    /// The name in SQL.
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The reason of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum TransferKind {
    DeliveryFee,
    Refund,
    TopUp,
    OperatorCredit,
    OperatorDebit,
    /// A refund or chargeback at the payment provider.
    TopUpReversal,
    /// A deposit or refund pays what the business owes.
    ReceivablePayment,
}

impl TransferKind {
    /// The name in SQL and in the statement.
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }

    /// The operator account that balances the wallet.
    fn counterpart(self) -> Account {
        match self {
            Self::DeliveryFee => Account::FeeIncome,
            Self::Refund => Account::Refunds,
            Self::TopUp | Self::TopUpReversal => Account::TopUpClearing,
            Self::OperatorCredit | Self::OperatorDebit => Account::OperatorCredits,
            Self::ReceivablePayment => Account::BusinessReceivable,
        }
    }
}

/// What a wallet lacks for a transfer that may not fail. The business owes it from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum ShortfallKind {
    OperatorDebitShortfall,
    TopUpReversalShortfall,
}

impl ShortfallKind {
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }

    /// The account that gets the money which the business owes.
    fn counterpart(self) -> Account {
        match self {
            Self::OperatorDebitShortfall => Account::OperatorCredits,
            Self::TopUpReversalShortfall => Account::TopUpClearing,
        }
    }
}

/// The kind of a line of the statement: money that moved in the wallet, or a debt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    Moved(TransferKind),
    Owed(ShortfallKind),
}

impl LineKind {
    /// For error messages.
    pub(crate) const WORDS: &str = "delivery_fee, refund, top_up, operator_credit, operator_debit, operator_debit_shortfall, top_up_reversal, top_up_reversal_shortfall or receivable_payment";

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Moved(kind) => kind.as_str(),
            Self::Owed(kind) => kind.as_str(),
        }
    }
}

impl FromStr for LineKind {
    type Err = strum::ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self::Moved).or_else(|_| text.parse().map(Self::Owed))
    }
}

/// Both sides of a shortfall.
pub(crate) fn shortfall_lines(kind: ShortfallKind, amount: Paise) -> [Line; 2] {
    let line = |account, amount| Line { account, amount, sequence: None, balance_after: None };
    [line(kind.counterpart(), amount), line(Account::BusinessReceivable, Paise::new(-amount.get()))]
}

/// The wallet of a business. A business that never paid in has the default one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wallet {
    pub(crate) balance: Paise,
    /// Also the sequence of the newest entry.
    pub(crate) entry_count: i64,
}

/// A line of the statement. `sequence` numbers the entries of a wallet from 1, without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WalletEntry {
    pub(crate) amount: Paise,
    pub(crate) sequence: i64,
    pub(crate) balance_after: Paise,
}

/// Why an amount cannot be posted. The wallet does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PostingError {
    #[error("the balance of the wallet is insufficient")]
    Insufficient,
    #[error("the amount exceeds the maximum balance")]
    TooMuch,
}

impl Wallet {
    /// Adds a signed amount as the wallet's next entry.
    ///
    /// # Errors
    /// When the balance would fall below zero or overflow.
    pub(crate) fn post(&mut self, amount: Paise) -> Result<WalletEntry, PostingError> {
        let balance_after = self.balance.checked_add(amount).ok_or(PostingError::TooMuch)?;
        if balance_after.is_negative() {
            return Err(PostingError::Insufficient);
        }
        let sequence = self.entry_count.checked_add(1).ok_or(PostingError::TooMuch)?;
        *self = Self { balance: balance_after, entry_count: sequence };
        Ok(WalletEntry { amount, sequence, balance_after })
    }
}

/// One side of a transfer. Only the side of the wallet has a sequence and a running balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) account: Account,
    pub(crate) amount: Paise,
    pub(crate) sequence: Option<i64>,
    pub(crate) balance_after: Option<Paise>,
}

/// Both sides of a transfer, from the entry of the wallet.
pub(crate) fn lines(kind: TransferKind, entry: &WalletEntry) -> [Line; 2] {
    let wallet = Line {
        account: Account::BusinessWallet,
        amount: entry.amount,
        sequence: Some(entry.sequence),
        balance_after: Some(entry.balance_after),
    };
    // The entry was posted, so its amount is within the symmetric range of balances.
    let opposite = Paise::new(-entry.amount.get());
    let counterpart =
        Line { account: kind.counterpart(), amount: opposite, sequence: None, balance_after: None };
    [wallet, counterpart]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_kind_decides_the_operator_account() {
        let entry = WalletEntry { amount: Paise::new(-5), sequence: 2, balance_after: Paise::ZERO };
        for (kind, account) in [
            (TransferKind::DeliveryFee, "fee_income"),
            (TransferKind::Refund, "refunds"),
            (TransferKind::TopUp, "top_up_clearing"),
            (TransferKind::OperatorCredit, "operator_credits"),
            (TransferKind::OperatorDebit, "operator_credits"),
            (TransferKind::TopUpReversal, "top_up_clearing"),
            (TransferKind::ReceivablePayment, "business_receivable"),
        ] {
            let [wallet, other] = lines(kind, &entry);
            assert_eq!((wallet.account, other.account.as_str()), (Account::BusinessWallet, account));
            assert_eq!((wallet.amount, other.amount), (Paise::new(-5), Paise::new(5)));
            assert_eq!((wallet.sequence, wallet.balance_after), (Some(2), Some(Paise::ZERO)));
            assert_eq!((other.sequence, other.balance_after), (None, None));
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
        let mut full = Wallet { balance: Paise::ZERO, entry_count: i64::MAX };
        assert_eq!(full.post(Paise::new(1)), Err(PostingError::TooMuch));
    }

    #[test]
    fn a_wallet_refuses_overflow() {
        let full = Wallet { balance: Paise::new(i64::MAX), entry_count: 3 };
        let mut wallet = full;
        assert_eq!(wallet.post(Paise::new(1)), Err(PostingError::TooMuch));
        assert_eq!(wallet, full);
        assert_eq!(Wallet::default().post(Paise::new(-1)), Err(PostingError::Insufficient));
        assert_eq!(Wallet::default().post(Paise::new(i64::MIN)), Err(PostingError::Insufficient));
        let mut exact = Wallet { balance: Paise::new(5), entry_count: 1 };
        let entry = exact.post(Paise::new(-5)).unwrap();
        assert_eq!(entry, WalletEntry { amount: Paise::new(-5), sequence: 2, balance_after: Paise::ZERO });
    }

    proptest! {
        /// For any postings: the balance is the sum of the accepted amounts and never negative, the sequence has no gap,
        /// and every transfer sums to zero.
        #[test]
        fn any_postings_keep_the_ledger_balanced(amounts in proptest::collection::vec(-1_000_i64..1_000, 0..100)) {
            let mut wallet = Wallet::default();
            let mut total = 0;
            let mut accepted = 0;
            for (index, amount) in amounts.into_iter().enumerate() {
                let before = wallet;
                match wallet.post(Paise::new(amount)) {
                    Ok(entry) => {
                        accepted += 1;
                        total += amount;
                        prop_assert_eq!(entry.sequence, accepted);
                        prop_assert_eq!(entry.balance_after, wallet.balance);
                        let kind = TransferKind::VARIANTS[index % TransferKind::VARIANTS.len()];
                        let sides = lines(kind, &entry);
                        prop_assert_eq!(sides[0].amount.checked_add(sides[1].amount), Some(Paise::ZERO));
                        prop_assert_eq!(sides[0].amount, entry.amount);
                    }
                    Err(error) => {
                        prop_assert_eq!(error, PostingError::Insufficient);
                        prop_assert!(before.balance.get() + amount < 0);
                        prop_assert_eq!(wallet, before);
                    }
                }
                prop_assert!(!wallet.balance.is_negative());
                prop_assert_eq!(wallet.balance, Paise::new(total));
                prop_assert_eq!(wallet.entry_count, accepted);
            }
        }
    }
}
