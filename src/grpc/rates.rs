//! How often callers may do what costs: acting, creating, opening streams, and guessing.
//!
//! Everything here is judged before the store is asked, on what this instance alone has seen. What
//! is remembered of callers is bounded: of too many, those that were not seen for long are
//! forgotten.

use std::convert::Infallible;
use std::fmt;
use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use quick_cache::sync::Cache;
use serde::ser::{Serialize, SerializeStruct as _, Serializer};
use tonic::Status;

use super::errors::Fault;
use crate::matches::Caller;
use crate::rules::Seat;
use crate::store::MatchId;

/// How many callers of each kind are remembered.
const REMEMBERED: usize = 20_000;

/// So many in a time, with so many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(Quota);

impl Rate {
    /// How many a second, in the long run.
    #[must_use]
    pub fn per_second(self) -> f64 {
        self.0.replenish_interval().as_secs_f64().recip()
    }
}

/// A rate that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a rate, as in 10/s, 10/s:20 with so many at once, or 10/min")]
pub struct BadRate;

/// After how long there may be one more, and how many at once.
impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(quota) = self;
        let mut fields = serializer.serialize_struct("Rate", 2)?;
        let every = humantime::format_duration(quota.replenish_interval()).to_string();
        fields.serialize_field("every", &every)?;
        fields.serialize_field("at_once", &quota.burst_size())?;
        fields.end()
    }
}

impl FromStr for Rate {
    type Err = BadRate;

    /// Reads `count/unit` or `count/unit:burst`, the unit `s` or `min`.
    fn from_str(text: &str) -> Result<Self, BadRate> {
        let number = |text: &str| text.parse::<NonZeroU32>().map_err(|_| BadRate);
        let (count, rest) = text.split_once('/').ok_or(BadRate)?;
        let (unit, burst) = rest.split_once(':').unwrap_or((rest, count));
        let count = number(count)?;
        let quota = match unit {
            "s" => Quota::per_second(count),
            "min" => Quota::per_minute(count),
            _ => return Err(BadRate),
        };
        Ok(Self(quota.allow_burst(number(burst)?)))
    }
}

/// How often each caller may do what; nothing stands for as often as it likes.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateLimits {
    /// A seat may act.
    pub acts: Option<Rate>,
    /// All seats of a match may act together.
    pub match_acts: Option<Rate>,
    /// A principal may create matches, or an address where everyone can.
    pub creations: Option<Rate>,
    /// All may create matches together.
    pub all_creations: Option<Rate>,
    /// A seat may open streams.
    pub opens: Option<Rate>,
    /// Spectators of a match may open streams from one address.
    pub spectators: Option<Rate>,
    /// An address may show tokens and keys that are not of this service.
    pub guesses: Option<Rate>,
}

/// How often each caller did what. Clones count together.
#[derive(Clone, Debug)]
pub struct Rates(Arc<Limiters>);

#[derive(Debug)]
struct Limiters {
    acts: Limiter<(MatchId, Seat)>,
    match_acts: Limiter<MatchId>,
    creations: Limiter<String>,
    all_creations: Limiter<()>,
    opens: Limiter<(MatchId, Seat)>,
    spectators: Limiter<(MatchId, Option<IpAddr>)>,
    guesses: Limiter<Option<IpAddr>>,
}

impl Rates {
    /// Nobody has done anything yet.
    #[must_use]
    pub fn new(limits: RateLimits) -> Self {
        Self(Arc::new(Limiters {
            acts: Limiter::new(limits.acts),
            match_acts: Limiter::new(limits.match_acts),
            creations: Limiter::new(limits.creations),
            all_creations: Limiter::new(limits.all_creations),
            opens: Limiter::new(limits.opens),
            spectators: Limiter::new(limits.spectators),
            guesses: Limiter::new(limits.guesses),
        }))
    }

    /// A seat acts.
    pub(super) fn act(&self, id: MatchId, seat: Seat) -> Result<(), Status> {
        self.0.acts.count(&(id, seat), "actions of the seat")?;
        self.0.match_acts.count(&id, "actions of the match")
    }

    /// A principal creates a match; from this address, where everyone is the same principal.
    pub(super) fn create(&self, principal: &String) -> Result<(), Status> {
        self.0.creations.count(principal, "matches created by the caller")?;
        self.0.all_creations.count(&(), "matches created")
    }

    /// Someone opens a stream, from this address. Spectators are not told apart but by that.
    pub(super) fn open(
        &self,
        id: MatchId,
        caller: Caller,
        address: Option<IpAddr>,
    ) -> Result<(), Status> {
        match caller {
            Caller::Seat(seat, _) => self.0.opens.count(&(id, seat), "streams opened by the seat"),
            Caller::Spectator | Caller::Anyone => {
                let what = "streams opened by spectators of the match";
                self.0.spectators.count(&(id, address.map(network)), what)
            }
        }
    }

