//! What an entry of the audit log can say.

use strum::{Display, EnumString, IntoStaticStr};

/// What was done, as `thing.verb`. Stored names never change their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr)]
pub(crate) enum Action {
    #[strum(serialize = "account.created")]
    AccountCreated,
    #[strum(serialize = "session.opened")]
    SessionOpened,
    #[strum(serialize = "session.failed")]
    SessionFailed,
    /// A logged-in person has authenticated again, or failed to.
    #[strum(serialize = "session.confirmed")]
    SessionConfirmed,
    #[strum(serialize = "session.confirmation_failed")]
    ConfirmationFailed,
    #[strum(serialize = "session.closed")]
    SessionClosed,
    #[strum(serialize = "session.revoked")]
    SessionRevoked,
    #[strum(serialize = "audit_log.exported")]
    AuditLogExported,
    #[strum(serialize = "export.created")]
    ExportCreated,
    #[strum(serialize = "export.downloaded")]
    ExportDownloaded,
    #[strum(serialize = "password.changed")]
    PasswordChanged,
    #[strum(serialize = "password.reset_requested")]
    PasswordResetRequested,
    #[strum(serialize = "password.reset_issued")]
    PasswordResetIssued,
    #[strum(serialize = "password.reset")]
    PasswordReset,
    #[strum(serialize = "user.invited")]
    UserInvited,
    #[strum(serialize = "user.joined")]
    UserJoined,
    #[strum(serialize = "user.role_changed")]
    UserRoleChanged,
    #[strum(serialize = "user.removed")]
    UserRemoved,
    #[strum(serialize = "user.name_changed")]
    UserNameChanged,
    #[strum(serialize = "user.email_verified")]
    EmailVerified,
    #[strum(serialize = "user.email_change_requested")]
    EmailChangeRequested,
    #[strum(serialize = "user.email_changed")]
    EmailChanged,
    /// Created by the first log-in with single sign-on.
    #[strum(serialize = "user.provisioned")]
    UserProvisioned,
    #[strum(serialize = "user.identity_linked")]
    UserIdentityLinked,
    #[strum(serialize = "single_sign_on.changed")]
    SingleSignOnChanged,
    #[strum(serialize = "single_sign_on.removed")]
    SingleSignOnRemoved,
    #[strum(serialize = "invitation.withdrawn")]
    InvitationWithdrawn,
    #[strum(serialize = "api_key.created")]
    ApiKeyCreated,
    #[strum(serialize = "api_key.rotated")]
    ApiKeyRotated,
    #[strum(serialize = "api_key.revoked")]
    ApiKeyRevoked,
    #[strum(serialize = "webhook_endpoint.created")]
    EndpointCreated,
    #[strum(serialize = "webhook_endpoint.updated")]
    EndpointUpdated,
    #[strum(serialize = "webhook_endpoint.deleted")]
    EndpointDeleted,
    #[strum(serialize = "webhook_endpoint.tested")]
    EndpointTested,
    #[strum(serialize = "webhook_endpoint.parked_replayed")]
    ParkedReplayed,
    #[strum(serialize = "webhook_endpoint.parked_discarded")]
    ParkedDiscarded,
    #[strum(serialize = "webhook_secret.rotated")]
    SecretRotated,
    #[strum(serialize = "webhook_secret.activated")]
    SecretActivated,
    #[strum(serialize = "webhook_delivery.redelivered")]
    DeliveryRedelivered,
    #[strum(serialize = "webhook_recovery.started")]
    RecoveryStarted,
    #[strum(serialize = "webhook_recovery.cancelled")]
    RecoveryCancelled,
    #[strum(serialize = "order.simulated")]
    OrderSimulated,
    #[strum(serialize = "order.cancelled")]
    OrderCancelled,
    #[strum(serialize = "order.reattempt_requested")]
    OrderReattemptRequested,
    #[strum(serialize = "order.return_requested")]
    OrderReturnRequested,
    #[strum(serialize = "order.delivery_corrected")]
    OrderDeliveryCorrected,
    #[strum(serialize = "order.delivery_code_shown")]
    OrderDeliveryCodeShown,
    #[strum(serialize = "order.personal_data_erased")]
    OrderPersonalDataErased,
    #[strum(serialize = "business.personal_data_erasure_requested")]
    PersonalDataErasureRequested,
    #[strum(serialize = "wallet.topped_up")]
    WalletToppedUp,
    #[strum(serialize = "wallet.threshold_changed")]
    WalletThresholdChanged,
    /// Only in the operator's log: before the wallet is asked, because its answer may be lost. The entry of the outcome replaces it.
    #[strum(serialize = "wallet.credit_requested")]
    WalletCreditRequested,
    #[strum(serialize = "wallet.credited")]
    WalletCredited,
    /// As [`Action::WalletCreditRequested`].
    #[strum(serialize = "wallet.debit_requested")]
    WalletDebitRequested,
    #[strum(serialize = "wallet.debited")]
    WalletDebited,
    /// As [`Action::WalletCreditRequested`].
    #[strum(serialize = "remittance.requested")]
    RemittanceRequested,
    /// Only in the operator's log: the wallet refused it.
    #[strum(serialize = "remittance.refused")]
    RemittanceRefused,
    #[strum(serialize = "remittance.recorded")]
    CashRemitted,
    #[strum(serialize = "cash_difference.assigned")]
    CashDifferenceAssigned,
    #[strum(serialize = "subscription.requested")]
    SubscriptionRequested,
    #[strum(serialize = "pickup_profile.changed")]
    PickupProfileChanged,
    #[strum(serialize = "business.changed")]
    BusinessChanged,
    /// By the operator: its approval, or live access.
    #[strum(serialize = "business.refused")]
    BusinessRefused,
    /// By an owner, after a refusal.
    #[strum(serialize = "business.asked_again")]
    BusinessAskedAgain,
    /// By an owner.
    #[strum(serialize = "business.renamed")]
    BusinessRenamed,
    /// By an owner or the operator.
    #[strum(serialize = "business.contact_changed")]
    BusinessContactChanged,
    /// By an owner or the operator.
    #[strum(serialize = "business.closing_begun")]
    BusinessClosingBegun,
    /// By an owner or the operator.
    #[strum(serialize = "business.closing_withdrawn")]
    BusinessClosingWithdrawn,
    /// By the operator. From then on nobody withdraws it.
    #[strum(serialize = "business.closing_completion_begun")]
    BusinessClosingCompletionBegun,
    /// By the operator.
    #[strum(serialize = "business.closed")]
    BusinessClosed,
    /// By the system, when the law no longer keeps the books.
    #[strum(serialize = "business.erased")]
    BusinessErased,
    #[strum(serialize = "second_factor.enrolled")]
    SecondFactorEnrolled,
    #[strum(serialize = "second_factor.removed")]
    SecondFactorRemoved,
    /// By an owner or the operator.
    #[strum(serialize = "second_factor.reset")]
    SecondFactorReset,
    #[strum(serialize = "second_factor.recovery_codes_created")]
    RecoveryCodesCreated,
    #[strum(serialize = "passkey.added")]
    PasskeyAdded,
    #[strum(serialize = "passkey.removed")]
    PasskeyRemoved,
    // Only in the operator's log.
    #[strum(serialize = "staff_note.added")]
    StaffNoteAdded,
    /// Before order-api is asked, because its answer may be lost. The entry of the outcome replaces it.
    #[strum(serialize = "business.personal_data_erasure_attempted")]
    PersonalDataErasureAttempted,
    #[strum(serialize = "business.personal_data_erasure_failed")]
    PersonalDataErasureFailed,
    #[strum(serialize = "approval.requested")]
    ApprovalRequested,
    #[strum(serialize = "approval.approved")]
    ApprovalApproved,
    #[strum(serialize = "approval.rejected")]
    ApprovalRejected,
    #[strum(serialize = "approval.withdrawn")]
    ApprovalWithdrawn,
    #[strum(serialize = "approval.failed")]
    ApprovalFailed,
    #[strum(serialize = "approval.read")]
    ApprovalRead,
    #[strum(serialize = "approval.limit_changed")]
    ApprovalLimitChanged,
    #[strum(serialize = "staff.invited")]
    StaffInvited,
    #[strum(serialize = "staff.link_issued")]
    StaffLinkIssued,
    #[strum(serialize = "staff.password_set")]
    StaffPasswordSet,
    #[strum(serialize = "staff.role_changed")]
    StaffRoleChanged,
    #[strum(serialize = "staff.removed")]
    StaffRemoved,
    /// Created by the first log-in with single sign-on.
    #[strum(serialize = "staff.provisioned")]
    StaffProvisioned,
    #[strum(serialize = "staff.identity_linked")]
    StaffIdentityLinked,
    #[strum(serialize = "staff.identity_unlinked")]
    StaffIdentityUnlinked,
    #[strum(serialize = "staff.name_changed")]
    StaffNameChanged,
    #[strum(serialize = "operator_token.created")]
    OperatorTokenCreated,
    #[strum(serialize = "operator_token.rotated")]
    OperatorTokenRotated,
    #[strum(serialize = "operator_token.disabled")]
    OperatorTokenDisabled,
    #[strum(serialize = "access.refused")]
    AccessRefused,
    #[strum(serialize = "businesses.read")]
    BusinessesRead,
    #[strum(serialize = "business.read")]
    BusinessRead,
    #[strum(serialize = "users.read")]
    UsersRead,
    #[strum(serialize = "audit_log.read")]
    AuditLogRead,
    #[strum(serialize = "orders.read")]
    OrdersRead,
    #[strum(serialize = "order_timeline.read")]
    OrderTimelineRead,
    #[strum(serialize = "order_evidence.read")]
    OrderEvidenceRead,
}
