//! Changes: once each, at any instance, whole or not at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use parlor::client::reason;
use parlor::proto::game_options::Game;
use parlor::proto::{NeapolitanOptions, NeonOptions, SubmitActionRequest};
use parlor::store::{
    Commit, Committed, Entry, Loaded, Log, MatchId, MemoryStore, Position, Result, Store,
    StoreError, StoreInfo, Version, Watch,
};
use tonic::Request;
use uuid::Uuid;

use crate::instance::{Instance, Table};

fn bearer<T>(message: T, token: &str) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    request
}

#[tokio::test]
async fn another_seats_answer_does_not_make_a_decision_stale() {
    let store = Arc::new(MemoryStore::default());
    let instances: Vec<_> = (0..3).map(|_| Instance::start(store.clone(), &[])).collect();
    let game = NeapolitanOptions { cherry_on_top: true, ..NeapolitanOptions::default() };
    let table = Table::create(&instances[0].client(), Game::Neapolitan(game), 5).await;

    let answers = table.created.seat_tokens.iter().enumerate().map(|(i, seat)| {
        let client = instances[i % instances.len()].client();
        let at = client.at(&table.id, Some(&seat.token)).unwrap();
        async move {
            let view = at.view().await.expect("a view");
            let own = view.decisions.iter().find(|decision| Some(decision.seat) == view.seat);
            let decision = own.expect("everyone is asked").decision;
            assert_eq!(decision, 1, "opened when the match began, whoever answered since");
            at.act(view.legal_actions[0].clone(), Some(decision)).await
        }
    });
    let answers = futures_util::future::join_all(answers).await;
    let mut versions: Vec<_> =
        answers.into_iter().map(|answer| answer.expect("accepted").version).collect();
    versions.sort_unstable();
    assert_eq!(versions, [2, 3, 4, 5, 6]);
}

#[tokio::test]
async fn the_same_action_sent_everywhere_at_once_is_done_once() {
    let store = Arc::new(MemoryStore::default());
    let instances: Vec<_> = (0..3).map(|_| Instance::start(store.clone(), &[])).collect();
    let table = Table::create(&instances[0].client(), Game::Neon(NeonOptions::default()), 4).await;
    for step in 0..20 {
        let public = table.seats[0].view().await.unwrap();
        let decision = public.decisions[0];
        let seat = decision.seat as usize;
        let action = table.seats[seat].view().await.unwrap().legal_actions[0].clone();
        let request = SubmitActionRequest {
            match_id: table.id.clone(),
            action_id: Uuid::new_v4().to_string(),
            action: Some(action),
            decision: Some(decision.decision),
        };
        let token = &table.created.seat_tokens[seat].token;
        let calls = instances.iter().map(|instance| {
            let request = bearer(request.clone(), token);
            async move { instance.raw().await.submit_action(request).await }
        });
        let answers = futures_util::future::join_all(calls).await;
        let mut answers: Vec<_> =
            answers.into_iter().map(|answer| answer.expect("an answer").into_inner()).collect();
        assert_eq!(answers.iter().filter(|answer| !answer.replayed).count(), 1, "step {step}");
        for answer in &mut answers {
            answer.replayed = false;
        }
        assert!(answers.iter().all(|answer| *answer == answers[0]), "step {step}");
    }
}

/// A way to a store on which the answer to a change gets lost, once.
#[derive(Debug)]
struct Lossy {
    store: Arc<MemoryStore>,
    loses: AtomicBool,
}

#[async_trait]
impl Store for Lossy {
    async fn claim(&self, key: &str, claim: Bytes, keep: Duration) -> Result<Bytes> {
        self.store.claim(key, claim, keep).await
    }

    async fn create(
        &self,
        id: MatchId,
        first: Entry,
        snapshot: Bytes,
        keep: Duration,
    ) -> Result<bool> {
        self.store.create(id, first, snapshot, keep).await
    }

    async fn load(
        &self,
        id: MatchId,
        known: Option<Position>,
        request: Option<(u8, Uuid)>,
    ) -> Result<Option<Loaded>> {
        // What another way has done meanwhile is not known yet.
        let request = request.filter(|_| !self.loses.load(Ordering::Relaxed));
        self.store.load(id, known, request).await
    }

    async fn commit(&self, id: MatchId, commit: Commit) -> Result<Committed> {
        let committed = self.store.commit(id, commit).await;
        if self.loses.swap(false, Ordering::Relaxed) {
            return Err(StoreError::OutcomeUnknown("its answer got lost".to_owned()));
        }
        committed
    }

    async fn log(&self, id: MatchId, after: Version, limit: usize) -> Result<Option<Log>> {
        self.store.log(id, after, limit).await
    }

    async fn watch(&self, id: MatchId) -> Watch {
        self.store.watch(id).await
    }

    fn info(&self) -> StoreInfo {
        self.store.info()
    }
}

