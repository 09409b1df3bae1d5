//! `grab_bags`: nobody later in the trick has to follow suit; nothing if it was played face down.

use super::super::trick::Later;

pub(super) fn demands(later: &mut Later) {
    later.need_not_follow = true;
}
