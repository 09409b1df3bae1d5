//! A collector that takes traces and metrics as a real one does, and only counts the spans: it does
//! not read them, because what a collector costs is not the service's affair.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tonic::body::Body;
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;
use tower::Service;

use crate::load::Failure;

/// A collector on a thread of its own, as long as this program runs.
pub struct Collector {
    pub url: String,
    spans: Spans,
}

#[derive(Clone, Default)]
struct Spans(Arc<AtomicU64>);

impl Collector {
    /// Starts it.
    pub async fn start() -> Result<Self, Failure> {
        let listener = TcpListener::bind("127.0.0.1:0").await?.into_std()?;
        let url = format!("http://{}", listener.local_addr()?);
        let spans = Spans::default();
        let serving = spans.clone();
        let runtime = Builder::new_current_thread().enable_all().build()?;
        std::thread::spawn(move || {
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener)?;
                let server = Server::builder()
                    .add_service(serving.clone())
                    .add_service(MetricsServiceServer::new(serving));
                server.serve_with_incoming(TcpIncoming::from(listener)).await?;
                Ok::<_, Failure>(())
            })
        });
        Ok(Self { url, spans })
    }

    /// How many spans it has taken so far.
    pub fn spans(&self) -> u64 {
        self.spans.0.load(Ordering::Relaxed)
    }
}

/// Of an `ExportTraceServiceRequest`, as much as tells how many spans it has.
#[derive(Message)]
struct Exported {
    #[prost(message, repeated, tag = "1")]
    resources: Vec<Resource>,
}

#[derive(Message)]
struct Resource {
    #[prost(message, repeated, tag = "2")]
    scopes: Vec<Scope>,
}

#[derive(Message)]
struct Scope {
    #[prost(bytes = "bytes", repeated, tag = "2")]
    spans: Vec<Bytes>,
}

impl NamedService for Spans {
    const NAME: &str = "opentelemetry.proto.collector.trace.v1.TraceService";
}

impl Service<http::Request<Body>> for Spans {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let spans = self.clone();
        Box::pin(async { Ok(Grpc::new(ProstCodec::default()).unary(spans, request).await) })
    }
}

impl UnaryService<Exported> for Spans {
    type Response = ExportTraceServiceResponse;
    type Future = Ready<Result<Response<ExportTraceServiceResponse>, Status>>;

    fn call(&mut self, request: Request<Exported>) -> Self::Future {
        let resources = &request.get_ref().resources;
        let scopes = resources.iter().flat_map(|resource| &resource.scopes);
        let spans: usize = scopes.map(|scope| scope.spans.len()).sum();
        self.0.fetch_add(spans as u64, Ordering::Relaxed);
        ready(Ok(Response::new(ExportTraceServiceResponse::default())))
    }
}

#[tonic::async_trait]
impl MetricsService for Spans {
    async fn export(
        &self,
        _: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        Ok(Response::new(ExportMetricsServiceResponse::default()))
    }
}
