//! Where a curve over the rounds is computed.

/// So many numbers of rounds, or each of them if there are fewer: growing, closer together at the start, where ε
/// grows quickest, and the last one all rounds.
///
/// ```
/// let some: Vec<u64> = tacita_cli::plot::prefixes(1000, 4).collect();
/// assert_eq!(some, [63, 250, 563, 1000]);
/// let few: Vec<u64> = tacita_cli::plot::prefixes(3, 4).collect();
/// assert_eq!(few, [1, 2, 3]);
/// ```
pub fn prefixes(rounds: u64, points: u64) -> impl Iterator<Item = u64> {
    let points = points.min(rounds);
    (1..=points).map(move |index| {
        let share = (index as f64 / points as f64).powi(2);
        ((share * rounds as f64).ceil() as u64).clamp(index, rounds)
    })
}
