//! The API: thin services that identify the caller, read the request, ask [`crate::matches`], and
//! write the answer.
//!
//! To change which status an error becomes, edit `errors`; to change what a message holds, edit
//! `messages`; what concerns every call alike stands in `layers`, one concern a file.

mod catalog_service;
mod deadline;
pub mod errors;
mod fields;
mod identity;
pub mod layers;
mod match_service;
mod messages;
mod places;
mod rates;
mod resume;
mod streams;
pub mod tokens;

pub use self::catalog_service::Catalogs;
pub use self::deadline::Deadlines;
pub use self::identity::ApiKeys;
pub use self::match_service::Service;
pub use self::places::{Places, StreamLimits};
pub use self::rates::{BadRate, Rate, RateLimits, Rates};
