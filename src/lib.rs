//! Parlor referees card games for any frontend, over gRPC.

pub mod games;
pub mod proto;
pub mod rules;
pub mod store;
