//! What the service is compared with: the least that a server on the same stack does for the same
//! call. It answers with recorded bytes, after nothing at all or after one script in Redis, and
//! streams recorded bytes to all who watch.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use clap::{Args, Subcommand};
use futures_util::Stream;
use futures_util::future::BoxFuture;
use redis::IntoConnectionInfo as _;
use redis::aio::MultiplexedConnection;
use socket2::{Domain, Socket, Type};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::broadcast;
use tonic::body::Body;
use tonic::server::{Grpc, NamedService, ServerStreamingService, UnaryService};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};
use tower::Service;

use super::Failure;
use super::raw::Raw;
use super::recording::Recording;

/// The least that a commit needs: compare, append, set, announce.
const LEAN: &str = "
    if redis.call('HGET', KEYS[1], 'version') ~= ARGV[1] and ARGV[1] ~= '0' then return 0 end
    redis.call('XADD', KEYS[2], ARGV[2] .. '-0', 'input', ARGV[3])
    redis.call('HSET', KEYS[1], 'version', ARGV[2], 'snapshot', ARGV[4])
    redis.call('PUBLISH', KEYS[3], ARGV[2])
    return 1";

/// The service's own script.
const OWN: &str = include_str!("../../src/store/redis/commit.lua");

/// After so many changes a match is over, and another one begins.
const CHANGES: u64 = 60;

/// The other thing that this program does.
#[derive(Debug, Subcommand)]
pub enum Role {
    /// Serve as the baseline; the bench starts this itself.
    #[command(hide = true)]
    Baseline(BaselineArgs),
}

#[derive(Args, Debug)]
pub struct BaselineArgs {
    recording: PathBuf,
    #[arg(long)]
    runtime: String,
    /// Run a script there for each call.
    #[arg(long)]
    redis: Option<String>,
    /// Which one: `lean`, or the service's `own`.
    #[arg(long)]
    script: String,
}

/// Serves until the process is ended.
pub fn serve(args: &BaselineArgs) -> Result<(), Failure> {
    let recording = Recording::read(&args.recording)?;
    let shared = args.runtime == "shared";
    let others = if shared { 0 } else { std::thread::available_parallelism()?.get() - 1 };
    let runtime =
        || if shared { Builder::new_multi_thread() } else { Builder::new_current_thread() };
    let first = listen(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    let address = first.local_addr()?;
    let news = broadcast::Sender::new(1024);
    let run = |runtime: Runtime, listener: std::net::TcpListener| {
        let (recording, news) = (recording.clone(), news.clone());
        let (redis, script) = (args.redis.clone(), args.script.clone());
        std::thread::spawn(move || -> Result<(), Failure> {
            runtime.block_on(async move {
                let commits = match redis {
                    Some(url) => Some(Arc::new(Commits::open(&url, &script, &recording).await?)),
                    None => None,
                };
                serve_at(listener, Baseline::new(recording, news, commits)).await
            })
        })
    };
    let mut threads = vec![run(runtime().enable_all().build()?, first)];
    for _ in 0..others {
        threads.push(run(runtime().enable_all().build()?, listen(address)?));
    }
    println!("listens on {address}");
    for thread in threads {
        thread.join().map_err(|_| "a thread panicked")??;
    }
    Ok(())
}

fn listen(address: SocketAddr) -> Result<std::net::TcpListener, Failure> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(1024)?;
    Ok(socket.into())
}

/// The transport is set as the service sets it.
async fn serve_at(listener: std::net::TcpListener, baseline: Baseline) -> Result<(), Failure> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    Server::builder()
        .max_concurrent_streams(100)
        .initial_stream_window_size(64 * 1024)
        .initial_connection_window_size(256 * 1024)
        .http2_max_header_list_size(8 * 1024)
        .http2_keepalive_interval(Some(Duration::from_secs(30)))
        .add_service(baseline)
        .serve_with_incoming(incoming)
        .await?;
    Ok(())
}

/// Answers like the service, without a match.
#[derive(Clone)]
struct Baseline {
    recording: Arc<Recording>,
    next: Arc<AtomicUsize>,
    news: broadcast::Sender<Bytes>,
    commits: Option<Arc<Commits>>,
}

impl Baseline {
    fn new(
        recording: Recording,
        news: broadcast::Sender<Bytes>,
        commits: Option<Arc<Commits>>,
    ) -> Self {
        Self { recording: Arc::new(recording), next: Arc::default(), news, commits }
    }

    async fn act(self) -> Result<Response<Bytes>, Status> {
        if let Some(commits) = &self.commits {
            commits.commit().await.map_err(|error| Status::internal(error.to_string()))?;
        }
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        let recorded = |messages: &[Bytes]| messages[next % messages.len()].clone();
        if self.news.receiver_count() > 0 {
            let _ = self.news.send(recorded(&self.recording.updates));
        }
        Ok(Response::new(recorded(&self.recording.answers)))
    }

