//! The command line: what can be said, in flags or in the environment.
//!
//! Values are read as text here and judged in [`crate::config`], so that all mistakes in them can be
//! told at once.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::games::catalogs;
use crate::rules::CatalogOption;

/// Referees card games over gRPC.
///
/// Without a command it serves. Every setting can also be given in the environment, under the name
/// that its help shows; a flag goes before the environment.
#[derive(Debug, Parser)]
#[command(name = "parlor", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do instead of serving.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// How to serve.
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// What to do instead of serving.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Play a match at a server, choosing at random among what is allowed
    ///
    /// It plays every seat of a new match, or with `--join` one seat of a match that someone else
    /// created: something to see the service work with, and an opponent while a frontend is built.
    Play(PlayArgs),
    /// Play a small match at a server again and again, and measure how that went
    ///
    /// It is for whoever operates the service: where few people play, its matches tell whether they
    /// could. A match of NeoN for two is played by the client that every Rust program can use.
    Probe(ProbeArgs),
    /// Recompute the deals of a finished match from the secret that it revealed
    ///
    /// It asks the server for the match and for all that the token's seat was shown, checks the
    /// secret against the commitment, makes every deal again, and compares.
    Verify(VerifyArgs),
    /// Let random players play many matches, and sum up how they went
    ///
    /// The summary says how long matches are, how they end, how scores spread and which seats win,
    /// and how fast the rules are. Everything but the speed depends on the settings alone: the same
    /// command gives the same matches, whatever the number of threads.
    Simulate(SimulateArgs),
}

/// What to verify.
#[derive(Args, Clone, Debug)]
pub struct VerifyArgs {
    /// The match
    #[arg(value_name = "MATCH")]
    pub match_id: String,

    /// Which server is asked
    #[command(flatten)]
    pub server: ServerArgs,

    /// A token of the match: with a seat's, what that seat was dealt is verified too
    #[arg(long, env = "PARLOR_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    pub token: Option<String>,

    /// The commitment that was published when the match was created, in hexadecimal, if you noted
    /// it; otherwise the server's word is taken for it
    #[arg(long, value_name = "HEX")]
    pub commitment: Option<String>,
}

/// Which server is called, and how.
#[derive(Args, Clone, Debug)]
pub struct ServerArgs {
    /// The server's address; give it several times to spread the calls
    #[arg(
        long,
        env = "PARLOR_SERVER",
        value_name = "URL",
        default_value = "http://127.0.0.1:50051",
        value_delimiter = ','
    )]
    pub server: Vec<String>,

    /// The authority of the server's certificate, in PEM, for an address with https; without it,
    /// those that the system trusts
    #[arg(long, env = "PARLOR_CA", value_name = "FILE")]
    pub ca: Option<PathBuf>,

    /// A certificate of one's own, in PEM, for a server that asks for one
    #[arg(long, env = "PARLOR_CERT", value_name = "FILE", requires = "key")]
    pub cert: Option<PathBuf>,

    /// The private key of that certificate
    #[arg(long, env = "PARLOR_KEY", value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,

    /// An API key, where the server asks for one to create matches; `@FILE` reads it from a file
    #[arg(long, env = "PARLOR_API_KEY", value_name = "KEY", hide_env_values = true)]
    pub api_key: Option<String>,
}

/// How to play.
#[derive(Args, Clone, Debug)]
pub struct PlayArgs {
    /// Where to play
    #[command(flatten)]
    pub server: ServerArgs,

    /// The game, by its id in the catalog
    #[arg(long, value_name = "GAME", default_value = "neon", conflicts_with = "join")]
    pub game: String,

    /// How many seats; left out, as few as the game allows
    #[arg(long, value_name = "COUNT", conflicts_with = "join")]
    pub seats: Option<u8>,

    /// An option of the game, as in `-o first_player=0`; give it once for each option
    #[arg(short, long = "option", value_name = "NAME=VALUE", conflicts_with = "join")]
    pub options: Vec<String>,

    /// Take an open seat of the match with this code, and play only that
    #[arg(long, value_name = "CODE")]
    pub join: Option<String>,

    /// What to be called
    #[arg(long, value_name = "NAME", default_value = "random player")]
    pub name: String,

    /// Also write everything that is sent and received to this file, a JSON object a line, with
    /// messages as hexadecimal Protobuf
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// How to probe.
#[derive(Args, Clone, Debug)]
pub struct ProbeArgs {
    /// Where to play
    #[command(flatten)]
    pub server: ServerArgs,

    /// How often a match begins; one that is not over by then is given up
    #[arg(long, env = "PARLOR_EVERY", value_name = "TIME", default_value = "30s")]
    pub every: String,

