//! The values of Best of Neapolitan as messages.

use super::{
    Action, Card, Cards, Declaration, End, Face, Flavor, LastTrick, Neapolitan, Options, Own,
    Phase, Play, SeatScore, SeatView, Seen, Sequence, View,
};
use crate::games::wire::{BadField, Wire, read_seat, write_seat};
use crate::proto;
use crate::proto::neapolitan_action::Action as ActionArm;
use crate::proto::neapolitan_card::Card as CardArm;
use crate::proto::neapolitan_event::Event as EventArm;
use crate::rules::SeatSet;

impl Wire for Neapolitan {
    type OptionsMessage = proto::NeapolitanOptions;
    type ActionMessage = proto::NeapolitanAction;
    type EventMessage = proto::NeapolitanEvent;
    type ViewMessage = proto::NeapolitanView;

    fn read_options(message: &proto::NeapolitanOptions) -> Result<Options, BadField> {
        Ok(Options {
            ice_cream_you_scream: message.ice_cream_you_scream,
            cherry_on_top: message.cherry_on_top,
            more_scoops: message.more_scoops,
            secret_ingredients: message.secret_ingredients,
            first_leader: read_seat(message.first_leader, "first_leader")?,
        })
    }

    fn write_options(options: &Options) -> proto::NeapolitanOptions {
        proto::NeapolitanOptions {
            ice_cream_you_scream: options.ice_cream_you_scream,
            cherry_on_top: options.cherry_on_top,
            more_scoops: options.more_scoops,
            secret_ingredients: options.secret_ingredients,
            first_leader: options.first_leader.map(write_seat),
        }
    }

    fn read_action(message: &proto::NeapolitanAction) -> Result<Action, BadField> {
        match &message.action {
            Some(ActionArm::Play(play)) => {
                let card = play.card.as_ref().and_then(|card| card.card.as_ref());
                let card = card
                    .ok_or_else(|| BadField::new("card", "not set, or a card of no known kind"))
                    .and_then(read_card);
                card.map(Action::Play).map_err(|bad| bad.within("play"))
            }
            Some(ActionArm::Declare(_)) => Ok(Action::Declare),
            Some(ActionArm::Decline(_)) => Ok(Action::Decline),
            None => Err(BadField::new("action", "not set, or an action this server does not know")),
        }
    }

    fn write_action(action: &Action) -> proto::NeapolitanAction {
        let action = match *action {
            Action::Play(card) => {
                ActionArm::Play(proto::NeapolitanPlay { card: Some(write_card(card)) })
            }
            Action::Declare => ActionArm::Declare(proto::NeapolitanDeclare {}),
            Action::Decline => ActionArm::Decline(proto::NeapolitanDecline {}),
        };
        proto::NeapolitanAction { action: Some(action) }
    }

    fn write_event(seen: &Seen) -> proto::NeapolitanEvent {
        proto::NeapolitanEvent { event: Some(write_event(seen)) }
    }

    fn is_deal(event: &proto::NeapolitanEvent) -> bool {
        matches!(event.event, Some(EventArm::SetUp(_) | EventArm::Dealt(_)))
    }

    fn write_view(view: &View) -> proto::NeapolitanView {
        proto::NeapolitanView {
            round: view.round.into(),
            trick: view.trick.into(),
            phase: write_phase(view.phase).into(),
            flavor_stack: write_sequence(view.stack),
            leader: write_seat(view.leader),
            turn: view.turn.map(write_seat),
            plays: view.plays.iter().map(|&play| write_play(play)).collect(),
            last_trick: view.last_trick.as_ref().map(write_trick),
            leftovers: write_cards(view.leftovers.into_iter().flatten()),
            trick_goal: view.numbers.trick_goal.into(),
            points_goal: view.numbers.points_goal.unsigned_abs().into(),
            seats: view.seats.values().map(|&seat| write_seat_view(seat)).collect(),
            end: view.end.map(write_end),
            own: view.own.as_ref().map(write_own),
        }
    }
}

