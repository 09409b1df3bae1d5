//! The game's values as messages.

use super::card::{Card, CardSet};
use super::flavor::Flavor;
use super::question::{Choice, Question};
use super::spots::Spot;
use super::suit::{Suit, SuitSet};
use super::trick::{LastTrick, Side};
use super::view::{Lying, Own, PlayView, SeatView};
use super::{Action, Candy, EffectResult, Ending, HandResult, Options, Seen, Stage, View, options};
use crate::games::wire::{BadField, Wire, read_seat, write_seat};
use crate::proto;
use crate::proto::candy_action::Action as ActionArm;
use crate::proto::candy_event::Event as EventArm;
use crate::proto::candy_question::Choice as ChoiceArm;
use crate::rules::Seat;

impl Wire for Candy {
    type OptionsMessage = proto::CandyOptions;
    type ActionMessage = proto::CandyAction;
    type EventMessage = proto::CandyEvent;
    type ViewMessage = proto::CandyView;

    fn read_options(message: &proto::CandyOptions) -> Result<Options, BadField> {
        Ok(Options {
            target_score: message.target_score.unwrap_or(options::STANDARD_TARGET),
            dont_be_greedy: message.dont_be_greedy,
            favorite_flavors: message.favorite_flavors,
            king_sized: message.king_sized,
            alternate_king_size_bar: message.alternate_king_size_bar,
            lost_treats: message.lost_treats,
            add_cards: message.add_cards.clone(),
            remove_cards: message.remove_cards.clone(),
            first_dealer: read_seat(message.first_dealer, "first_dealer")?,
        })
    }

    fn write_options(options: &Options) -> proto::CandyOptions {
        proto::CandyOptions {
            target_score: Some(options.target_score),
            dont_be_greedy: options.dont_be_greedy,
            favorite_flavors: options.favorite_flavors,
            king_sized: options.king_sized,
            alternate_king_size_bar: options.alternate_king_size_bar,
            lost_treats: options.lost_treats,
            add_cards: options.add_cards.clone(),
            remove_cards: options.remove_cards.clone(),
            first_dealer: options.first_dealer.map(write_seat),
        }
    }

    fn read_action(message: &proto::CandyAction) -> Result<Action, BadField> {
        Ok(match &message.action {
            Some(ActionArm::KeepFlavor(keep)) => {
                Action::Keep(Flavor::from_id(&keep.flavor_id).ok_or_else(|| {
                    BadField::new("keep_flavor.flavor_id", "no Flavor has this id")
                })?)
            }
            Some(ActionArm::PlayCard(play)) => {
                Action::Play(read_card(&play.card_id, "play_card.card_id")?)
            }
            Some(ActionArm::ResolveEffect(resolve)) => {
                Action::Resolve(read_card(&resolve.card_id, "resolve_effect.card_id")?)
            }
            Some(ActionArm::ChooseCard(choose)) => {
                Action::Choose(read_card(&choose.card_id, "choose_card.card_id")?)
            }
            Some(ActionArm::SwapCards(swap)) => Action::Swap {
                take: read_card(&swap.trick_card_id, "swap_cards.trick_card_id")?,
                give: read_card(&swap.stash_card_id, "swap_cards.stash_card_id")?,
            },
            Some(ActionArm::GiveCard(give)) => Action::Give {
                card: read_card(&give.card_id, "give_card.card_id")?,
                seat: read_chosen_seat(give.seat, "give_card.seat")?,
            },
            Some(ActionArm::ChooseSeat(choose)) => {
                Action::ChooseSeat(read_chosen_seat(choose.seat, "choose_seat.seat")?)
            }
            Some(ActionArm::NameSuit(name)) => Action::Name(read_suit(name.suit)?),
            Some(ActionArm::Decline(proto::CandyDecline {})) => Action::Decline,
            None => {
                return Err(BadField::new(
                    "action",
                    "not set, or an action this server does not know",
                ));
            }
        })
    }

