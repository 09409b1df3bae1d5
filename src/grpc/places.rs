//! How many streams there may be: of a seat, of a match's spectators, and of this instance.
//!
//! Who has a seat is never locked out of it by streams of its own that it has lost: the newest
//! takes the place of the oldest. Spectators are not told apart, so that one too many is refused.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rand::RngExt as _;
use tokio_util::sync::CancellationToken;
use tonic::Status;

use super::errors::Fault;
use crate::matches::Caller;
use crate::rules::Seat;
use crate::store::MatchId;

/// What streams are allowed; nothing stands for no limit.
#[derive(Clone, Copy, Debug)]
pub struct StreamLimits {
    /// How many a seat may have; the oldest is ended for the newest.
    pub of_seat: Option<usize>,
    /// How many spectators a match may have.
    pub of_spectators: Option<usize>,
    /// How many this instance may have.
    pub of_instance: Option<usize>,
    /// Over how long viewers that are told to leave spread their return.
    pub spread: Duration,
}

/// The streams that are open. Clones count together.
#[derive(Clone, Debug)]
pub struct Places {
    limits: StreamLimits,
    taken: Arc<Mutex<Taken>>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    spectators: HashMap<MatchId, usize>,
    /// Oldest first.
    seats: HashMap<(MatchId, Seat), VecDeque<CancellationToken>>,
}

/// A stream's place.
#[derive(Debug)]
pub(super) struct Place {
    places: Places,
    match_id: MatchId,
    seat: Option<Seat>,
    /// Cancelled when a newer stream has taken this place.
    superseded: CancellationToken,
}

impl Places {
    /// Nobody is there yet.
    #[must_use]
    pub fn new(limits: StreamLimits) -> Self {
        Self { limits, taken: Arc::default() }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place, if there is one.
    pub(super) fn take(&self, match_id: MatchId, caller: Caller) -> Result<Place, Status> {
        let is_full = |taken: usize, most: Option<usize>| most.is_some_and(|most| taken >= most);
        let quota = |subject| Err(Fault::STREAM_QUOTA.with_quota(subject));
        let seat = match caller {
            Caller::Seat(seat, _) => Some(seat),
            Caller::Spectator | Caller::Anyone => None,
        };
        let mut taken = self.taken();
        if is_full(taken.all, self.limits.of_instance) {
            return quota("streams of the instance");
        }
        if seat.is_none() {
            let spectators = taken.spectators.get(&match_id).copied().unwrap_or(0);
            if is_full(spectators, self.limits.of_spectators) {
                return quota("spectators of the match");
            }
            taken.spectators.insert(match_id, spectators + 1);
        }
        taken.all += 1;
        let superseded = CancellationToken::new();
        Ok(Place { places: self.clone(), match_id, seat, superseded })
    }

    /// How long a viewer that is told to leave is to wait.
    #[expect(clippy::disallowed_methods, reason = "viewers that leave together come back apart")]
    pub(super) fn pause(&self) -> Duration {
        self.limits.spread.mul_f64(rand::rng().random())
    }
}

impl Place {
    /// Ends the oldest streams of the seat until this one fits: once it is known that its token is
    /// good, so that a revoked one ends nothing.
    pub(super) fn settle(&self) {
        let Some(seat) = self.seat else { return };
        let mut taken = self.places.taken();
        let streams = taken.seats.entry((self.match_id, seat)).or_default();
        streams.push_back(self.superseded.clone());
        while self.places.limits.of_seat.is_some_and(|most| streams.len() > most) {
            let oldest = streams.pop_front();
            oldest.inspect(CancellationToken::cancel);
        }
    }

    /// Waits until a newer stream has taken this place.
    pub(super) async fn superseded(&self) {
        self.superseded.cancelled().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // So that the settled streams of the seat are told apart from this one.
        self.superseded.cancel();
        let mut taken = self.places.taken();
        taken.all -= 1;
        if let Some(seat) = self.seat {
            let key = (self.match_id, seat);
            if let Some(streams) = taken.seats.get_mut(&key) {
                streams.retain(|stream| !stream.is_cancelled());
                if streams.is_empty() {
                    taken.seats.remove(&key);
                }
            }
        } else if let Some(spectators) = taken.spectators.get_mut(&self.match_id) {
            *spectators -= 1;
            if *spectators == 0 {
                taken.spectators.remove(&self.match_id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn places(of_instance: usize) -> Places {
        Places::new(StreamLimits {
            of_seat: Some(2),
            of_spectators: Some(2),
            of_instance: Some(of_instance),
            spread: Duration::from_secs(5),
        })
    }

    fn settled(places: &Places, match_id: MatchId) -> Place {
        let place = places.take(match_id, Caller::Seat(Seat::default(), 0)).expect("a place");
        place.settle();
        place
    }

    #[test]
    fn the_newest_stream_of_a_seat_takes_the_place_of_the_oldest() {
        let (places, id) = (places(10), MatchId(Uuid::from_u128(1)));
        let (first, second) = (settled(&places, id), settled(&places, id));
        let other = settled(&places, MatchId(Uuid::from_u128(2)));
        let third = settled(&places, id);
        let ended = [&first, &second, &third, &other].map(|place| place.superseded.is_cancelled());
        assert_eq!(ended, [true, false, false, false]);
        drop((first, second));
        let fourth = settled(&places, id);
        assert!(!third.superseded.is_cancelled() && !fourth.superseded.is_cancelled());
    }

    #[test]
    fn spectators_of_a_match_and_streams_of_an_instance_are_counted_and_nothing_stays() {
        let (places, id) = (places(3), MatchId(Uuid::from_u128(1)));
        let taken: Vec<_> = [Caller::Anyone, Caller::Spectator]
            .map(|caller| places.take(id, caller).expect("a place"))
            .into();
        places.take(id, Caller::Anyone).expect_err("the match is full");
        let player = settled(&places, id);
        let other = MatchId(Uuid::from_u128(2));
        places.take(other, Caller::Anyone).expect_err("the instance is full");
        drop((taken, player));
        let taken = places.taken();
        assert!(taken.all == 0 && taken.spectators.is_empty() && taken.seats.is_empty());
    }
}
