//! Pure rules.

pub(crate) mod approval;

pub(crate) use approval::{
    Approval, ApprovalCaller, ApprovalFilter, ApprovalKind, ApprovalPolicy, ApprovalRefusal, ApprovalState,
    Decision, ProtectedAction, RELATED_FOR, SuspensionLift, WalletDebit, are_related,
};
