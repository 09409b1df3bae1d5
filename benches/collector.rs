//! A collector that takes traces and metrics as a real one does, and only counts the spans.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

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
                    .add_service(TraceServiceServer::new(serving.clone()))
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

#[tonic::async_trait]
impl TraceService for Spans {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let resources = request.into_inner().resource_spans.into_iter();
        let scopes = resources.flat_map(|resource| resource.scope_spans);
        let spans: usize = scopes.map(|scope| scope.spans.len()).sum();
        self.0.fetch_add(spans as u64, Ordering::Relaxed);
        Ok(Response::new(ExportTraceServiceResponse::default()))
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
