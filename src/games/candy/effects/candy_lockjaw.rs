//! `candy_lockjaw`: the next card of the trick is played face down and has no effect; nothing as the
//! trick's last card, or if it was played face down itself.

use super::super::trick::Later;

pub(super) fn demands(later: &mut Later) {
    later.next_mute = true;
}
