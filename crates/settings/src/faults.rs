//! What is wrong with settings, all of it at once.

use std::fmt;

use crate::files::FILE_SUFFIX;
use crate::{Environment, Secret};

/// Every fault found in the settings, by the variable that carries it.
#[derive(Debug, Default)]
pub struct Faults(Vec<(String, String)>);

impl Faults {
    pub fn add(&mut self, variable: &str, fault: impl Into<String>) {
        self.0.push((variable.to_owned(), fault.into()));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Refuses a secret that is still the published default, unless this is a local stack.
    pub fn refuse_default_secret(&mut self, variable: &str, secret: &Secret, environment: Environment) {
        if environment == Environment::Production && secret.expose().starts_with(Secret::LOCAL_PREFIX) {
            self.add(variable, "still has its published default, which production refuses");
        }
    }

    pub(crate) fn names(&self, variable: &str) -> bool {
        self.0.iter().any(|(named, _)| named.strip_suffix(FILE_SUFFIX).unwrap_or(named) == variable)
    }

    /// Adds those of variables that are not named yet: what stands in for a faulty value must not be judged as well.
    pub(crate) fn add_further(&mut self, further: Self) {
        let further: Vec<_> = further.0.into_iter().filter(|(variable, _)| !self.names(variable)).collect();
        self.0.extend(further);
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (variable, fault) in &self.0 {
            writeln!(f, "  {variable}: {fault}")?;
        }
        Ok(())
    }
}
