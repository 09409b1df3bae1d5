//! A collector of traces and metrics, as OTLP knows it, in this process.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

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
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Identity, Server, ServerTlsConfig};
use tonic::{Request, Response, Status};

/// What was sent to a collector.
#[derive(Clone, Debug, Default)]
struct Received {
    traces: Arc<Mutex<Vec<ExportTraceServiceRequest>>>,
    metrics: Arc<Mutex<Vec<ExportMetricsServiceRequest>>>,
    /// Whether it never answers.
    stuck: bool,
}

impl Received {
    async fn answer<T: Default>(&self) -> Result<Response<T>, Status> {
        if self.stuck {
            std::future::pending::<()>().await;
        }
        Ok(Response::new(T::default()))
    }
}

#[tonic::async_trait]
impl TraceService for Received {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.traces.lock().unwrap().push(request.into_inner());
        self.answer().await
    }
}

#[tonic::async_trait]
impl MetricsService for Received {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        self.metrics.lock().unwrap().push(request.into_inner());
        self.answer().await
    }
}

/// A collector that takes what is sent as long as it lives.
pub struct Collector {
    pub url: String,
    received: Received,
    serving: JoinHandle<()>,
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Collector {
    /// One that works.
    pub async fn start() -> Self {
        Self::serve(Received::default()).await
    }

    /// One that takes everything and never answers.
    pub async fn stuck() -> Self {
        Self::serve(Received { stuck: true, ..Received::default() }).await
    }

    /// One that encrypts, with this certificate for `localhost` and its key.
    pub async fn encrypted((certificate, key): (String, String)) -> Self {
        let tls = ServerTlsConfig::new().identity(Identity::from_pem(certificate, key));
        let server = Server::builder().tls_config(tls).expect("a certificate and its key");
        let mut collector = Self::serve_with(server, Received::default()).await;
        collector.url = collector.url.replace("http://127.0.0.1", "https://localhost");
        collector
    }

    async fn serve(received: Received) -> Self {
        Self::serve_with(Server::builder(), received).await
    }

    async fn serve_with(mut server: Server, received: Received) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let serving = server
            .add_service(TraceServiceServer::new(received.clone()))
            .add_service(MetricsServiceServer::new(received.clone()))
            .serve_with_incoming(TcpIncoming::from(listener));
        #[expect(clippy::disallowed_methods, reason = "the collector owns the task and ends it")]
        let serving = tokio::spawn(async { serving.await.expect("served") });
        Self { url, received, serving }
    }

    /// All spans so far.
    pub fn spans(&self) -> Vec<Span> {
        let traces = self.received.traces.lock().unwrap();
        let resources = traces.iter().flat_map(|request| &request.resource_spans);
        let scopes = resources.flat_map(|resource| &resource.scope_spans);
        scopes.flat_map(|scope| scope.spans.iter().cloned()).collect()
    }

    /// All that was sent, as text.
    pub fn text(&self) -> String {
        let (traces, metrics) = (&self.received.traces, &self.received.metrics);
        format!("{:?}{:?}", traces.lock().unwrap(), metrics.lock().unwrap())
    }

    /// The names of all metrics so far.
    pub fn metrics(&self) -> Vec<String> {
        let metrics = self.received.metrics.lock().unwrap();
        let resources = metrics.iter().flat_map(|request| &request.resource_metrics);
        let scopes = resources.flat_map(|resource| &resource.scope_metrics);
        scopes.flat_map(|scope| scope.metrics.iter().map(|metric| metric.name.clone())).collect()
    }
}

/// A trace's id, as callers write it.
pub fn trace_id(number: u128) -> String {
    format!("{number:032x}")
}

/// The attributes of a span, as text.
pub fn attributes(span: &Span) -> BTreeMap<String, String> {
    let attributes = span.attributes.iter().map(|attribute| {
        let value = attribute.value.as_ref().and_then(|value| value.value.as_ref());
        let value = match value {
            Some(Value::StringValue(text)) => text.clone(),
            Some(Value::IntValue(number)) => number.to_string(),
            Some(Value::BoolValue(yes)) => yes.to_string(),
            other => format!("{other:?}"),
        };
        (attribute.key.clone(), value)
    });
    attributes.collect()
}

/// The spans of a trace below this one, in the order in which they began: a line each, indented, with
/// its attributes, those that are different each time left out.
pub fn tree(spans: &[Span], parent: &[u8]) -> String {
    let mut text = String::new();
    write(spans, parent, 0, &mut text);
    text
}

fn write(spans: &[Span], parent: &[u8], depth: usize, into: &mut String) {
    let mut children: Vec<_> = spans.iter().filter(|span| span.parent_span_id == parent).collect();
    children.sort_by_key(|span| span.start_time_unix_nano);
    for span in children {
        let attributes = attributes(span).into_iter();
        let shown = attributes.filter(|(key, _)| {
            let varies = ["parlor.match_id", "rpc.system.name", "rpc.method"];
            !varies.contains(&key.as_str())
        });
        let shown: Vec<_> = shown.map(|(key, value)| format!(" {key}={value}")).collect();
        let shown = shown.concat();
        let failed = span.status.as_ref().is_some_and(|status| status.code == 2);
        let failed = if failed { " FAILED" } else { "" };
        writeln!(into, "{}{}{shown}{failed}", "  ".repeat(depth), span.name).unwrap();
        write(spans, &span.span_id, depth + 1, into);
    }
}