    /// Address and port where `/metrics` tells how the matches went, and `/livez` and `/readyz`
    /// answer, over HTTP; left out, only what is printed tells
    #[arg(long, env = "PARLOR_ADMIN_LISTEN", value_name = "ADDR")]
    pub admin_listen: Option<String>,
}

/// How to serve.
#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// Address and port to listen on; port 0 takes any that is free
    #[arg(long, env = "PARLOR_LISTEN", value_name = "ADDR", default_value = "127.0.0.1:50051")]
    pub listen: String,

    /// Where matches are kept: `memory`, or the address of a Redis
    ///
    /// In memory they serve one instance and end with it. In Redis any number of instances share
    /// them; they then need the same token keys. An address is one of
    /// `redis://[user:password@]host[:port][/db]`;
    /// `redis+sentinel://[user:password@]host[:port],…/primary[/db]`, where the hosts are sentinels
    /// and `?sentinel_username=…&sentinel_password=…` is for them; or
    /// `redis+cluster://[user:password@]host[:port],…`, some nodes of a cluster. With `rediss` in
    /// place of `redis` all connections are encrypted. `@FILE` reads it from a file.
    #[arg(
        long,
        env = "PARLOR_STORE",
        value_name = "STORE",
        default_value = "memory",
        hide_env_values = true
    )]
    pub store: String,

    /// What in Redis is to survive: `everysec`, `always` or `replicated`
    ///
    /// `everysec` takes that a crash of Redis or a power loss costs up to two seconds, `always` that
    /// nothing but the loss of the primary costs anything; both are the servers' doing. With
    /// `replicated` nothing is acknowledged before a replica has it. What the servers really do is
    /// looked up at the start and again now and then, with a warning where it is less. `always` if it
    /// is left out.
    #[arg(long, env = "PARLOR_DURABILITY", value_name = "PROFILE")]
    pub durability: Option<String>,

    /// The certificates, in PEM, that those of an encrypted Redis are verified with; left out, those
    /// that the system trusts
    #[arg(long, env = "PARLOR_REDIS_CA", value_name = "FILE")]
    pub redis_ca: Option<PathBuf>,

    /// The certificate, in PEM, to show to an encrypted Redis that asks for one
    #[arg(long, env = "PARLOR_REDIS_CERT", value_name = "FILE")]
    pub redis_cert: Option<PathBuf>,

    /// The key, in PEM, of that certificate
    #[arg(long, env = "PARLOR_REDIS_KEY", value_name = "FILE")]
    pub redis_key: Option<PathBuf>,

    /// Keys that seat tokens are signed with, as `id:hex,…`; the first one signs, all verify
    ///
    /// Each has at least 32 bytes, as from `openssl rand -hex 32`. Without them a key is made up at
    /// the start, so that tokens end with the process; with Redis they are required. `@FILE` reads
    /// them from a file.
    #[arg(long, env = "PARLOR_TOKEN_KEYS", value_name = "KEYS", hide_env_values = true)]
    pub token_keys: Option<String>,

    /// For how long a token is good
    #[arg(long, env = "PARLOR_TOKEN_LIFE", value_name = "TIME", default_value = "24h")]
    pub token_life: String,

    /// API keys that matches can be created with, as `name:key,…`; without any, everyone can
    ///
    /// `@FILE` reads them from a file.
    #[arg(long, env = "PARLOR_API_KEYS", value_name = "KEYS", hide_env_values = true)]
    pub api_keys: Option<String>,

    /// Origins whose pages may call: `localhost` (any port), `*`, or a list as in
    /// `https://a.example,https://b.example`; empty for none
    #[arg(long, env = "PARLOR_CORS_ORIGINS", value_name = "ORIGINS", default_value = "localhost")]
    pub cors_origins: String,

    /// For how long a match is kept after its last change
    #[arg(long, env = "PARLOR_KEEP_IDLE", value_name = "TIME", default_value = "24h")]
    pub keep_idle: String,

    /// For how long a match is kept after it is over
    #[arg(long, env = "PARLOR_KEEP_OVER", value_name = "TIME", default_value = "6h")]
    pub keep_over: String,

    /// How often a stream of a quiet match gets a sign of life
    #[arg(long, env = "PARLOR_HEARTBEAT", value_name = "TIME", default_value = "15s")]
    pub heartbeat: String,

    /// How long a call may take that names no deadline
    #[arg(long, env = "PARLOR_DEADLINE", value_name = "TIME", default_value = "2s")]
    pub deadline: String,

    /// How long a call may take at most, whatever it names; streams may take longer
    #[arg(long, env = "PARLOR_MAX_DEADLINE", value_name = "TIME", default_value = "10s")]
    pub max_deadline: String,

    /// The largest request, in bytes
    #[arg(long, env = "PARLOR_MAX_REQUEST", value_name = "BYTES", default_value = "65536")]
    pub max_request: String,

    /// How many matches are cached at most
    #[arg(long, env = "PARLOR_CACHED_MATCHES", value_name = "COUNT", default_value = "10000")]
    pub cached_matches: String,

    /// How long to wait for calls under way when told to stop
    #[arg(long, env = "PARLOR_DRAIN", value_name = "TIME", default_value = "25s")]
    pub drain: String,

    /// The certificate for TLS, in PEM, with those that lead to its authority; without it, callers
    /// speak in plain text
    ///
    /// The files are looked at again every `--tls-reload`; new connections then see what is new.
    #[arg(long, env = "PARLOR_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<String>,

    /// The certificate's private key, in PEM
    #[arg(long, env = "PARLOR_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<String>,

    /// Authorities, in PEM, of which callers need a certificate; without it, they need none
    #[arg(long, env = "PARLOR_TLS_CLIENT_CA", value_name = "FILE")]
    pub tls_client_ca: Option<String>,

    /// How often certificates are looked at for something new
    #[arg(long, env = "PARLOR_TLS_RELOAD", value_name = "TIME", default_value = "10s")]
    pub tls_reload: String,

    /// What connections and callers are allowed
    #[command(flatten)]
    pub limits: LimitArgs,

    /// How threads are used: `shared`, one scheduler for all cores, or `per-core`, one for each
    #[arg(long, env = "PARLOR_RUNTIME", value_name = "SHAPE", default_value = "shared")]
    pub runtime: String,

    /// Address and port for operators: `/metrics` for Prometheus, `/info`, `/livez` and `/readyz`, over
    /// HTTP; left out, there is none
    ///
    /// Whoever reaches it may read it: keep it off public networks.
    #[arg(long, env = "PARLOR_ADMIN_LISTEN", value_name = "ADDR")]
    pub admin_listen: Option<String>,

    /// The collector that traces and metrics are sent to, by OTLP over gRPC, as in `http://127.0.0.1:4317`; left
    /// out, there are none
    #[arg(long, env = "PARLOR_OTLP_ENDPOINT", value_name = "URL")]
    pub otlp_endpoint: Option<String>,

    /// Which share of the traces that begin here is recorded, from 0 to 1; a call whose caller
    /// records its trace always is
    #[arg(long, env = "PARLOR_TRACE_SAMPLING", value_name = "SHARE", default_value = "0.05")]
    pub trace_sampling: String,

    /// How logs are written: `text` or `json`
    #[arg(long, env = "PARLOR_LOG_FORMAT", value_name = "FORMAT", default_value = "text")]
    pub log_format: String,

    /// What is logged, as in `info` or `warn,parlor=debug`
    #[arg(long, env = "PARLOR_LOG", value_name = "FILTER", default_value = "info")]
    pub log: String,
}

