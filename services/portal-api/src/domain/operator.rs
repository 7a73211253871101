//! Who acts for the operator, and what each role may do.

use domain::{OperatorTokenId, StaffId};
use identity::CallerAddress;
use serde::Serialize;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

/// The role of a person or a token of the operator. The names are stored.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, Display, EnumString, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum OperatorRole {
    /// Has every permission.
    Administrator,
    /// Credits wallets.
    Finance,
    /// Helps businesses and their users, and sees orders.
    Support,
    /// Sees businesses and cash. No customer's data.
    Viewer,
}

/// What a call of the operator needs.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, Display, EnumString, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum OperatorPermission {
    ReadBusinesses,
    ReadCash,
    /// The users of businesses, and what they did.
    ReadUsers,
    /// Orders with the data of customers.
    ReadOrders,
    ChangeBusinesses,
    IssuePasswordResets,
    CreditWallets,
    ErasePersonalData,
    ManageStaff,
    ManageTokens,
    ReadAuditLog,
    /// Sees requests for approval. To decide one, the permission of its action is needed too.
    ReviewApprovals,
}

impl OperatorPermission {
    /// The complete table of permissions and roles.
    pub(crate) const fn roles(self) -> &'static [OperatorRole] {
        use OperatorRole::{Administrator, Finance, Support, Viewer};
        match self {
            Self::ReadBusinesses | Self::ReadCash => &[Administrator, Finance, Support, Viewer],
            Self::ReviewApprovals => &[Administrator, Finance, Support],
            Self::CreditWallets => &[Administrator, Finance],
            Self::ReadUsers | Self::ReadOrders | Self::ChangeBusinesses | Self::IssuePasswordResets => {
                &[Administrator, Support]
            }
            // Irreversible, or would let a role extend itself.
            Self::ErasePersonalData | Self::ManageStaff | Self::ManageTokens | Self::ReadAuditLog => {
                &[Administrator]
            }
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}

impl OperatorRole {
    /// For error messages.
    pub(crate) const WORDS: &str = "administrator, finance, support or viewer";

    pub(crate) fn may(self, permission: OperatorPermission) -> bool {
        permission.roles().contains(&self)
    }

    pub(crate) fn permissions(self) -> Vec<OperatorPermission> {
        OperatorPermission::VARIANTS.iter().copied().filter(|permission| self.may(*permission)).collect()
    }

    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Who acts for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OperatorActor {
    Person {
        id: StaffId,
        email: String,
    },
    Token {
        id: OperatorTokenId,
        name: String,
    },
    /// The token of the settings.
    Configuration,
    /// `portal-api create-operator`.
    Command,
    /// Somebody who failed to log in.
    Unknown,
}

impl OperatorActor {
    /// As stored in the log.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Person { .. } => "person",
            Self::Token { .. } => "token",
            Self::Configuration => "configuration",
            Self::Command => "command",
            Self::Unknown => "unknown",
        }
    }

    pub(crate) fn id(&self) -> Option<String> {
        match self {
            Self::Person { id, .. } => Some(id.to_string()),
            Self::Token { id, .. } => Some(id.to_string()),
            Self::Configuration | Self::Command | Self::Unknown => None,
        }
    }

    /// The e-mail address, or the name of the token.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Person { email, .. } => email,
            Self::Token { name, .. } => name,
            other => other.kind(),
        }
    }

    /// A named token never grants access: what it granted would outlive it, and so would a removed administrator's token.
    pub(crate) fn may(&self, role: OperatorRole, permission: OperatorPermission) -> bool {
        use OperatorPermission::{ManageStaff, ManageTokens};
        let is_named_token = matches!(self, Self::Token { .. });
        role.may(permission) && !(is_named_token && matches!(permission, ManageStaff | ManageTokens))
    }

    /// Reads what [`Self::kind`], [`Self::id`] and [`Self::name`] wrote. `None` for a damaged row.
    pub(crate) fn stored(kind: &str, id: Option<&str>, name: String) -> Option<Self> {
        match (kind, id) {
            ("person", Some(id)) => Some(Self::Person { id: id.parse().ok()?, email: name }),
            ("token", Some(id)) => Some(Self::Token { id: id.parse().ok()?, name }),
            ("configuration", None) => Some(Self::Configuration),
            _ => None,
        }
    }

    pub(crate) fn staff(&self) -> Option<StaffId> {
        match self {
            Self::Person { id, .. } => Some(*id),
            _ => None,
        }
    }
}

/// An actor at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OperatorCaller {
    pub(crate) actor: OperatorActor,
    /// `None` for the command.
    pub(crate) address: Option<CallerAddress>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn administrators_have_every_permission_and_viewers_change_nothing() {
        for permission in OperatorPermission::VARIANTS {
            assert!(OperatorRole::Administrator.may(*permission), "{permission}");
            let reads = permission.as_str().starts_with("read_");
            assert!(reads || !OperatorRole::Viewer.may(*permission), "{permission}");
        }
    }

    #[test]
    fn only_administrators_manage_access() {
        use OperatorPermission::{ErasePersonalData, ManageStaff, ManageTokens, ReadAuditLog};
        for permission in [ErasePersonalData, ManageStaff, ManageTokens, ReadAuditLog] {
            assert_eq!(permission.roles(), [OperatorRole::Administrator], "{permission}");
        }
    }

    #[test]
    fn roles_parse_from_their_stored_names() {
        for role in OperatorRole::VARIANTS {
            assert_eq!(role.as_str().parse(), Ok(*role));
            assert!(OperatorRole::WORDS.contains(role.as_str()), "{role}");
        }
    }
}
