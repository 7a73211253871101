//! The ledger's arithmetic. An amount is signed from the account's own view: positive is money that comes in. Every
//! transfer has one line in a business's wallet and one in an account of the operator's, and the two sum to zero.

use domain::Paise;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// Whose money a line counts. Only wallets keep a balance; what an account of the operator's holds is the sum of its
/// entries, so that no row exists that every order would have to lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Account {
    BusinessWallet,
    /// What deliveries earn the operator.
    FeeIncome,
    /// What fees were given back; set against the income.
    Refunds,
    /// What the payment provider owes for top-ups.
    TopUpClearing,
    /// What the operator gave to wallets by hand.
    OperatorCredits,
    /// The cash that businesses are owed.
    CodPayable,
    /// Cash that drivers hold.
    CodWithDrivers,
    /// Cash that the operator holds.
    CodWithOperator,
}

impl Account {
    /// The name used in SQL.
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Why money moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum TransferKind {
    DeliveryFee,
    Refund,
    TopUp,
    OperatorCredit,
}

impl TransferKind {
    /// The name used in SQL and in the statement.
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }

    /// The account at the other end of the wallet.
    fn counterpart(self) -> Account {
        match self {
            Self::DeliveryFee => Account::FeeIncome,
            Self::Refund => Account::Refunds,
            Self::TopUp => Account::TopUpClearing,
            Self::OperatorCredit => Account::OperatorCredits,
        }
    }
}

/// A business's wallet as it stands; a business that never had money in has the default one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wallet {
    pub(crate) balance: Paise,
    /// How many entries it has; the newest has this sequence.
    pub(crate) entry_count: i64,
}

/// A line of the statement. `sequence` counts a wallet's entries from 1 without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WalletEntry {
    pub(crate) amount: Paise,
    pub(crate) sequence: i64,
    pub(crate) balance_after: Paise,
}

/// Why an amount cannot be posted. The wallet stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PostingError {
    #[error("the wallet holds too little")]
    Insufficient,
    #[error("the wallet cannot hold that much")]
    TooMuch,
}

impl Wallet {
    /// Adds a signed amount as the wallet's next entry.
    ///
    /// # Errors
    /// When the balance would fall below zero, or out of what an amount can express.
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

/// One side of a transfer. Only the wallet's side has a place in a sequence and a running balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) account: Account,
    pub(crate) amount: Paise,
    pub(crate) sequence: Option<i64>,
    pub(crate) balance_after: Option<Paise>,
}

/// Both sides of a transfer, given the wallet's.
pub(crate) fn lines(kind: TransferKind, entry: &WalletEntry) -> [Line; 2] {
    let wallet = Line {
        account: Account::BusinessWallet,
        amount: entry.amount,
        sequence: Some(entry.sequence),
        balance_after: Some(entry.balance_after),
    };
    // An amount that was posted lies within the range of balances, which is symmetric.
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
    fn each_kind_has_an_account_of_its_own_at_the_other_end() {
        let mut seen: Vec<_> = TransferKind::VARIANTS.iter().map(|kind| kind.counterpart()).collect();
        seen.push(Account::BusinessWallet);
        // Cash never touches a wallet.
        seen.extend([Account::CodPayable, Account::CodWithDrivers, Account::CodWithOperator]);
        assert_eq!(seen.len(), Account::VARIANTS.len());
        assert!(Account::VARIANTS.iter().all(|account| seen.contains(account)));
    }

    #[test]
    fn the_other_end_of_a_transfer_is_that_of_its_kind() {
        let entry = WalletEntry { amount: Paise::new(-5), sequence: 2, balance_after: Paise::ZERO };
        for (kind, account) in [
            (TransferKind::DeliveryFee, "fee_income"),
            (TransferKind::Refund, "refunds"),
            (TransferKind::TopUp, "top_up_clearing"),
            (TransferKind::OperatorCredit, "operator_credits"),
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
    fn a_wallet_refuses_what_it_cannot_express() {
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
        /// Whatever is posted, in whatever order: the balance is the sum of what was accepted and never negative, the
        /// sequence has no gap, and every transfer sums to zero.
        #[test]
        fn any_postings_keep_the_books(amounts in proptest::collection::vec(-1_000_i64..1_000, 0..100)) {
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