/// What connections and callers are allowed.
#[derive(Args, Clone, Debug)]
pub struct LimitArgs {
    /// How many connections may be open at once; one more is closed as soon as it is accepted
    #[arg(long, env = "PARLOR_CONNECTIONS", value_name = "COUNT", default_value = "2000")]
    pub connections: String,

    /// How long a connection may take until it is clear what it speaks, TLS included
    #[arg(long, env = "PARLOR_PREFACE", value_name = "TIME", default_value = "5s")]
    pub preface: String,

    /// How long a connection may take until its first request
    #[arg(long, env = "PARLOR_FIRST_REQUEST", value_name = "TIME", default_value = "10s")]
    pub first_request: String,

    /// How long a connection may read nothing of what is written to it
    #[arg(long, env = "PARLOR_WRITE_STALL", value_name = "TIME", default_value = "20s")]
    pub write_stall: String,

    /// After how long a connection is asked to come back anew, give or take a tenth, so that new
    /// instances get their share; calls under way go on
    #[arg(long, env = "PARLOR_CONNECTION_AGE", value_name = "TIME", default_value = "10m")]
    pub connection_age: String,

    /// After how long a stream is ended with `STREAM_MAX_AGE`, to be resumed, give or take a fifth
    #[arg(long, env = "PARLOR_STREAM_AGE", value_name = "TIME", default_value = "10m")]
    pub stream_age: String,

    /// How many streams a seat may have, or `off`; the oldest is ended for the newest
    #[arg(long, env = "PARLOR_SEAT_STREAMS", value_name = "COUNT", default_value = "2")]
    pub seat_streams: String,

