//! The service as a whole: built from settings, it knows its address, and serves until it is told
//! to stop. The same in tests and in production.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use rand::RngExt as _;
use socket2::{Domain, Protocol, Socket, Type};
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic_health::server::HealthReporter;
use tower::ServiceBuilder;
use tower::util::MapRequestLayer;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use crate::config::{Origins, Settings, StoreChoice};
use crate::connections::{self, BadCertificates, Open, Tls};
use crate::grpc::errors::Fault;
use crate::grpc::layers::{CallLayer, DeadlineLayer, ShedLayer, TRACE_ID, explain};
use crate::grpc::tokens::TokenKeys;
use crate::grpc::{Catalogs, Places, Rates, Service};
use crate::info::Info;
use crate::matches::{Matches, SystemChance, SystemClock};
use crate::proto;
use crate::proto::catalog_service_server::CatalogServiceServer;
use crate::proto::match_service_server::MatchServiceServer;
use crate::store::{MemoryStore, RedisStore, Store, StoreError};

/// Streams that a connection may have open.
const MAX_STREAMS: u32 = 100;
/// What a stream and a connection may send ahead: requests are small.
const STREAM_WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 256 * 1024;
/// The most that the headers of a request may take.
const MAX_HEADERS: u32 = 8 * 1024;
/// A connection that is silent for so long is asked whether it is still there, and closed when it
/// does not answer.
const KEEPALIVE: Duration = Duration::from_secs(30);
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(10);
/// Connections that wait to be accepted.
const BACKLOG: i32 = 1024;

