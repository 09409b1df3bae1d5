//! `double_dip`: the trick counts as two tricks won.

/// What the trick counts for beside itself.
pub(super) const EXTRA_TRICKS: u8 = 1;
