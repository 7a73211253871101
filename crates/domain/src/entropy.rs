//! The injected source of randomness: the operating system in services, a seed in tests.

use std::sync::{Arc, Mutex, PoisonError};

use rand::rngs::{StdRng, SysRng};
use rand::{Rng, RngExt, SeedableRng};

/// A shared, cryptographically secure random generator. Clones draw from the same stream.
#[derive(Clone)]
pub struct Entropy(Arc<Mutex<StdRng>>);

impl Entropy {
    /// Seeded by the operating system.
    ///
    /// # Errors
    /// When the operating system provides no randomness. A service must not start then.
    pub fn from_system() -> Result<Self, rand::rngs::SysError> {
        Ok(Self::new(StdRng::try_from_rng(&mut SysRng)?))
    }

    /// Seeded by hand, for repeatable tests. Never for secrets.
    pub fn seeded(seed: u64) -> Self {
        Self::new(StdRng::seed_from_u64(seed))
    }

    fn new(generator: StdRng) -> Self {
        Self(Arc::new(Mutex::new(generator)))
    }

    /// `N` random bytes.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.with(|generator| generator.fill_bytes(&mut bytes));
        bytes
    }

    /// 128 random bits.
    pub fn u128(&self) -> u128 {
        u128::from_le_bytes(self.bytes())
    }

    /// A uniformly distributed number in `0..bound`. `bound` must not be 0.
    pub fn below(&self, bound: u32) -> u32 {
        self.with(|generator| generator.random_range(0..bound))
    }

    /// A number in `-1.0..=1.0`, for jitter.
    pub fn jitter(&self) -> f64 {
        self.with(|generator| generator.random_range(-1.0..=1.0))
    }

    fn with<T>(&self, draw: impl FnOnce(&mut StdRng) -> T) -> T {
        draw(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl std::fmt::Debug for Entropy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Entropy(..)")
    }
}
