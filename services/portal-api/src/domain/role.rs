//! Roles of the users of a business, and what each may do.

use serde::Serialize;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

/// The role of a user. The names are stored.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, Display, EnumString, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Role {
    /// Has every permission.
    Owner,
    /// Manages the integration.
    Developer,
    /// Manages the wallet and the plan.
    Finance,
    /// Helps customers: sees their phones and addresses, and cancels orders.
    Support,
    /// Changes nothing.
    Viewer,
}

/// What a call with a session needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, Display, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Permission {
    /// One's own password and sessions.
    UseAccount,
    /// The status, the pickup profile and the plan.
    ReadBusiness,
    /// Orders and their events.
    ReadOrders,
    /// Phones and addresses of customers. No call needs it: without it, they are masked.
    ReadCustomers,
    /// The wallet, the statement and cash on delivery.
    ReadMoney,
    ReadKeys,
    /// Endpoints and the delivery log.
    ReadWebhooks,
    ReadAuditLog,
    CancelOrders,
    /// The phone and address of a parcel, and its delivery code: only for roles that see customers.
    CorrectDeliveries,
    /// Sends webhooks again.
    ResendWebhooks,
    /// Keys, endpoints, simulated orders and the pickup profile.
    ManageIntegration,
    /// Top-ups, the warning threshold and the plan.
    ManageMoney,
    ManageUsers,
    /// The identity provider of the business, and whom it lets in.
    ManageSingleSignOn,
    /// The name of the business.
    ManageBusiness,
    ErasePersonalData,
}

impl Permission {
    /// The complete table of permissions and roles.
    pub(crate) const fn roles(self) -> &'static [Role] {
        use Role::{Developer, Finance, Owner, Support, Viewer};
        match self {
            Self::UseAccount | Self::ReadBusiness | Self::ReadOrders => {
                &[Owner, Developer, Finance, Support, Viewer]
            }
            Self::ReadCustomers | Self::CorrectDeliveries => &[Owner, Support],
            Self::ReadMoney => &[Owner, Developer, Finance, Viewer],
            Self::ReadKeys => &[Owner, Developer, Viewer],
            Self::ReadWebhooks => &[Owner, Developer, Support, Viewer],
            Self::CancelOrders | Self::ResendWebhooks => &[Owner, Developer, Support],
            Self::ReadAuditLog | Self::ManageIntegration => &[Owner, Developer],
            Self::ManageMoney => &[Owner, Finance],
            // Would let a role extend itself, concerns all users, or is irreversible.
            Self::ManageUsers | Self::ManageSingleSignOn | Self::ManageBusiness | Self::ErasePersonalData => {
                &[Owner]
            }
        }
    }

    /// The least of viewer, developer and owner that has it, for callers that know no list of roles.
    pub(crate) fn least_role(self) -> Role {
        let ladder = [Role::Viewer, Role::Developer];
        ladder.into_iter().find(|role| role.may(self)).unwrap_or(Role::Owner)
    }
}

impl Role {
    /// For error messages.
    pub(crate) const WORDS: &str = "owner, developer, finance, support or viewer";

    pub(crate) fn may(self, permission: Permission) -> bool {
        permission.roles().contains(&self)
    }

    pub(crate) fn permissions(self) -> Vec<Permission> {
        Permission::VARIANTS.iter().copied().filter(|permission| self.may(*permission)).collect()
    }

    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_have_every_permission_and_viewers_change_nothing() {
        for permission in Permission::VARIANTS {
            assert!(Role::Owner.may(*permission), "{permission}");
            let harmless =
                permission.to_string().starts_with("read_") || *permission == Permission::UseAccount;
            assert!(harmless || !Role::Viewer.may(*permission), "{permission}");
        }
    }

    #[test]
    fn only_owners_and_support_see_customers_and_only_owners_manage_users() {
        assert_eq!(Permission::ReadCustomers.roles(), [Role::Owner, Role::Support]);
        assert_eq!(Permission::CorrectDeliveries.roles(), Permission::ReadCustomers.roles());
        for permission in [
            Permission::ManageUsers,
            Permission::ManageSingleSignOn,
            Permission::ManageBusiness,
            Permission::ErasePersonalData,
        ] {
            assert_eq!(permission.roles(), [Role::Owner], "{permission}");
        }
    }

    #[test]
    fn finance_and_support_change_nothing_of_the_integration() {
        for role in [Role::Finance, Role::Support] {
            for permission in [Permission::ReadKeys, Permission::ManageIntegration, Permission::ReadAuditLog]
            {
                assert!(!role.may(permission), "{role}: {permission}");
            }
        }
        assert!(!Role::Support.may(Permission::ReadMoney));
    }

    #[test]
    fn viewer_developer_and_owner_are_a_ladder() {
        for permission in Permission::VARIANTS.iter().filter(|one| **one != Permission::ReadCustomers) {
            assert!(!Role::Viewer.may(*permission) || Role::Developer.may(*permission), "{permission}");
        }
        assert_eq!(Permission::ManageMoney.least_role(), Role::Owner);
        assert_eq!(Permission::CancelOrders.least_role(), Role::Developer);
        assert_eq!(Permission::ReadMoney.least_role(), Role::Viewer);
    }

    #[test]
    fn roles_parse_from_their_stored_names() {
        for role in Role::VARIANTS {
            assert_eq!(role.as_str().parse(), Ok(*role));
            assert!(Role::WORDS.contains(role.as_str()), "{role}");
        }
    }
}
