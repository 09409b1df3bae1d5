//! Parlor referees card games for any frontend, over gRPC.
//!
//! # The layers
//!
//! From the inside out; each knows only those above it in this list, and a test holds that:
//!
//! - [`rules`]: what every game shares. Pure: no clock, no environment, no randomness but a seed's.
//! - [`games`]: one folder a game, and the registry, the one list of them. As pure as the rules, but
//!   for each game's conversions to messages. The registry makes of all games a sum that is itself
//!   a game, so that the layers below are generic over one type and name no game.
//! - [`store`]: where matches are kept, as bytes and versions: in memory, or in Redis.
//! - [`mod@matches`]: create, join, act, watch, for any game over any store. No transport.
//! - [`memory`]: whether the process takes more of it than it may.
//! - [`grpc`]: the API: identify the caller, read the request, ask, write the answer.
//! - [`connections`]: what comes in, before anything is known of it but how it behaves.
//! - [`app`]: all of it put together, from [`config`] and [`cli`]; [`telemetry`] writes the logs and
//!   exports traces and metrics, which [`admin`] also serves, beside [`info`]; what the other layers know
//!   of telemetry is [`trace`].
//!
//! Beside them stand [`client`], which knows the messages ([`proto`]) and nothing of the server, and
//! the commands that use it, [`play`], [`probe`] and [`verify`], through [`mod@dial`]; and [`simulate`], which knows only the games.
//!
//! # What holds
//!
//! - The same setup, seed and actions give the same match on any machine, for ever.
//! - A refusal changes nothing. A change is saved whole before anyone hears of it, or not at all.
//! - Views and visible events are types of their own, built up from nothing: no layer takes
//!   something away from a state to hide it. There is no viewer who sees everything.
//! - An instance has nothing that it could not lose.
//! - Versions are the same for every viewer, and every version is one update for each: neither
//!   numbers nor occurrence tell what is hidden.
//!
//! # Where to change what
//!
//! - A rule: the game's folder; its module documentation states each ruling.
//! - What a message holds: `proto/`, and the game's `conversions`, or `grpc::messages`.
//! - Which status an error becomes: [`grpc::errors`].
//! - What is written to Redis: the scripts in `store/redis`.
//! - A setting: [`cli`] for its name and text, [`config`] for what it may be.

pub mod admin;
pub mod app;
pub mod cli;
pub mod client;
pub mod config;
pub mod connections;
pub mod dial;
pub mod games;
pub mod grpc;
pub mod info;
pub mod matches;
pub mod memory;
pub mod options;
pub mod play;
pub mod probe;
pub mod proto;
pub mod rules;
pub mod simulate;
pub mod store;
pub mod telemetry;
pub mod trace;
pub mod verify;
