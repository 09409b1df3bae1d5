//! `lollipops`: worth points in a stash when the hand ends, tummy ache or not, and however the card
//! was played.

/// What it is worth.
pub(super) const POINTS: u8 = 2;
