//! Ratios of what was measured in the same round.

use std::fmt;

/// The ratios of all rounds.
pub struct Ratios(Vec<f64>);

impl Ratios {
    /// Ours to theirs, round by round.
    pub fn of(ours: &[f64], theirs: &[f64]) -> Self {
        let mut ratios: Vec<f64> =
            ours.iter().zip(theirs).map(|(our, their)| our / their).collect();
        ratios.sort_by(f64::total_cmp);
        Self(ratios)
    }
}

/// The middle one, and between which all lie.
impl fmt::Display for Ratios {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(ratios) = self;
        let (Some(least), Some(most)) = (ratios.first(), ratios.last()) else {
            return f.write_str("none");
        };
        write!(f, "{:.2} ({least:.2} to {most:.2})", ratios[ratios.len() / 2])
    }
}

/// The middle one.
pub fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
