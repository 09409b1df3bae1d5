//! `flashlight_tag`: all later cards of the trick are played face down and revealed once all have
//! played; nothing if it was played face down itself.

use super::super::trick::Later;

pub(super) fn demands(later: &mut Later) {
    later.face_down = true;
}