/// Reads the flavors of a sequence.
fn read_sequence(numbers: &[i32]) -> Option<Sequence> {
    let flavors: Option<Vec<_>> = numbers.iter().map(|&number| read_flavor(number)).collect();
    Sequence::new(flavors?.try_into().ok()?)
}

fn read_flavor(number: i32) -> Option<Flavor> {
    match proto::NeapolitanFlavor::try_from(number).ok()? {
        proto::NeapolitanFlavor::Unspecified => None,
        proto::NeapolitanFlavor::Vanilla => Some(Flavor::Vanilla),
        proto::NeapolitanFlavor::Chocolate => Some(Flavor::Chocolate),
        proto::NeapolitanFlavor::Strawberry => Some(Flavor::Strawberry),
    }
}

/// Reads the field `card`.
fn read_card(card: &CardArm) -> Result<Card, BadField> {
    match card {
        CardArm::Monster(monster) => {
            let flavor = read_flavor(monster.flavor)
                .ok_or_else(|| BadField::new("card.monster.flavor", "not set, or no flavor"))?;
            Card::monster(flavor, monster.number)
                .ok_or_else(|| BadField::new("card.monster.number", "a Monster has 1 to 11"))
        }
        CardArm::Pass(_) => Ok(Card::PASS),
        CardArm::VariantPass(pass) => read_sequence(&pass.flavors)
            .map(Card::variant_pass)
            .ok_or_else(|| BadField::new("card.variant_pass.flavors", "not each flavor once")),
    }
}

fn write_flavor(flavor: Flavor) -> i32 {
    match flavor {
        Flavor::Vanilla => proto::NeapolitanFlavor::Vanilla,
        Flavor::Chocolate => proto::NeapolitanFlavor::Chocolate,
        Flavor::Strawberry => proto::NeapolitanFlavor::Strawberry,
    }
    .into()
}

fn write_sequence(sequence: Sequence) -> Vec<i32> {
    sequence.flavors().map(write_flavor).into()
}

fn write_card(card: Card) -> proto::NeapolitanCard {
    let card = match card.face() {
        Face::Monster { flavor, number } => CardArm::Monster(proto::NeapolitanMonster {
            flavor: write_flavor(flavor),
            number: number.into(),
        }),
        Face::Pass => CardArm::Pass(proto::NeapolitanPass {}),
        Face::VariantPass(sequence) => {
            CardArm::VariantPass(proto::NeapolitanVariantPass { flavors: write_sequence(sequence) })
        }
    };
    proto::NeapolitanCard { card: Some(card) }
}

fn write_cards(cards: impl Iterator<Item = Card>) -> Vec<proto::NeapolitanCard> {
    cards.map(write_card).collect()
}

fn write_seats(seats: SeatSet) -> Vec<u32> {
    seats.iter().map(write_seat).collect()
}

fn write_play(Play { seat, card }: Play) -> proto::NeapolitanPlayed {
    proto::NeapolitanPlayed { seat: write_seat(seat), card: Some(write_card(card)) }
}

fn write_trick(trick: &LastTrick) -> proto::NeapolitanTrick {
    proto::NeapolitanTrick {
        plays: trick.plays.iter().map(|&play| write_play(play)).collect(),
        winner: write_seat(trick.winner),
        flavor_stack: write_sequence(trick.stack),
    }
}

fn write_end(end: End) -> proto::NeapolitanEnd {
    proto::NeapolitanEnd { winners: write_seats(end.winners), reason: end.reason.id().to_owned() }
}

fn write_phase(phase: Phase) -> proto::NeapolitanPhase {
    match phase {
        Phase::Declaring => proto::NeapolitanPhase::Declaring,
        Phase::Playing => proto::NeapolitanPhase::Playing,
        Phase::Over => proto::NeapolitanPhase::Over,
    }
}

