//! Parlor referees card games for any frontend, over gRPC.

pub mod app;
pub mod cli;
pub mod client;
pub mod config;
pub mod games;
pub mod grpc;
pub mod matches;
pub mod options;
pub mod play;
pub mod proto;
pub mod rules;
pub mod simulate;
pub mod store;
pub mod telemetry;
pub mod verify;
