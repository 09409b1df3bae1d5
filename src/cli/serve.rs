//! The command line of the server, but for [its limits](super::limits).

use std::path::PathBuf;

use clap::Args;

use super::LimitArgs;

/// How to serve.
#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// Address and port to listen on; port 0 takes any that is free
    #[arg(long, env = "PARLOR_LISTEN", value_name = "ADDR", default_value = "127.0.0.1:50051")]
    pub listen: String,

    /// How threads are used: `shared`, one scheduler for all cores, or `per-core`, one for each
    #[arg(long, env = "PARLOR_RUNTIME", value_name = "SHAPE", default_value = "shared")]
    pub runtime: String,

    /// How long to go on as before when told to stop, but not ready any more, until those who send
    /// calls here have noticed
    #[arg(long, env = "PARLOR_DRAIN_DELAY", value_name = "TIME", default_value = "0s")]
    pub drain_delay: String,

    /// How long stopping may take altogether: streams are told to leave, and calls under way end
    #[arg(long, env = "PARLOR_DRAIN", value_name = "TIME", default_value = "25s")]
    pub drain: String,

    /// Where matches are kept
    #[command(flatten)]
    pub store: StoreArgs,

    /// Who may call
    #[command(flatten)]
    pub callers: CallerArgs,

    /// How callers are met
    #[command(flatten)]
    pub tls: TlsArgs,

    /// What connections and callers are allowed
    #[command(flatten)]
    pub limits: LimitArgs,

    /// What the operator sees
    #[command(flatten)]
    pub operator: OperatorArgs,
}

/// Where matches are kept, and for how long.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Matches")]
pub struct StoreArgs {
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

    /// For how long a match is kept after its last change
    #[arg(long, env = "PARLOR_KEEP_IDLE", value_name = "TIME", default_value = "24h")]
    pub keep_idle: String,

    /// For how long a match is kept after it is over
    #[arg(long, env = "PARLOR_KEEP_OVER", value_name = "TIME", default_value = "6h")]
    pub keep_over: String,

    /// How many matches are cached at most
    #[arg(long, env = "PARLOR_CACHED_MATCHES", value_name = "COUNT", default_value = "10000")]
    pub cached_matches: String,
}

/// Who may call.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Callers")]
pub struct CallerArgs {
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
}

/// TLS.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "TLS")]
pub struct TlsArgs {
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
}

/// What the operator sees.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "For operators")]
pub struct OperatorArgs {
    /// Address and port for operators: `/metrics` for Prometheus, `/info`, `/livez` and `/readyz`, over
    /// HTTP; left out, there is none
    ///
    /// Whoever reaches it may read it: keep it off public networks.
    #[arg(long, env = "PARLOR_ADMIN_LISTEN", value_name = "ADDR")]
    pub admin_listen: Option<String>,

    /// The collector that traces and metrics are sent to, by OTLP over gRPC, as in
    /// `http://127.0.0.1:4317` or, encrypted, `https://collector:4317`; left out, there are none
    #[arg(long, env = "PARLOR_OTLP_ENDPOINT", value_name = "URL")]
    pub otlp_endpoint: Option<String>,

    /// The authority of the collector's certificate, in PEM; left out, those that the system trusts
    #[arg(long, env = "PARLOR_OTLP_CA", value_name = "FILE")]
    pub otlp_ca: Option<PathBuf>,

    /// Which share of traces is recorded, from 0 to 1, where that is not the caller's decision
    #[arg(long, env = "PARLOR_TRACE_SAMPLING", value_name = "SHARE", default_value = "0.05")]
    pub trace_sampling: String,

    /// Who decides whether a trace is recorded that a caller names: `caller`, who may be anyone and
    /// want it for all calls, or `own`, so that it is this share of them too
    ///
    /// Its id is in the answer and in log lines either way. All instances with the same token keys
    /// decide alike, and no caller knows how.
    #[arg(long, env = "PARLOR_TRACE_DECISION", value_name = "WHOSE", default_value = "caller")]
    pub trace_decision: String,

    /// How logs are written: `text` or `json`
    #[arg(long, env = "PARLOR_LOG_FORMAT", value_name = "FORMAT", default_value = "text")]
    pub log_format: String,

    /// What is logged, as in `info` or `warn,parlor=debug`
    #[arg(long, env = "PARLOR_LOG", value_name = "FILTER", default_value = "info")]
    pub log: String,
}