fn write_declaration(declaration: Declaration) -> proto::NeapolitanDeclaration {
    match declaration {
        Declaration::NotAsked => proto::NeapolitanDeclaration::NotAsked,
        Declaration::Awaited => proto::NeapolitanDeclaration::Awaited,
        Declaration::Answered => proto::NeapolitanDeclaration::Answered,
        Declaration::Declared => proto::NeapolitanDeclaration::Declared,
        Declaration::Declined => proto::NeapolitanDeclaration::Declined,
    }
}

fn write_seat_view(seat: SeatView) -> proto::NeapolitanSeatView {
    proto::NeapolitanSeatView {
        hand_size: seat.hand_size.into(),
        tricks_won: seat.tricks.into(),
        score: seat.score.into(),
        loyalty_stamped: seat.stamped,
        cherries_left: seat.cherries.into(),
        declaration: write_declaration(seat.declaration).into(),
        achievements: seat.achievements.iter().map(|a| a.id().to_owned()).collect(),
    }
}

fn write_own(own: &Own) -> proto::NeapolitanOwn {
    let hand = own.hand.iter().map(|&(card, forbidden)| proto::NeapolitanHandCard {
        card: Some(write_card(card)),
        forbidden_by: forbidden.map(|refusal| refusal.rule.to_owned()).unwrap_or_default(),
    });
    proto::NeapolitanOwn { hand: hand.collect(), declares: own.declares }
}

fn write_score(result: SeatScore) -> proto::NeapolitanSeatScore {
    proto::NeapolitanSeatScore {
        tricks_won: result.tricks.into(),
        points: result.points.into(),
        score: result.score.into(),
    }
}

fn write_event(seen: &Seen) -> EventArm {
    match *seen {
        Seen::SetUp { stack, leader } => EventArm::SetUp(proto::NeapolitanSetUp {
            flavor_stack: write_sequence(stack),
            leader: write_seat(leader),
        }),
        Seen::Dealt { deal, hand, hand_size, leftovers } => {
            EventArm::Dealt(proto::NeapolitanDealt {
                deal,
                hand: write_cards(hand.into_iter().flat_map(Cards::iter)),
                hand_size: hand_size.into(),
                leftovers: write_cards(leftovers.into_iter().flatten()),
            })
        }
        Seen::RoundBegan { round, leader, asked } => {
            EventArm::RoundBegan(proto::NeapolitanRoundBegan {
                round: round.into(),
                leader: write_seat(leader),
                asked: write_seats(asked),
            })
        }
        Seen::Answered { seat } => {
            EventArm::Answered(proto::NeapolitanAnswered { seat: write_seat(seat) })
        }
        Seen::Revealed { declared, declined } => EventArm::Revealed(proto::NeapolitanRevealed {
            declared: write_seats(declared),
            declined: write_seats(declined),
        }),
        Seen::Played(play) => EventArm::Played(write_play(play)),
        Seen::TrickWon { trick, winner, stack } => EventArm::TrickWon(proto::NeapolitanTrickWon {
            trick: trick.into(),
            winner: write_seat(winner),
            flavor_stack: write_sequence(stack),
        }),
        Seen::RoundScored { ref results } => {
            let results = results.values().map(|&result| write_score(result)).collect();
            EventArm::RoundScored(proto::NeapolitanRoundScored { results })
        }
        Seen::Stamped { seat } => {
            EventArm::Stamped(proto::NeapolitanStamped { seat: write_seat(seat) })
        }
        Seen::Achieved { seat, achievement } => EventArm::Achieved(proto::NeapolitanAchieved {
            seat: write_seat(seat),
            achievement: achievement.id().to_owned(),
        }),
        Seen::Ended { end, ref scores } => EventArm::Ended(proto::NeapolitanEnded {
            end: Some(write_end(end)),
            scores: scores.values().map(|&score| score.into()).collect(),
        }),
    }
}
