//! Chance that can be repeated.

/// Numbers that look random, and are the same for one seed (`SplitMix64`).
#[derive(Debug, Clone)]
pub(super) struct Chance(u64);

impl Chance {
    /// With the seed that `TOOLGATE_SEED` says, or always the same one.
    #[expect(clippy::print_stdout, reason = "who sees a test fail needs the seed")]
    pub(super) fn of_the_day() -> Self {
        let said = config::environment("TOOLGATE_SEED").and_then(|seed| seed.parse().ok());
        let seed = said.unwrap_or(7);
        println!("TOOLGATE_SEED={seed}");
        Self(seed)
    }

    pub(super) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of them.
    pub(super) fn one<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        let at = usize::try_from(self.number()).unwrap_or_default() % all.len();
        &all[at]
    }
}

/// The letters of ids, by their kind.
pub(super) const KINDS: [&str; 3] = ["0123456789", "abcdef", "ghjkmnpqrstvwxyz"];

/// What looks like `name` and names nothing: its letters are others of the same kind. What begins alike has
/// twins that begin alike, so that what is found by its beginning is found as often by its twin's.
pub(super) fn twin(name: &str) -> String {
    let from = name.rfind([':', '_']).map_or(0, |at| at + 1);
    let next = |letter: char| {
        let kind = KINDS.iter().find(|kind| kind.contains(letter));
        let turned = kind.and_then(|kind| {
            let at = kind.find(letter)?;
            kind.chars().cycle().nth(at + 3)
        });
        turned.unwrap_or(letter)
    };
    let (before, own) = name.split_at(from);
    before.chars().chain(own.chars().map(next)).collect()
}