    /// How many spectators a match may have at this instance, or `off`
    #[arg(long, env = "PARLOR_SPECTATORS", value_name = "COUNT", default_value = "64")]
    pub spectators: String,

    /// How many streams this instance may have, or `off`
    #[arg(long, env = "PARLOR_STREAMS", value_name = "COUNT", default_value = "10000")]
    pub streams: String,

    /// Whether callers are held to the rates below: `on`, or `off` where something in front does it
    #[arg(long, env = "PARLOR_RATE_LIMITS", value_name = "SWITCH", default_value = "on")]
    pub rate_limits: String,

    /// How often a seat may act, as in `10/s:20`, with so many at once; each rate can be `off`
    #[arg(long, env = "PARLOR_SEAT_RATE", value_name = "RATE", default_value = "10/s:20")]
    pub seat_rate: String,

    /// How often all seats of a match may act together
    #[arg(long, env = "PARLOR_MATCH_RATE", value_name = "RATE", default_value = "50/s")]
    pub match_rate: String,

    /// How often an API key may create matches, or an address where no key is asked for
    #[arg(long, env = "PARLOR_CREATE_RATE", value_name = "RATE", default_value = "5/s:20")]
    pub create_rate: String,

    /// How often all may create matches together
    #[arg(long, env = "PARLOR_CREATE_RATE_ALL", value_name = "RATE", default_value = "100/s")]
    pub create_rate_all: String,

    /// How often a seat may open streams
    #[arg(long, env = "PARLOR_STREAM_RATE", value_name = "RATE", default_value = "1/s:5")]
    pub stream_rate: String,

    /// How often an address may show tokens or API keys that are not valid; good ones go on working
    #[arg(long, env = "PARLOR_GUESS_RATE", value_name = "RATE", default_value = "10/min")]
    pub guess_rate: String,

    /// How many calls are worked on at once, or `off`; one more is refused with `OVERLOADED`
    #[arg(long, env = "PARLOR_IN_FLIGHT", value_name = "COUNT", default_value = "256")]
    pub in_flight: String,

    /// Over how long viewers spread their return when this instance stops
    #[arg(long, env = "PARLOR_RECONNECT_SPREAD", value_name = "TIME", default_value = "5s")]
    pub reconnect_spread: String,
}

/// What to simulate.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = simulate_help())]
pub struct SimulateArgs {
    /// The game
    pub game: String,

    /// How many seats the table has; without it, the fewest that the game takes
    #[arg(long, value_name = "COUNT")]
    pub seats: Option<String>,

    /// An option of the game, as JSON; can be given for several options
    ///
    /// What does not read as JSON is taken as text, so that text needs no quotes. Options that are
    /// left out have their defaults.
    #[arg(short, long = "option", value_name = "NAME=VALUE")]
    pub options: Vec<String>,

    /// How many matches are played
    #[arg(long, value_name = "COUNT", default_value = "100000")]
    pub matches: String,

    /// What the matches are made from: another seed gives other matches
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    pub seed: String,

    /// How many threads play; without it, one for each core
    #[arg(long, value_name = "COUNT")]
    pub threads: Option<String>,

    /// Print the summary as a JSON object
    #[arg(long)]
    pub json: bool,
}

/// The games with their options, examples, and the fields of the JSON.
fn simulate_help() -> String {
    let games = catalogs().map(|catalog| {
        let (fewest, most) = (catalog.seats.start(), catalog.seats.end());
        let options = catalog.options.iter().map(|CatalogOption { name, text, kind }| {
            format!("\n    {name}: {text} Takes {kind}.")
        });
        format!("  {}: {fewest} to {most} seats{}", catalog.id, options.collect::<String>())
    });
    format!("Games and their options:\n{}\n{SIMULATE_HELP}", games.join("\n"))
}

const SIMULATE_HELP: &str = "
Examples:
  parlor simulate neon
  parlor simulate neon --seats 4 -o first_player=0 --matches 1000000
  parlor simulate neon --seats 6 --seed 7 --json

Fields of the JSON:
  game, seats, options, matches, seed   what was simulated
  actions                               how many actions all matches took together
  length                                actions of a match: min, mean, max, p5, p25, p50, p75, p95,
                                        p99 (p95: 95 % of the matches took no more)
  outcomes                              how many matches ended for each reason
  unwon                                 how many matches nobody won
  by_seat                               for each seat: seat, won (alone), shared (won with others),
                                        score: min, mean, max
  speed                                 threads, secs, matches_per_sec, actions_per_sec; all other
                                        fields depend on the settings alone
";
