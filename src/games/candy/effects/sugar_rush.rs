//! `sugar_rush`: you lead the next trick, whoever won this one and whatever Pranks say. All there is
//! to it stands in [`Trick::next_leader`](super::super::trick::Trick::next_leader).