#[tokio::test]
async fn an_action_whose_answers_the_store_lost_at_two_instances_is_not_new_to_both() {
    let store = Arc::new(MemoryStore::default());
    let creator = Instance::start(store.clone(), &[]);
    let table = Table::create(&creator.client(), Game::Neon(NeonOptions::default()), 2).await;
    let decision = table.seats[0].view().await.unwrap().decisions[0];
    let seat = decision.seat as usize;
    let request = SubmitActionRequest {
        match_id: table.id.clone(),
        action_id: Uuid::new_v4().to_string(),
        action: Some(table.seats[seat].view().await.unwrap().legal_actions[0].clone()),
        decision: Some(decision.decision),
    };
    let ways = [0; 2].map(|_| {
        let way = Lossy { store: store.clone(), loses: AtomicBool::new(false) };
        Arc::new(way)
    });
    let instances = ways.clone().map(|way| Instance::start(way, &[]));
    // Both know the match as it was before the action.
    for instance in &instances {
        table.at(&instance.client())[seat].view().await.unwrap();
    }
    let mut new = 0;
    for (way, instance) in ways.iter().zip(&instances) {
        way.loses.store(true, Ordering::Relaxed);
        let request = bearer(request.clone(), &table.created.seat_tokens[seat].token);
        let answer = instance.raw().await.submit_action(request).await.expect("an answer");
        let answer = answer.into_inner();
        assert_eq!(answer.version, 2);
        new += usize::from(!answer.replayed);
    }
    assert!(new <= 1, "an action that was carried out once is new to {new} callers");
}

#[tokio::test]
async fn what_is_refused_is_judged_on_the_match_as_it_is_not_as_an_instance_knew_it() {
    let store = Arc::new(MemoryStore::default());
    let (one, other) = (Instance::start(store.clone(), &[]), Instance::start(store, &[]));
    let table = Table::create(&one.client(), Game::Neon(NeonOptions::default()), 2).await;
    let there = table.at(&other.client());
    // Both instances have seen the match; then it moves on at one of them only.
    there[0].view().await.expect("a view");
    let first = table.seats[0].view().await.unwrap().decisions[0].seat as usize;
    let action = table.seats[first].view().await.unwrap().legal_actions[0].clone();
    table.seats[first].act(action, None).await.expect("accepted");

    let second = 1 - first;
    let action = table.seats[second].view().await.unwrap().legal_actions[0].clone();
    let answer = there[second].act(action, None).await.expect("it is this seat's turn");
    assert_eq!(answer.version, 3);
}

#[tokio::test]
async fn a_caller_that_hangs_up_leaves_the_match_before_or_after_its_action() {
    let instance = Instance::start(Arc::new(MemoryStore::default()), &[]);
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 3).await;
    let mut hung_up = 0;
    for polls in 0..40 {
        let public = table.seats[0].view().await.unwrap();
        let Some(decision) = public.decisions.first() else { break };
        let seat = decision.seat as usize;
        let action = table.seats[seat].view().await.unwrap().legal_actions[0].clone();
        let request = SubmitActionRequest {
            match_id: table.id.clone(),
            action_id: Uuid::new_v4().to_string(),
            action: Some(action),
            decision: Some(decision.decision),
        };
        let token = &table.created.seat_tokens[seat].token;
        let mut raw = instance.raw().await;
        {
            // Polled a number of times and dropped: what was sent by then was sent.
            let call = raw.submit_action(bearer(request.clone(), token));
            let mut call = std::pin::pin!(call);
            for _ in 0..polls % 8 {
                let once = std::future::poll_fn(|cx| {
                    std::task::Poll::Ready(call.as_mut().poll(cx).is_ready())
                });
                if once.await {
                    break;
                }
                tokio::task::yield_now().await;
            }
            hung_up += 1;
        }
        // The same action again settles it, whether or not it was done.
        let answer = raw.submit_action(bearer(request, token)).await.expect("settled");
        assert_eq!(answer.into_inner().version, public.version + 1);
        assert_eq!(table.seats[0].view().await.unwrap().version, public.version + 1);
    }
    assert!(hung_up > 20, "only {hung_up} calls were dropped");
}

#[tokio::test]
async fn an_action_of_another_game_is_refused_by_rule() {
    let instance = Instance::start(Arc::new(MemoryStore::default()), &[]);
    let neon = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 3).await;
    let other = Game::Neapolitan(NeapolitanOptions::default());
    let other = Table::create(&instance.client(), other, 3).await;
    let seat = other.seats[0].view().await.unwrap().decisions[0].seat as usize;
    let foreign = other.seats[seat].view().await.unwrap().legal_actions[0].clone();
    let seat = neon.seats[0].view().await.unwrap().decisions[0].seat as usize;
    let status = neon.seats[seat].act(foreign, None).await.expect_err("another game's");
    assert_eq!(reason(&status).as_deref(), Some("ILLEGAL_ACTION"));
}
