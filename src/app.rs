//! The service as a whole: built from settings, it knows its address, and serves until it is told
//! to stop. The same in tests and in production.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use socket2::{Domain, Protocol, Socket, Type};
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::service::Routes;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::server::HealthReporter;
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use crate::config::{Origins, Settings, StoreChoice};
use crate::connections::{self, BadCertificates, Open, Tls, TurnedAway};
use crate::games::AnyGame;
use crate::grpc::errors;
use crate::grpc::layers::{CallLayer, DeadlineLayer, ReadLayer, ShedLayer, TRACE_ID, explain};
use crate::grpc::tokens::TokenKeys;
use crate::grpc::{Catalogs, Places, Rates, Service};
use crate::info::Info;
use crate::matches::{Matches, SystemChance, SystemClock};
use crate::memory::Memory;
use crate::proto;
use crate::proto::catalog_service_server::CatalogServiceServer;
use crate::proto::match_service_server::MatchServiceServer;
use crate::store::{MemoryStore, RedisStore, Store, StoreError};

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
    /// What memory it takes cannot be known.
    #[error("cannot see how much memory is in use, for --memory")]
    Memory,
}

/// The service, bound to its port, not yet serving.
#[derive(Debug)]
pub struct App {
    settings: Settings,
    address: SocketAddr,
    listener: TcpListener,
    open: Open,
    tls: Option<Tls>,
    turned_away: TurnedAway,
    memory: Memory,
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
    /// [`StartError::Listen`], [`StartError::Tls`] or [`StartError::Memory`].
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
            places: Places::new(settings.limits.streams),
            rates: Rates::new(settings.limits.rates),
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
        let memory = Memory::new(settings.limits.memory).ok_or(StartError::Memory)?;
        let shed = ShedLayer::new(settings.limits.in_flight, memory.clone());
        Ok(Self {
            settings,
            address,
            listener,
            open,
            tls,
            turned_away: TurnedAway::default(),
            memory,
            shed,
            service,
            info,
            stop,
        })
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
            turned_away: self.turned_away.clone(),
            memory: self.memory.clone(),
            shed: self.shed.clone(),
            service: self.service.clone(),
            info: self.info.clone(),
            stop: self.stop.clone(),
        })
    }

    /// Serves until it is told to stop; then lets watchers leave and calls under way end, for no
    /// longer than the settings say.
    ///
    /// # Panics
    /// When called outside a runtime.
    pub async fn serve(self) {
        let Self { settings, listener, open, tls, turned_away, memory, shed, .. } = self;
        let (service, stop, limits) = (self.service, self.stop, settings.limits);
        let matches = service.matches.clone();
        let cached = matches.clone();
        let (health_reporter, health) = tonic_health::server::health_reporter();
        health_reporter.set_serving::<MatchServiceServer<Service>>().await;

        let listener = tokio::net::TcpListener::from_std(listener);
        let listener = listener.expect("a listener that does not block");
        let incoming = connections::incoming(
            listener,
            open,
            limits.connections,
            memory.clone(),
            tls.clone(),
            turned_away.clone(),
        );
        let renewing = async {
            match &tls {
                Some(tls) => tls.keep_up().await,
                None => std::future::pending().await,
            }
        };

        let stopping = async {
            stop.cancelled().await;
            drain(health_reporter, matches, &settings).await;
        };
        let layers = ServiceBuilder::new()
            .layer(cors(&settings.cors_origins))
            .layer(tonic_web::GrpcWebLayer::new())
            .layer(CallLayer(turned_away.clone()))
            .layer(DeadlineLayer(limits.deadlines))
            .layer(ReadLayer(limits.sizes))
            .layer(shed)
            .map_response(explain)
            .map_response(|response: http::Response<_>| response.map(Body::new))
            .layer(CatchPanicLayer::custom(panicked));
        let routes = layers.service(routes(service, health, limits.sizes.answer));
        let serving = connections::serve(incoming, routes, limits.connections, stopping);

        // A connection that never ends must not keep the process.
        let limit = async {
            stop.cancelled().await;
            tokio::time::sleep(settings.drain).await;
        };
        tokio::select! {
            () = serving => {}
            () = renewing => {}
            () = turned_away.keep_telling() => {}
            () = memory.watch(|| cached.forget()) => {}
            () = limit => {
                tracing::warn!("some calls were still under way when the time to stop was over");
            }
        }
        turned_away.tell();
    }
}

/// Every service on the port. How large requests may be is judged before.
fn routes<H: Health>(service: Service, health: HealthServer<H>, most: usize) -> Routes {
    Routes::new(MatchServiceServer::new(service).max_encoding_message_size(most))
        .add_service(CatalogServiceServer::new(Catalogs).max_encoding_message_size(most))
        .add_service(health)
        .add_service(reflection().build_v1().expect("our own descriptors can be read"))
        .add_service(reflection().build_v1alpha().expect("our own descriptors can be read"))
        .prepare()
}

/// Lets those who send calls here notice, then watchers leave and changes end.
async fn drain(health: HealthReporter, matches: Matches<AnyGame>, settings: &Settings) {
    tracing::info!("stopping");
    health.set_not_serving::<MatchServiceServer<Service>>().await;
    tokio::time::sleep(settings.drain_delay).await;
    let _ = tokio::time::timeout(settings.drain, matches.drain()).await;
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> http::Response<Body> {
    errors::panicked().into_http()
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