    fn write_action(action: &Action) -> proto::CandyAction {
        let action = match *action {
            Action::Keep(flavor) => {
                ActionArm::KeepFlavor(proto::CandyKeepFlavor { flavor_id: flavor.id().to_owned() })
            }
            Action::Play(card) => {
                ActionArm::PlayCard(proto::CandyPlayCard { card_id: write_card(card) })
            }
            Action::Resolve(card) => {
                ActionArm::ResolveEffect(proto::CandyResolveEffect { card_id: write_card(card) })
            }
            Action::Choose(card) => {
                ActionArm::ChooseCard(proto::CandyChooseCard { card_id: write_card(card) })
            }
            Action::Swap { take, give } => ActionArm::SwapCards(proto::CandySwapCards {
                trick_card_id: write_card(take),
                stash_card_id: write_card(give),
            }),
            Action::Give { card, seat } => ActionArm::GiveCard(proto::CandyGiveCard {
                card_id: write_card(card),
                seat: write_seat(seat),
            }),
            Action::ChooseSeat(seat) => {
                ActionArm::ChooseSeat(proto::CandyChooseSeat { seat: write_seat(seat) })
            }
            Action::Name(suit) => {
                ActionArm::NameSuit(proto::CandyNameSuit { suit: write_suit(suit).into() })
            }
            Action::Decline => ActionArm::Decline(proto::CandyDecline {}),
        };
        proto::CandyAction { action: Some(action) }
    }

    fn write_event(seen: &Seen) -> proto::CandyEvent {
        proto::CandyEvent { event: Some(write_seen(seen)) }
    }

    fn is_deal(event: &proto::CandyEvent) -> bool {
        matches!(event.event, Some(EventArm::Dealt(_)))
    }

    fn write_view(view: &View) -> proto::CandyView {
        proto::CandyView {
            hand: view.hand + 1,
            trick: (u32::from(view.completed) + 1).min(options::HAND as u32),
            stage: match view.stage {
                Stage::Flavors => proto::CandyStage::Flavors,
                Stage::Playing => proto::CandyStage::Playing,
                Stage::Revealing => proto::CandyStage::Revealing,
                Stage::Resolving => proto::CandyStage::Resolving,
                Stage::Over(_) => proto::CandyStage::Over,
            }
            .into(),
            target_score: view.target.into(),
            dealer: write_seat(view.dealer),
            leader: write_seat(view.leader),
            plays: view.plays.iter().map(|&play| write_play(play)).collect(),
            suits: write_suits(view.suits),
            need_not_follow: view.need_not_follow,
            next_side: write_side(view.next_side).into(),
            winner: view.winner.map(write_seat),
            waiting: view
                .waiting
                .iter()
                .map(|&(card, seat)| proto::CandyWaiting {
                    card_id: write_card(card),
                    seat: write_seat(seat),
                })
                .collect(),
            question: view.asked.map(write_question),
            beside_card_ids: write_cards(view.beside),
            held_card_ids: write_cards(view.held),
            aside_card_ids: write_cards(view.aside),
            leftover_size: view.leftover_size.into(),
            last_trick: view.last_trick.as_ref().map(write_last_trick),
            seats: view.seats.values().map(|&seat| write_seat_view(seat)).collect(),
            own: view.own.as_ref().map(write_own),
            ending: view.ending.map_or(String::new(), |ending| ending.reason().to_owned()),
        }
    }
}

