//! The two columns of a role: `role` is what the previous release knows, and `exact_role` is present if it knows less.

use postgres::StoreError;

use super::stored;
use crate::domain::Role;

/// The values of `role` and `exact_role`.
pub(super) fn columns(role: Role) -> (&'static str, Option<&'static str>) {
    let former = role.in_former_release();
    (former.as_str(), (former != role).then(|| role.as_str()))
}

/// The role of these columns.
pub(super) fn read(role: &str, exact_role: Option<&str>) -> Result<Role, StoreError> {
    stored("role", exact_role.unwrap_or(role))
}

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;

    #[test]
    fn every_role_is_read_as_it_was_written() {
        for role in Role::VARIANTS {
            let (former, exact) = columns(*role);
            assert_eq!(read(former, exact).unwrap(), *role);
            assert!(["owner", "developer", "viewer"].contains(&former), "{role}");
        }
        assert_eq!(columns(Role::Owner), ("owner", None));
        assert_eq!(columns(Role::Support), ("viewer", Some("support")));
    }

    #[test]
    fn an_unknown_role_is_no_role() {
        for (role, exact) in [("chief", None), ("viewer", Some("chief")), ("viewer", Some("")), ("", None)] {
            assert!(read(role, exact).is_err(), "{role} {exact:?}");
        }
    }
}