    fn watch(&self) -> Updates {
        let first = self.recording.updates.first().cloned();
        let state = (first, self.news.subscribe());
        Box::pin(futures_util::stream::unfold(state, |(first, mut news)| async move {
            let next = match first {
                Some(first) => Ok(first),
                None => news.recv().await.map_err(|error| Status::internal(error.to_string())),
            };
            Some((next, (None, news)))
        }))
    }
}

impl NamedService for Baseline {
    const NAME: &'static str = "parlor.v1.MatchService";
}

impl Service<http::Request<Body>> for Baseline {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<http::Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let baseline = self.clone();
        Box::pin(async move {
            let mut grpc = Grpc::new(Raw);
            Ok(match request.uri().path() {
                "/parlor.v1.MatchService/SubmitAction" => grpc.unary(Act(baseline), request).await,
                "/parlor.v1.MatchService/StreamView" => {
                    grpc.server_streaming(Watch(baseline), request).await
                }
                _ => Status::unimplemented("the baseline has two calls").into_http(),
            })
        })
    }
}

struct Act(Baseline);

impl UnaryService<Bytes> for Act {
    type Response = Bytes;
    type Future = BoxFuture<'static, Result<Response<Bytes>, Status>>;

    fn call(&mut self, _: Request<Bytes>) -> Self::Future {
        Box::pin(self.0.clone().act())
    }
}

struct Watch(Baseline);

type Updates = Pin<Box<dyn Stream<Item = Result<Bytes, Status>> + Send>>;

impl ServerStreamingService<Bytes> for Watch {
    type Response = Bytes;
    type ResponseStream = Updates;
    type Future = std::future::Ready<Result<Response<Updates>, Status>>;

    fn call(&mut self, _: Request<Bytes>) -> Self::Future {
        std::future::ready(Ok(Response::new(self.0.watch())))
    }
}

/// Changes matches in Redis that hold as many bytes as the service's.
struct Commits {
    connection: MultiplexedConnection,
    script: redis::Script,
    own: bool,
    snapshot: Vec<u8>,
    input: Vec<u8>,
    /// The matches that no call is changing, and their versions.
    idle: Mutex<Vec<(u64, u64)>>,
}

/// So that the matches of no thread and no process meet.
fn new_match() -> u64 {
    uuid::Uuid::new_v4().as_u64_pair().0
}

impl Commits {
    async fn open(url: &str, script: &str, recording: &Recording) -> Result<Self, Failure> {
        let info = url.into_connection_info()?;
        let settings = redis::io::tcp::TcpSettings::default().set_nodelay(true);
        let client = redis::Client::open(info.set_tcp_settings(settings))?;
        let mut connection = client.get_multiplexed_async_connection().await?;
        let own = script == "own";
        let script = redis::Script::new(if own { OWN } else { LEAN });
        script.prepare_invoke().load_async(&mut connection).await?;
        let filled = |length: u64| vec![7; usize::try_from(length).unwrap_or_default()];
        let snapshot = filled(recording.snapshot);
        let input = filled(recording.inputs / recording.requests.len().max(1) as u64);
        Ok(Self { connection, script, own, snapshot, input, idle: Mutex::default() })
    }

    async fn commit(&self) -> Result<(), Failure> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let (id, version) = idle().pop().unwrap_or_else(|| (new_match(), 0));
        let key = |what| format!("bench:{{{id:032x}}}:{what}");
        let (base, next) = (version.to_string(), (version + 1).to_string());
        let mut command = redis::cmd("EVALSHA");
        command.arg(self.script.get_hash());
        if self.own {
            if version == 0 {
                self.create(&key('s')).await?;
            }
            let digest = [b'd'; 16];
            let request = format!("0:{}", uuid::Uuid::new_v4().simple());
            command.arg(3).arg(key('s')).arg(key('l')).arg(key('d'));
            command.arg(request).arg(&digest).arg(base).arg(&digest).arg(next).arg(&digest);
            command.arg(&self.input).arg(&self.snapshot).arg("86400000").arg(key('w')).arg("");
        } else {
            command.arg(3).arg(key('s')).arg(key('l')).arg(key('w'));
            command.arg(base).arg(next).arg(&self.input).arg(&self.snapshot);
        }
        let answer: redis::Value = command.query_async(&mut self.connection.clone()).await?;
        if !matches!(&answer, redis::Value::Int(1) | redis::Value::Array(_)) {
            return Err("a commit was refused".into());
        }
        if version < CHANGES {
            idle().push((id, version + 1));
        }
        Ok(())
    }

    /// Makes the match that the service's script expects.
    async fn create(&self, key: &str) -> Result<(), Failure> {
        let mut create = redis::cmd("HSET");
        create.arg(key).arg("version").arg(0).arg("digest").arg(&[b'd'; 16]);
        let () = create.query_async(&mut self.connection.clone()).await?;
        Ok(())
    }
}