fn write_seen(seen: &Seen) -> EventArm {
    match *seen {
        Seen::Dealt { hand, dealer, own_hand, hand_size, leftover_size, ref own_flavors } => {
            EventArm::Dealt(proto::CandyDealt {
                hand: hand + 1,
                dealer: write_seat(dealer),
                hand_card_ids: write_cards(own_hand),
                hand_size: hand_size.into(),
                leftover_size: leftover_size.into(),
                flavor_ids: own_flavors.iter().map(|flavor| flavor.id().to_owned()).collect(),
            })
        }
        Seen::FlavorKept { seat, flavor } => EventArm::FlavorKept(proto::CandyFlavorKept {
            seat: write_seat(seat),
            flavor_id: write_flavor(flavor),
        }),
        Seen::Played { seat, card, side } => EventArm::Played(proto::CandyPlayed {
            seat: write_seat(seat),
            card_id: card.map_or(String::new(), write_card),
            side: write_side(side).into(),
        }),
        Seen::Revealed { seat, card, side } => EventArm::Revealed(proto::CandyRevealed {
            seat: write_seat(seat),
            card_id: write_card(card),
            side: write_side(side).into(),
        }),
        Seen::Picked { card } => EventArm::Picked(proto::CandyPicked { card_id: write_card(card) }),
        Seen::Named { card, suit } => EventArm::Named(proto::CandyNamed {
            card_id: write_card(card),
            suit: write_suit(suit).into(),
        }),
        Seen::TurnedUp { by, card } => EventArm::TurnedUp(proto::CandyTurnedUp {
            by_card_id: write_card(by),
            card_id: write_card(card),
        }),
        Seen::Moved { by, card, from, to } => EventArm::Moved(proto::CandyMoved {
            by_card_id: write_card(by),
            card_id: card.map_or(String::new(), write_card),
            from_spot: Some(write_spot(from)),
            to_spot: Some(write_spot(to)),
        }),
        Seen::Effect { card, seat, result } => EventArm::EffectDone(proto::CandyEffectDone {
            card_id: write_card(card),
            seat: write_seat(seat),
            result: write_result(result).into(),
        }),
        Seen::TrickTaken { winner, tricks, cards, next_leader } => {
            EventArm::TrickTaken(proto::CandyTrickTaken {
                winner: write_seat(winner),
                tricks: tricks.into(),
                card_ids: write_cards(cards),
                next_leader: next_leader.map(write_seat),
            })
        }
        Seen::HandScored { results, totals } => {
            let results = results.iter().map(|(seat, &result)| write_score(result, totals[seat]));
            EventArm::HandScored(proto::CandyHandScored { results: results.collect() })
        }
        Seen::Ended { ending } => EventArm::Ended(write_ended(ending)),
    }
}

fn read_card(id: &str, field: &'static str) -> Result<Card, BadField> {
    Card::from_id(id).ok_or_else(|| BadField::new(field, "no card of the Treat deck has this id"))
}

fn read_chosen_seat(number: u32, field: &'static str) -> Result<Seat, BadField> {
    let seat = read_seat(Some(number), field)?;
    seat.ok_or_else(|| BadField::new(field, "not set"))
}

fn read_suit(number: i32) -> Result<Suit, BadField> {
    let suit = Suit::ALL.into_iter().find(|&suit| write_suit(suit) as i32 == number);
    suit.ok_or_else(|| BadField::new("name_suit.suit", "not set, or a suit that there is not"))
}

fn write_card(card: Card) -> String {
    card.id().to_owned()
}

fn write_cards(cards: CardSet) -> Vec<String> {
    cards.iter().map(write_card).collect()
}

fn write_flavor(flavor: Option<Flavor>) -> String {
    flavor.map_or(String::new(), |flavor| flavor.id().to_owned())
}

const fn write_suit(suit: Suit) -> proto::CandySuit {
    match suit {
        Suit::Chocolate => proto::CandySuit::Chocolate,
        Suit::Caramel => proto::CandySuit::Caramel,
        Suit::Peanut => proto::CandySuit::Peanut,
        Suit::Nougat => proto::CandySuit::Nougat,
        Suit::Cookie => proto::CandySuit::Cookie,
        Suit::Coconut => proto::CandySuit::Coconut,
        Suit::Mint => proto::CandySuit::Mint,
        Suit::Fruit => proto::CandySuit::Fruit,
        Suit::Gummy => proto::CandySuit::Gummy,
        Suit::Sour => proto::CandySuit::Sour,
    }
}

fn write_suits(suits: SuitSet) -> Vec<i32> {
    suits.iter().map(|suit| write_suit(suit).into()).collect()
}

const fn write_side(side: Side) -> proto::CandySide {
    match side {
        Side::Up => proto::CandySide::Up,
        Side::Down => proto::CandySide::Down,
        Side::Mute => proto::CandySide::Mute,
    }
}

const fn write_result(result: EffectResult) -> proto::CandyEffectResult {
    match result {
        EffectResult::Worked => proto::CandyEffectResult::Worked,
        EffectResult::Declined => proto::CandyEffectResult::Declined,
        EffectResult::Nothing => proto::CandyEffectResult::Nothing,
        EffectResult::Mute => proto::CandyEffectResult::Mute,
    }
}

