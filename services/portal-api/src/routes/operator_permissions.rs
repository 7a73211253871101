//! The permission of each call of the operator, and what the operator's log records of it.

use actix_web::http::Method;

use super::call_table::CallTable;
use crate::domain::Action;
use crate::domain::OperatorPermission::{
    self, ChangeBusinesses, CreditWallets, ErasePersonalData, IssuePasswordResets, ManageStaff, ManageTokens,
    ReadAuditLog, ReadBusinesses, ReadCash, ReadOrders, ReadUsers, ReviewApprovals,
};

pub(super) const OPERATOR_CALLS: CallTable<OperatorCall> = CallTable { scope: "/v1/operator", calls: CALLS };

/// What a call needs.
pub(super) struct OperatorCall {
    pub(super) permission: OperatorPermission,
    pub(super) recorded: Recorded,
}

/// What the operator's log records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recorded {
    /// The command writes the entry with its change.
    Change,
    /// The response contains personal data. The guard writes the entry.
    Read(Action),
    /// The handler writes an entry for each file before it sends the file.
    Export,
    /// The response contains no personal data of businesses or their customers.
    Nothing,
}

const fn changes(permission: OperatorPermission) -> OperatorCall {
    OperatorCall { permission, recorded: Recorded::Change }
}

const fn reads(permission: OperatorPermission, action: Action) -> OperatorCall {
    OperatorCall { permission, recorded: Recorded::Read(action) }
}

const fn exports(permission: OperatorPermission) -> OperatorCall {
    OperatorCall { permission, recorded: Recorded::Export }
}

const fn lists(permission: OperatorPermission) -> OperatorCall {
    OperatorCall { permission, recorded: Recorded::Nothing }
}

const CALLS: &[(Method, &str, OperatorCall)] = &[
    // Businesses. The lists contain the e-mail addresses of their owners.
    (Method::GET, "/businesses", reads(ReadBusinesses, Action::BusinessesRead)),
    (Method::GET, "/businesses/{id}", reads(ReadBusinesses, Action::BusinessRead)),
    (Method::PATCH, "/businesses/{id}", changes(ChangeBusinesses)),
    (Method::GET, "/businesses/{id}/health", lists(ReadBusinesses)),
    (Method::GET, "/businesses/{id}/users", reads(ReadUsers, Action::UsersRead)),
    (Method::GET, "/businesses/{id}/audit-log", reads(ReadUsers, Action::AuditLogRead)),
    (Method::POST, "/businesses/{id}/password-resets", changes(IssuePasswordResets)),
    (Method::DELETE, "/businesses/{id}/users/{user}/second-factor", changes(IssuePasswordResets)),
    (Method::GET, "/businesses/{id}/personal-data-erasure", lists(ReadBusinesses)),
    (Method::POST, "/businesses/{id}/personal-data-erasure", changes(ErasePersonalData)),
    (Method::POST, "/businesses/{id}/wallet/credits", changes(CreditWallets)),
    (Method::POST, "/businesses/{id}/wallet/debits", changes(CreditWallets)),
    (Method::GET, "/businesses/{id}/wallet/entries", lists(ReadBusinesses)),
    // Orders.
    (Method::GET, "/orders", reads(ReadOrders, Action::OrdersRead)),
    (Method::GET, "/orders/{id}/events", reads(ReadOrders, Action::OrderTimelineRead)),
    // Amounts by order, without the customers.
    (Method::GET, "/cod", lists(ReadCash)),
    (Method::GET, "/cod/discrepancies", lists(ReadCash)),
    // To request or decide one, the permission of its action is needed too. Only a single one names a user.
    (Method::PUT, "/approval-limit", changes(ManageStaff)),
    (Method::GET, "/approvals", lists(ReviewApprovals)),
    (Method::GET, "/approvals/{id}", reads(ReviewApprovals, Action::ApprovalRead)),
    (Method::POST, "/approvals/{id}/approve", changes(ReviewApprovals)),
    (Method::POST, "/approvals/{id}/reject", changes(ReviewApprovals)),
    (Method::POST, "/approvals/{id}/withdraw", changes(ReviewApprovals)),
    (Method::POST, "/approvals/{id}/reset-link", changes(ReviewApprovals)),
    // The operator's own staff and tokens.
    (Method::GET, "/staff", lists(ManageStaff)),
    (Method::POST, "/staff", changes(ManageStaff)),
    (Method::PATCH, "/staff/{id}", changes(ManageStaff)),
    (Method::DELETE, "/staff/{id}", changes(ManageStaff)),
    (Method::POST, "/staff/{id}/password-link", changes(ManageStaff)),
    (Method::DELETE, "/staff/{id}/sessions", changes(ManageStaff)),
    (Method::DELETE, "/staff/{id}/identity", changes(ManageStaff)),
    (Method::DELETE, "/staff/{id}/second-factor", changes(ManageStaff)),
    (Method::GET, "/tokens", lists(ManageTokens)),
    (Method::POST, "/tokens", changes(ManageTokens)),
    (Method::POST, "/tokens/{id}/rotate", changes(ManageTokens)),
    (Method::POST, "/tokens/{id}/disable", changes(ManageTokens)),
    (Method::GET, "/audit-log", lists(ReadAuditLog)),
    (Method::GET, "/audit-log.csv", exports(ReadAuditLog)),
    (Method::GET, "/audit-log.jsonl", exports(ReadAuditLog)),
];

#[cfg(test)]
mod tests {
    use super::super::call_table::tests::{OF_OPERATOR, check};
    use super::*;

    #[test]
    fn every_route_of_the_operator_has_a_permission() {
        check(&OPERATOR_CALLS, OF_OPERATOR, 20);
    }

    #[test]
    fn every_change_is_recorded() {
        for (method, path, call) in CALLS {
            let writes = *method != Method::GET;
            assert_eq!(call.recorded == Recorded::Change, writes, "{method} {path}");
        }
    }
}
