//! Seats, how many there are, sets of them, and containers with one item a seat.

use std::fmt;
use std::ops::{Index, IndexMut};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// The most seats that any game has.
pub const MAX_SEATS: usize = 6;

/// A place at the table, numbered from 0, clockwise.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(try_from = "u8", into = "u8")]
pub struct Seat(u8);

impl Seat {
    /// The seat of this number, or `None` from [`MAX_SEATS`] on.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if (number as usize) < MAX_SEATS { Some(Self(number)) } else { None }
    }

    /// The seat's number, from 0.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The seat's number as an index, always below [`MAX_SEATS`].
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl TryFrom<u8> for Seat {
    type Error = &'static str;

    fn try_from(number: u8) -> Result<Self, Self::Error> {
        Self::new(number).ok_or("no such seat")
    }
}

impl From<Seat> for u8 {
    fn from(seat: Seat) -> Self {
        seat.0
    }
}

/// How many seats a table has, from 1 to [`MAX_SEATS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct SeatCount(u8);

impl SeatCount {
    /// A table of so many seats, or `None` for no seat or more than [`MAX_SEATS`].
    #[must_use]
    pub const fn new(count: u8) -> Option<Self> {
        if count >= 1 && count as usize <= MAX_SEATS { Some(Self(count)) } else { None }
    }

    /// The number of seats.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The number of seats, for sizes and indices.
    #[must_use]
    pub const fn size(self) -> usize {
        self.0 as usize
    }

    /// The seat of this number, if the table has it.
    #[must_use]
    pub fn seat(self, number: u32) -> Option<Seat> {
        u8::try_from(number).ok().filter(|&n| n < self.0).map(Seat)
    }

    /// Whether the table has this seat.
    #[must_use]
    pub const fn contains(self, seat: Seat) -> bool {
        seat.0 < self.0
    }

    /// All seats, from seat 0 clockwise.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Seat> + ExactSizeIterator + Clone {
        (0..self.0).map(Seat)
    }

    /// All seats clockwise, beginning with `first`.
    pub fn clockwise_from(self, first: Seat) -> impl Iterator<Item = Seat> + Clone {
        self.iter().map(move |seat| self.steps_left(first, seat.0))
    }

    /// The next seat clockwise.
    #[must_use]
    pub const fn left_of(self, seat: Seat) -> Seat {
        if seat.0 + 1 >= self.0 { Seat(0) } else { Seat(seat.0 + 1) }
    }

    /// The next seat counter-clockwise.
    #[must_use]
    pub const fn right_of(self, seat: Seat) -> Seat {
        if seat.0 == 0 { Seat(self.0 - 1) } else { Seat(seat.0 - 1) }
    }

    /// The seat so many steps clockwise, around the table as often as it takes.
    #[must_use]
    pub const fn steps_left(self, seat: Seat, steps: u8) -> Seat {
        Seat(((seat.0 as u16 + steps as u16) % self.0 as u16) as u8)
    }
}

impl TryFrom<u8> for SeatCount {
    type Error = &'static str;

    fn try_from(count: u8) -> Result<Self, Self::Error> {
        Self::new(count).ok_or("no table has so many seats")
    }
}

impl From<SeatCount> for u8 {
    fn from(count: SeatCount) -> Self {
        count.0
    }
}

/// A set of seats.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SeatSet(u8);

impl SeatSet {
    /// No seat.
    pub const EMPTY: Self = Self(0);

    /// This seat alone.
    #[must_use]
    pub const fn only(seat: Seat) -> Self {
        Self(1 << seat.0)
    }

    /// Every seat of the table.
    #[must_use]
    pub const fn all(seats: SeatCount) -> Self {
        Self(((1_u16 << seats.0) - 1) as u8)
    }

    /// Whether the seat is in the set.
    #[must_use]
    pub const fn contains(self, seat: Seat) -> bool {
        self.0 >> seat.0 & 1 == 1
    }

    /// Adds a seat.
    pub fn insert(&mut self, seat: Seat) {
        self.0 |= 1 << seat.0;
    }

    /// Takes a seat out.
    pub fn remove(&mut self, seat: Seat) {
        self.0 &= !(1 << seat.0);
    }

    /// How many seats are in the set.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether no seat is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The seats in the set, lowest number first.
    pub fn iter(self) -> impl Iterator<Item = Seat> + Clone {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let seat = Seat::new(left.trailing_zeros() as u8)?;
            left &= left - 1;
            Some(seat)
        })
    }
}

