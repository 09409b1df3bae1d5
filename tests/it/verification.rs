//! Fair shuffles: a finished match can be verified, and a match that was tampered with cannot.

use std::sync::Arc;

use parlor::client::{AtMatch, Followed};
use parlor::proto::event::Event as EventArm;
use parlor::proto::game_event::Game as GameArm;
use parlor::proto::game_options::Game;
use parlor::proto::neon_event::Event as NeonArm;
use parlor::proto::{
    CreateMatchRequest, Event, GameOptions, JoinMatchRequest, NeapolitanOptions, NeonOptions,
    NewSeat, SeatKind, Visibility,
};
use parlor::store::MemoryStore;
use parlor::verify::{Mismatch, check};

use crate::instance::{Instance, Table};

async fn history(at: &AtMatch) -> Vec<Event> {
    let (mut events, mut follow) = (Vec::new(), at.follow_from_the_start());
    while let Some(told) = follow.next().await.expect("no error") {
        let Followed::Update { events: more, .. } = told else { panic!("a snapshot") };
        events.extend(more);
    }
    events
}

#[tokio::test]
async fn every_viewer_can_verify_every_deal_of_a_finished_match() {
    let instance = Instance::start(Arc::new(MemoryStore::default()), &[]);
    let options = NeapolitanOptions {
        ice_cream_you_scream: true,
        secret_ingredients: true,
        ..NeapolitanOptions::default()
    };
    for game in [Game::Neon(NeonOptions::default()), Game::Neapolitan(options)] {
        let table = Table::create(&instance.client(), game, 3).await;
        let commitment = table.created.r#match.clone().unwrap().commitment;
        table.play(5).await;
        let unfinished = table.seats[0].get_match().await.unwrap();
        assert_eq!(check(&unfinished, Some(0), &[], None), Err(Mismatch::NotOver));
        table.play(usize::MAX).await;

        let finished = table.seats[0].get_match().await.unwrap();
        let spectator = instance.client().at(&table.id, None).unwrap();
        let viewers = (0..3).map(Some).chain([None]);
        for (viewer, at) in viewers.zip(table.seats.iter().chain([&spectator])) {
            let events = history(at).await;
            let deals = check(&finished, viewer, &events, Some(&commitment)).expect("verified");
            assert!(deals >= 1);
        }
    }
}

#[tokio::test]
async fn what_was_tampered_with_does_not_verify() {
    let instance = Instance::start(Arc::new(MemoryStore::default()), &[]);
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 3).await;
    table.play(usize::MAX).await;
    let finished = table.seats[1].get_match().await.unwrap();
    let events = history(&table.seats[1]).await;
    assert_eq!(check(&finished, Some(1), &events, None), Ok(1));

    let mut other_secret = finished.clone();
    other_secret.secret[0] ^= 1;
    assert_eq!(check(&other_secret, Some(1), &events, None), Err(Mismatch::Commitment));
    let noted = [0; 32];
    assert_eq!(check(&finished, Some(1), &events, Some(&noted)), Err(Mismatch::Commitment));

    let mut other_entropy = finished.clone();
    other_entropy.seats[0].entropy = vec![1];
    assert_eq!(check(&other_entropy, Some(1), &events, None), Err(Mismatch::Deal(0)));

    let mut other_hand = events.clone();
    for event in &mut other_hand {
        if let Some(EventArm::Game(event)) = &mut event.event
            && let Some(GameArm::Neon(event)) = &mut event.game
            && let Some(NeonArm::Dealt(dealt)) = &mut event.event
        {
            dealt.hand[0] = dealt.hand[0] % 6 + 1;
        }
    }
    assert_eq!(check(&finished, Some(1), &other_hand, None), Err(Mismatch::Deal(0)));
}

#[tokio::test]
async fn the_entropy_of_those_who_join_is_a_part_of_the_shuffle() {
    let instance = Instance::start(Arc::new(MemoryStore::default()), &[]);
    let client = instance.client();
    let created = client
        .create_match(CreateMatchRequest {
            options: Some(GameOptions { game: Some(Game::Neon(NeonOptions::default())) }),
            seats: vec![NewSeat { kind: SeatKind::Open.into(), ..NewSeat::default() }; 2],
            visibility: Visibility::Public.into(),
            ..CreateMatchRequest::default()
        })
        .await
        .expect("created");
    let commitment = created.r#match.unwrap().commitment;
    let mut seats = Vec::new();
    let mut id = String::new();
    for entropy in [b"first".to_vec(), b"second".to_vec()] {
        let join_code = created.join_code.clone();
        let request = JoinMatchRequest { join_code, entropy, ..JoinMatchRequest::default() };
        let joined = client.join_match(request).await.expect("a seat");
        id = joined.r#match.unwrap().match_id;
        seats.push(joined.seat_token.unwrap());
    }
    let at = |seat: usize| client.at(&id, Some(&seats[seat].token)).unwrap();
    loop {
        let view = at(0).view().await.unwrap();
        let Some(decision) = view.decisions.first() else { break };
        let seat = at(decision.seat as usize);
        let action = seat.view().await.unwrap().legal_actions[0].clone();
        seat.act(action, None).await.expect("a legal action");
    }
    let finished = at(0).get_match().await.unwrap();
    assert_eq!(finished.seats[1].entropy, b"second");
    let events = history(&at(0)).await;
    assert_eq!(check(&finished, Some(0), &events, Some(&commitment)), Ok(1));
}
