//! The system account that PostgreSQL runs as. PostgreSQL refuses to run as root, so root switches to another account.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use anyhow::{Context, bail};

/// An unprivileged account of this machine, by its ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl Account {
    /// The account for PostgreSQL: `postgres`, or else `nobody`. `None` unless we are root.
    pub(crate) fn for_postgres() -> anyhow::Result<Option<Self>> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let accounts = fs::read_to_string("/etc/passwd").context("reading /etc/passwd")?;
        match find(&accounts, "postgres").or_else(|| find(&accounts, "nobody")) {
            Some(account) => Ok(Some(account)),
            None => {
                bail!("PostgreSQL refuses to run as root, and there is no account `postgres` or `nobody`")
            }
        }
    }

    /// Makes this account the owner of a directory and closes the directory to others.
    pub(crate) fn take_over(self, directory: &Path) -> anyhow::Result<()> {
        chown(directory, Some(self.uid), Some(self.gid))
            .with_context(|| format!("giving {} to uid {}", directory.display(), self.uid))
    }

    /// Whether this account may enter the existing directory and all its parents.
    pub(crate) fn can_reach(self, directory: &Path) -> anyhow::Result<bool> {
        let directory = fs::canonicalize(directory)?;
        for ancestor in directory.ancestors() {
            let metadata = fs::metadata(ancestor)?;
            let mode = metadata.permissions().mode();
            let may_enter = if metadata.uid() == self.uid {
                mode & 0o100
            } else if metadata.gid() == self.gid {
                mode & 0o010
            } else {
                mode & 0o001
            };
            if may_enter == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Finds an account in the text of a passwd file.
fn find(accounts: &str, name: &str) -> Option<Account> {
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next() != Some(name) {
            return None;
        }
        let uid = fields.nth(1)?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some(Account { uid, gid })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        let text =
            "root:x:0:0::/root:/bin/sh\npostgres2:x:7:7::/:/bin/sh\npostgres:x:101:104:a,b:/v:/bin/sh\n";
        assert_eq!(find(text, "postgres"), Some(Account { uid: 101, gid: 104 }));
        assert_eq!(find(text, "nobody"), None);
        assert_eq!(find("postgres:x:many:104::/:/bin/sh", "postgres"), None);
    }

    #[test]
    fn a_closed_directory_is_out_of_reach() {
        let account = Account { uid: 4_000_000, gid: 4_000_000 };
        assert!(account.can_reach(Path::new("/usr")).unwrap());
        let closed = std::env::temp_dir().join(format!("waybill-closed-{}", std::process::id()));
        fs::create_dir_all(closed.join("inside")).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(!account.can_reach(&closed.join("inside")).unwrap());
        fs::remove_dir_all(&closed).unwrap();
    }
}