/// Why the service did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, io::Error),
    /// The certificates cannot be used.
    #[error(transparent)]
    Tls(#[from] BadCertificates),
    /// The store is not there, or refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The service, bound to its port, not yet serving.
#[derive(Debug)]
pub struct App {
    settings: Settings,
    address: SocketAddr,
    listener: TcpListener,
    open: Open,
    tls: Option<Tls>,
    shed: ShedLayer,
    service: Service,
    info: Info,
    stop: CancellationToken,
}

impl App {
    /// Opens the store that the settings name, and binds the port.
    ///
    /// # Errors
    /// [`StartError`], when either fails.
    pub async fn build(settings: Settings) -> Result<Self, StartError> {
        let store: Arc<dyn Store> = match &settings.store {
            StoreChoice::Memory => Arc::new(MemoryStore::default()),
            StoreChoice::Redis(config) => Arc::new(RedisStore::connect(config.clone()).await?),
        };
        Self::over(store, settings)
    }

    /// Binds the port, over a store that is open already.
    ///
    /// # Errors
    /// [`StartError::Listen`] or [`StartError::Tls`].
    pub fn over(store: Arc<dyn Store>, settings: Settings) -> Result<Self, StartError> {
        let info = Info::new(&settings, Arc::clone(&store), &SystemClock);
        let service = Service {
            matches: Matches::new(
                store,
                Arc::new(SystemClock),
                Arc::new(SystemChance),
                settings.matches.clone(),
            ),
            tokens: settings.token_keys.clone().unwrap_or_else(TokenKeys::random),
            token_life: settings.token_life,
            api_keys: settings.api_keys.clone(),
            deadlines: settings.deadlines,
            places: Places::new(settings.streams),
            rates: Rates::new(settings.rates),
        };
        let bound = listen(settings.listen).and_then(|listener| {
            let address = listener.local_addr()?;
            Ok((listener, address))
        });
        let (listener, address) =
            bound.map_err(|error| StartError::Listen(settings.listen, error))?;
        let stop = CancellationToken::new();
        let open = Open::default();
        let tls = settings.tls.clone().map(Tls::load).transpose()?;
        let shed = ShedLayer::new(settings.in_flight);
        Ok(Self { settings, address, listener, open, tls, shed, service, info, stop })
    }

    /// Whether callers have to speak TLS.
    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What runs here.
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// Tells it to stop, from wherever.
    pub fn stopper(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// The same service with a listener of its own on the same port, for another thread.
    ///
    /// # Errors
    /// [`StartError::Listen`].
    pub fn twin(&self) -> Result<Self, StartError> {
        let listener =
            listen(self.address).map_err(|error| StartError::Listen(self.address, error))?;
        Ok(Self {
            settings: self.settings.clone(),
            address: self.address,
            listener,
            open: self.open.clone(),
            tls: self.tls.clone(),
            shed: self.shed.clone(),
            service: self.service.clone(),
            info: self.info.clone(),
            stop: self.stop.clone(),
        })
    }

    /// Serves until it is told to stop; then lets watchers leave and calls under way end, for no
    /// longer than the settings say.
    ///
    /// # Errors
    /// When the listener fails.
    ///
    /// # Panics
    /// When called outside a runtime.
    pub async fn serve(self) -> Result<(), tonic::transport::Error> {
        let Self { settings, listener, open, tls, shed, service, stop, .. } = self;
        let matches = service.matches.clone();
        let (health_reporter, health) = tonic_health::server::health_reporter();
        health_reporter.set_serving::<MatchServiceServer<Service>>().await;

        let routes = Routes::new(
            MatchServiceServer::new(service).max_decoding_message_size(settings.max_request),
        )
        .add_service(
            CatalogServiceServer::new(Catalogs).max_decoding_message_size(settings.max_request),
        )
        .add_service(health)
        .add_service(reflection().build_v1().expect("our own descriptors can be read"))
        .add_service(reflection().build_v1alpha().expect("our own descriptors can be read"));

        let listener = tokio::net::TcpListener::from_std(listener);
        let listener = listener.expect("a listener that does not block");
        let incoming = connections::incoming(listener, open, settings.connections, tls.clone());
        let renewing = async {
            match &tls {
                Some(tls) => tls.keep_up().await,
                None => std::future::pending().await,
            }
        };

        let drained = CancellationToken::new();
        let shutdown = {
            let (stop, drained, limit) = (stop.clone(), drained.clone(), settings.drain);
            async move {
                stop.cancelled().await;
                drain(health_reporter, matches, limit).await;
                drained.cancel();
            }
        };
        let max_request = settings.max_request;
        let serving = Server::builder()
            .accept_http1(true)
            .max_concurrent_streams(MAX_STREAMS)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .http2_max_header_list_size(MAX_HEADERS)
            .http2_keepalive_interval(Some(KEEPALIVE))
            .http2_keepalive_timeout(Some(KEEPALIVE_TIMEOUT))
            // No grace: with one, tonic would cut the connection off and never say that it should go.
            .max_connection_age(jittered(settings.connections.age))
            .layer(MapRequestLayer::new(connections::note_request))
            .layer(cors(&settings.cors_origins))
            .layer(tonic_web::GrpcWebLayer::new())
            .layer(CallLayer)
            .layer(shed)
            .layer(
                ServiceBuilder::new()
                    .map_response(move |response| explain(response, max_request))
                    .map_response(|response: http::Response<_>| response.map(Body::new))
                    .layer(CatchPanicLayer::custom(panicked))
                    .into_inner(),
            )
            .layer(DeadlineLayer)
            .add_routes(routes)
            .serve_with_incoming_shutdown(incoming, shutdown);

        // A connection that never ends must not keep the process: tonic itself waits for all.
        let limit = async {
            stop.cancelled().await;
            tokio::time::sleep(settings.drain).await;
        };
        tokio::select! {
            served = serving => served,
            () = renewing => Ok(()),
            () = limit => {
                tracing::warn!("some calls were still under way when the time to stop was over");
                Ok(())
            }
        }
    }
}

/// A duration up to a tenth shorter or longer, so that connections that came together, to several
/// instances that started together, do not all come back together.
#[expect(clippy::disallowed_methods, reason = "nothing of a match depends on it")]
fn jittered(age: Duration) -> Duration {
    age.mul_f64(rand::rng().random_range(0.9..=1.1))
}

/// Lets watchers leave and changes end.
async fn drain(health: HealthReporter, matches: Matches<crate::games::AnyGame>, limit: Duration) {
    tracing::info!("stopping");
    health.set_not_serving::<MatchServiceServer<Service>>().await;
    let _ = tokio::time::timeout(limit, matches.drain()).await;
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> http::Response<Body> {
    tracing::error!("a call panicked");
    tracing::info!(name: "parlor.panics", target: "metric", r#where = "handler");
    Fault::PANIC.status().into_http()
}

/// Describes our services, health, and the details of our errors.
fn reflection() -> tonic_reflection::server::Builder<'static> {
    tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(proto::DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
}

/// A listener that lets others listen on the same port, so that each core can have its own.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// What pages of other origins may do: call, with any headers, and read the trailers of gRPC-Web.
///
/// The headers that a browser asks for are named in the answer: `*` would not stand for
/// `authorization`.
fn cors(origins: &Origins) -> CorsLayer {
    let allowed = match origins {
        Origins::Any => AllowOrigin::any(),
        Origins::Localhost => AllowOrigin::predicate(|origin, _| is_local(origin)),
        Origins::Only(origins) => AllowOrigin::list(origins.clone()),
    };
    CorsLayer::new()
        .allow_origin(allowed)
        .allow_methods([http::Method::POST])
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers([
            HeaderName::from_static("grpc-status"),
            HeaderName::from_static("grpc-message"),
            HeaderName::from_static("grpc-status-details-bin"),
            HeaderName::from_static("grpc-retry-pushback-ms"),
            TRACE_ID,
        ])
        .max_age(Duration::from_secs(60 * 60))
}

fn is_local(origin: &HeaderValue) -> bool {
    let host = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    host.is_some_and(|(_, host)| {
        let name = host.rsplit_once(':').map_or(host, |(name, port)| {
            if port.bytes().all(|b| b.is_ascii_digit()) { name } else { host }
        });
        matches!(name, "localhost" | "127.0.0.1" | "[::1]")
    })
}