impl FromIterator<Seat> for SeatSet {
    fn from_iter<I: IntoIterator<Item = Seat>>(seats: I) -> Self {
        let mut set = Self::EMPTY;
        seats.into_iter().for_each(|seat| set.insert(seat));
        set
    }
}

impl fmt::Debug for SeatSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Seat::number)).finish()
    }
}

/// One item for each seat of a table.
///
/// It holds its items in place, so that a state made of such containers is cheap to copy. Seats the
/// table does not have read as the default.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BySeat<T> {
    seats: SeatCount,
    items: [T; MAX_SEATS],
}

impl<T: Default> BySeat<T> {
    /// The default for each seat.
    #[must_use]
    pub fn new(seats: SeatCount) -> Self {
        Self { seats, items: std::array::from_fn(|_| T::default()) }
    }

    /// What `item` makes for each seat, in seat order.
    pub fn from_fn(seats: SeatCount, mut item: impl FnMut(Seat) -> T) -> Self {
        let mut made = Self::new(seats);
        seats.iter().for_each(|seat| made[seat] = item(seat));
        made
    }

    /// The items of a table with as many seats as there are items, or `None` where no table has so
    /// many.
    #[must_use]
    pub fn from_vec(items: Vec<T>) -> Option<Self> {
        let seats = u8::try_from(items.len()).ok().and_then(SeatCount::new)?;
        let mut made = Self::new(seats);
        made.items.iter_mut().zip(items).for_each(|(place, item)| *place = item);
        Some(made)
    }

    /// The same table with what `change` makes of each item.
    pub fn map<U: Default>(&self, mut change: impl FnMut(Seat, &T) -> U) -> BySeat<U> {
        BySeat::from_fn(self.seats, |seat| change(seat, &self[seat]))
    }
}

impl<T> BySeat<T> {
    /// How many seats there are.
    #[must_use]
    pub const fn seats(&self) -> SeatCount {
        self.seats
    }

    /// The items in seat order.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.items[..self.seats.size()]
    }

    /// The items in seat order, to change them.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.items[..self.seats.size()]
    }

    /// Each seat with its item, in seat order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Seat, &T)> + ExactSizeIterator {
        self.seats.iter().zip(self.as_slice())
    }

    /// The items alone, in seat order.
    pub fn values(&self) -> std::slice::Iter<'_, T> {
        self.as_slice().iter()
    }
}

impl<T> Index<Seat> for BySeat<T> {
    type Output = T;

    fn index(&self, seat: Seat) -> &T {
        &self.items[seat.index()]
    }
}

impl<T> IndexMut<Seat> for BySeat<T> {
    fn index_mut(&mut self, seat: Seat) -> &mut T {
        &mut self.items[seat.index()]
    }
}

impl<T: fmt::Debug> fmt::Debug for BySeat<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl<T: Serialize> Serialize for BySeat<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_slice().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for BySeat<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = Vec::deserialize(deserializer)?;
        Self::from_vec(items).ok_or_else(|| D::Error::custom("no table has so many seats"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seats(count: u8) -> SeatCount {
        SeatCount::new(count).expect("a table")
    }

    #[test]
    fn left_and_right_go_around_the_table() {
        let four = seats(4);
        let [first, .., last] = four.iter().collect::<Vec<_>>()[..] else { panic!("four seats") };
        assert_eq!(four.left_of(last), first);
        assert_eq!(four.right_of(first), last);
        assert_eq!(four.clockwise_from(last).map(Seat::number).collect::<Vec<_>>(), [3, 0, 1, 2]);
    }

    #[test]
    fn a_set_lists_its_seats_in_order() {
        let mut set = SeatSet::all(seats(6));
        set.remove(Seat(2));
        assert_eq!(set.iter().map(Seat::number).collect::<Vec<_>>(), [0, 1, 3, 4, 5]);
        assert_eq!(set.len(), 5);
    }

    #[test]
    fn a_stored_container_keeps_its_number_of_seats() {
        let scores = BySeat::from_fn(seats(3), |seat| i32::from(seat.number()));
        let stored = postcard::to_allocvec(&scores).expect("stored");
        assert_eq!(postcard::from_bytes::<BySeat<i32>>(&stored).expect("loaded"), scores);
        assert!(postcard::from_bytes::<BySeat<i32>>(&[7, 0, 0, 0, 0, 0, 0, 0]).is_err());
    }
}