fn write_spot(spot: Spot) -> proto::CandySpot {
    use proto::CandySpotKind as Kind;
    let (kind, seat) = match spot {
        Spot::Hand(seat) => (Kind::Hand, Some(seat)),
        Spot::Trick => (Kind::Trick, None),
        Spot::Stash(seat) => (Kind::Stash, Some(seat)),
        Spot::Leftover => (Kind::Leftover, None),
        Spot::Beside => (Kind::Beside, None),
        Spot::Held => (Kind::Held, None),
        Spot::Aside => (Kind::Aside, None),
    };
    proto::CandySpot { kind: kind.into(), seat: seat.map(write_seat) }
}

fn write_play(PlayView { seat, side, lies }: PlayView) -> proto::CandyPlay {
    let (lying, card) = match lies {
        Lying::FaceDown(card) => (proto::CandyLying::FaceDown, card),
        Lying::FaceUp(card) => (proto::CandyLying::FaceUp, Some(card)),
        Lying::TradedIn(card) => (proto::CandyLying::TradedIn, Some(card)),
        Lying::Gone => (proto::CandyLying::Gone, None),
    };
    proto::CandyPlay {
        seat: write_seat(seat),
        side: write_side(side).into(),
        lying: lying.into(),
        card_id: card.map_or(String::new(), write_card),
    }
}

fn write_question(Question { seat, card, choice, may }: Question) -> proto::CandyQuestion {
    let seats = |seats: crate::rules::SeatSet| seats.iter().map(write_seat).collect();
    let choice = match choice {
        Choice::Hand => ChoiceArm::Hand(proto::CandyHandChoice {}),
        Choice::Card(cards) => {
            ChoiceArm::Card(proto::CandyCardChoice { card_ids: write_cards(cards) })
        }
        Choice::Swap { trick, stash } => ChoiceArm::Swap(proto::CandySwapChoice {
            trick_card_ids: write_cards(trick),
            stash_card_ids: write_cards(stash),
        }),
        Choice::Give { cards, to } => ChoiceArm::Give(proto::CandyGiveChoice {
            card_ids: write_cards(cards),
            seats: seats(to),
        }),
        Choice::Seat(among) => ChoiceArm::Player(proto::CandySeatChoice { seats: seats(among) }),
        Choice::Suit => ChoiceArm::Suit(proto::CandySuitChoice {}),
    };
    proto::CandyQuestion {
        seat: write_seat(seat),
        card_id: write_card(card),
        may_decline: may,
        choice: Some(choice),
    }
}

fn write_last_trick(last: &LastTrick) -> proto::CandyLastTrick {
    let plays = last.plays.iter().map(|&(seat, card)| proto::CandyLastPlay {
        seat: write_seat(seat),
        card_id: card.map_or(String::new(), write_card),
    });
    proto::CandyLastTrick { winner: write_seat(last.winner), plays: plays.collect() }
}

fn write_seat_view(view: SeatView) -> proto::CandySeatView {
    proto::CandySeatView {
        hand_size: view.hand_size.into(),
        stash_card_ids: write_cards(view.stash),
        tricks: view.tricks.into(),
        points: view.points.into(),
        has_kept_flavor: view.has_kept,
        flavor_id: write_flavor(view.flavor),
    }
}

fn write_own(own: &Own) -> proto::CandyOwnCards {
    let forbidden = own.forbidden.iter().map(|&(card, refusal)| proto::CandyForbidden {
        card_id: write_card(card),
        rule: refusal.rule.to_owned(),
    });
    proto::CandyOwnCards {
        hand_card_ids: write_cards(own.hand),
        flavor_ids: own.flavors.iter().map(|flavor| flavor.id().to_owned()).collect(),
        kept_flavor_id: write_flavor(own.kept),
        forbidden: forbidden.collect(),
    }
}

fn write_score(result: HandResult, total: u16) -> proto::CandyHandResult {
    proto::CandyHandResult {
        tricks: result.tricks.into(),
        tummy_ache: result.tummy_ache,
        flavor_id: write_flavor(result.flavor),
        flavor_points: result.flavor_points.into(),
        effect_points: result.effect_points.into(),
        pranks: result.pranks.into(),
        points: result.points.into(),
        total: total.into(),
    }
}

fn write_ended(ending: Ending) -> proto::CandyEnded {
    proto::CandyEnded { ending: ending.reason().to_owned() }
}
