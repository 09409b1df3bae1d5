//! Requests that are slow to come, not of gRPC, or asked for more than an answer may hold.

use std::sync::Arc;

use h2::client::Builder;
use parlor::client::reason;
use parlor::proto::catalog_service_client::CatalogServiceClient;
use parlor::proto::game_options::Game;
use parlor::proto::{GetGameRequest, NeonOptions};
use parlor::store::MemoryStore;
use tonic::Code;

use crate::instance::{Instance, Table};
use crate::wire::{Wire, call, status};

fn instance(flags: &[&str]) -> Instance {
    Instance::start(Arc::new(MemoryStore::default()), flags)
}

#[tokio::test]
async fn a_request_that_does_not_come_takes_no_place_and_ends_in_time() {
    let instance = instance(&["--in-flight=1", "--deadline=300ms"]);
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    let mut wire = Wire::connect(instance.address(), &Builder::new()).await;
    let mut kept = Vec::new();
    for begun in [&[][..], b"\0\0\0", b"\0\0\0\0\x10abc"] {
        let calls = wire.ready().await;
        let (answer, mut sending) = calls.send_request(call("SubmitAction"), false).unwrap();
        sending.send_data(begun.into(), false).unwrap();
        kept.push((answer, sending));
    }
    assert_eq!(table.play(4).await, 4, "others are answered meanwhile");
    for (answer, _sending) in kept {
        let answer = answer.await.expect("an answer");
        let status = status(answer.headers()).expect("a refusal");
        assert_eq!(status.code(), Code::DeadlineExceeded);
        assert_eq!(reason(&status).as_deref(), Some("DEADLINE_EXCEEDED"));
    }
    assert!(wire.lives());
}

#[tokio::test]
async fn what_is_not_of_grpc_is_refused_before_it_is_read() {
    let instance = instance(&[]);
    let mut wire = Wire::connect(instance.address(), &Builder::new()).await;
    for kind in ["text/html", "application/json", ""] {
        let mut request = call("GetView");
        request.headers_mut().insert("content-type", kind.parse().unwrap());
        let (answer, _sending) = wire.ready().await.send_request(request, false).unwrap();
        let answer = answer.await.expect("an answer");
        assert_eq!(answer.status(), 415, "{kind}");
        let status = status(answer.headers()).expect("a status");
        assert_eq!(reason(&status).as_deref(), Some("NOT_GRPC"));
    }
    assert!(wire.lives());
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_not_sent_and_is_our_fault() {
    let instance = instance(&["--max-answer=1024"]);
    let mut raw = CatalogServiceClient::connect(instance.url.clone()).await.unwrap();
    let request = GetGameRequest { game_id: "candy".to_owned() };
    let status = raw.get_game(request).await.expect_err("far too large");
    assert_eq!(status.code(), Code::Internal);
    assert_eq!(reason(&status).as_deref(), Some("ANSWER_TOO_LARGE"));
}
