//! A random number generator whose output can be reproduced from its seed.

/// A pseudorandom number generator. The same seed yields the same numbers.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// Uses the seed in the environment variable `SEGUE_SEED`, or a new seed from the clock. Prints
    /// the seed.
    #[expect(
        clippy::new_without_default,
        clippy::print_stdout,
        reason = "the printed seed makes a failed test reproducible"
    )]
    pub fn new() -> Self {
        let given = std::env::var_os("SEGUE_SEED").and_then(|seed| seed.to_str()?.parse().ok());
        let now = || jiff::Timestamp::now().as_nanosecond().unsigned_abs();
        let seed = given.unwrap_or_else(|| u64::try_from(now() % 1_000_000_007).unwrap_or(1));
        println!("SEGUE_SEED={seed}");
        Self(seed)
    }

    /// Uses this seed.
    pub fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns an independent generator for one part of the test, derived from this one's state and
    /// `number`.
    pub fn branch(&self, number: u64) -> Self {
        Self(self.0 ^ (number + 1).wrapping_mul(0xa076_1d64_78bd_642f))
    }

    /// Returns a number from 0 to `limit - 1`. Panics if `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % limit as u64).expect("a number below a usize")
    }
}