    /// Someone shows what is not of this service.
    ///
    /// Only those who guess wrong are counted: whoever has a good token is let in, also from behind
    /// the same proxy.
    pub(super) fn guess(&self, address: Option<IpAddr>) -> Result<(), Status> {
        self.0.guesses.count(&address.map(network), "tokens and keys that are not valid")
    }
}

/// What one caller can have many addresses of: in version 6, they are given out by 64 bits.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) & !u128::from(u64::MAX)).into()),
        address @ IpAddr::V4(_) => address,
    }
}

/// Counts what callers of one kind do.
struct Limiter<K> {
    /// With its callers; nothing, where there is no limit.
    limit: Option<(Rate, Cache<K, Arc<DefaultDirectRateLimiter>>)>,
    clock: DefaultClock,
}

impl<K> fmt::Debug for Limiter<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Limiter").field(&self.limit.as_ref().map(|(rate, _)| rate)).finish()
    }
}

impl<K: Clone + Eq + Hash> Limiter<K> {
    fn new(rate: Option<Rate>) -> Self {
        let limit = rate.map(|rate| (rate, Cache::new(REMEMBERED)));
        Self { limit, clock: DefaultClock::default() }
    }

    fn count(&self, caller: &K, what: &str) -> Result<(), Status> {
        self.wait(caller).map_err(|wait| Fault::RATE_LIMITED.with_pushback(what, wait))
    }

    /// Counts once more, or says how long to wait.
    fn wait(&self, caller: &K) -> Result<(), Duration> {
        let Some((rate, callers)) = &self.limit else { return Ok(()) };
        let new = || Ok::<_, Infallible>(Arc::new(RateLimiter::direct(rate.0)));
        let Ok(limiter) = callers.get_or_insert_with(caller, new);
        limiter.check().map_err(|until| until.wait_time_from(self.clock.now()))
    }
}

#[cfg(test)]
mod tests {
    use tonic_types::StatusExt as _;

    use super::*;

    #[test]
    fn a_rate_is_a_count_a_unit_and_perhaps_a_burst() {
        let ten = NonZeroU32::new(10).expect("not zero");
        let twenty = NonZeroU32::new(20).expect("not zero");
        assert_eq!("10/s".parse(), Ok(Rate(Quota::per_second(ten))));
        assert_eq!("10/s:20".parse(), Ok(Rate(Quota::per_second(ten).allow_burst(twenty))));
        assert_eq!("10/min".parse(), Ok(Rate(Quota::per_minute(ten))));
        for text in ["", "10", "0/s", "10/h", "10/s:0", "10/s:", "-1/s", "10/s:20:30"] {
            assert_eq!(text.parse::<Rate>(), Err(BadRate), "{text:?}");
        }
    }

    #[test]
    fn each_caller_has_its_own_rate_and_is_told_how_long_to_wait() {
        let limiter = Limiter::new("1/min:2".parse().ok());
        for caller in [1, 1, 2] {
            limiter.wait(&caller).expect("not yet too often");
        }
        let wait = limiter.wait(&1).expect_err("too often");
        assert!(wait > Duration::from_secs(50) && wait <= Duration::from_secs(60), "{wait:?}");
        limiter.wait(&2).expect("another one's rate");

        let status = limiter.count(&1, "calls").expect_err("too often");
        let details = status.get_error_details();
        let delay = details.retry_info().and_then(|retry| retry.retry_delay).expect("a delay");
        assert!(delay > Duration::from_secs(50) && delay < Duration::from_secs(70), "{delay:?}");
        assert_eq!(details.quota_failure().expect("a quota").violations[0].subject, "calls");
        let pushback = status.metadata().get("grpc-retry-pushback-ms").expect("a pushback");
        assert_eq!(pushback.as_encoded_bytes(), delay.as_millis().to_string().as_bytes());
    }

    #[test]
    fn no_limit_is_no_limit() {
        let limiter = Limiter::new(None);
        assert!((0..1000).all(|_| limiter.wait(&1).is_ok()));
    }

    #[test]
    fn what_is_remembered_of_callers_is_bounded() {
        let limiter = Limiter::new("1/min".parse().ok());
        for caller in 0..3 * REMEMBERED {
            limiter.wait(&caller).expect("its first");
        }
        let (_, callers) = limiter.limit.expect("a limit");
        assert!(callers.len() <= REMEMBERED);
    }

    #[test]
    fn an_address_of_version_6_counts_with_its_neighbours() {
        let network = |text: &str| network(text.parse().expect("an address")).to_string();
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(network("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(network("192.0.2.7"), "192.0.2.7");
    }
}
