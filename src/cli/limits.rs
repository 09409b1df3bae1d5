//! The command line of the server's limits.

use clap::Args;

/// What connections and callers are allowed.
#[derive(Args, Clone, Debug)]
pub struct LimitArgs {
    /// What connections are allowed
    #[command(flatten)]
    pub connections: ConnectionArgs,

    /// What they may do over HTTP/2
    #[command(flatten)]
    pub http2: Http2Args,

    /// What calls may take
    #[command(flatten)]
    pub calls: CallArgs,

    /// What streams are allowed
    #[command(flatten)]
    pub streams: StreamArgs,

    /// How often callers may do what
    #[command(flatten)]
    pub rates: RateArgs,

    /// How much memory the process may take, as in `384MiB`, or `off`; while it takes more, it turns
    /// away new connections, streams and matches, and goes on with those that it has
    ///
    /// What it has may yet grow: leave room to what the container may take at most.
    #[arg(
        long,
        env = "PARLOR_MEMORY",
        value_name = "SIZE",
        default_value = "off",
        help_heading = "Memory"
    )]
    pub memory: String,
}

/// What connections are allowed.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Connections")]
pub struct ConnectionArgs {
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

    /// How long a connection may be silent until TCP asks whether it is still there
    #[arg(long, env = "PARLOR_TCP_KEEPALIVE", value_name = "TIME", default_value = "60s")]
    pub tcp_keepalive: String,
}

/// What connections may do over HTTP/2.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "HTTP/2")]
pub struct Http2Args {
    /// How many calls and streams a connection may have open at once
    #[arg(long, env = "PARLOR_CONNECTION_STREAMS", value_name = "COUNT", default_value = "100")]
    pub connection_streams: String,

    /// How much a call may send ahead
    #[arg(long, env = "PARLOR_STREAM_WINDOW", value_name = "BYTES", default_value = "65536")]
    pub stream_window: String,

    /// How much all calls of a connection may send ahead together
    #[arg(long, env = "PARLOR_CONNECTION_WINDOW", value_name = "BYTES", default_value = "262144")]
    pub connection_window: String,

    /// The most that the headers of a request may take
    #[arg(long, env = "PARLOR_MAX_HEADERS", value_name = "BYTES", default_value = "8192")]
    pub max_headers: String,

    /// The most that a frame may hold
    #[arg(long, env = "PARLOR_MAX_FRAME", value_name = "BYTES", default_value = "16384")]
    pub max_frame: String,

    /// How much of an answer is kept for who does not read it
    #[arg(long, env = "PARLOR_SEND_BUFFER", value_name = "BYTES", default_value = "65536")]
    pub send_buffer: String,

    /// How many calls a connection may take back before they were looked at; more end it
    #[arg(long, env = "PARLOR_PENDING_RESETS", value_name = "COUNT", default_value = "20")]
    pub pending_resets: String,

    /// How many calls of a connection may be ended for what is wrong with them; more end it
    #[arg(long, env = "PARLOR_ERROR_RESETS", value_name = "COUNT", default_value = "256")]
    pub error_resets: String,

    /// How long a connection may be silent until it is asked whether it is still there
    #[arg(long, env = "PARLOR_KEEPALIVE", value_name = "TIME", default_value = "30s")]
    pub keepalive: String,

    /// How long it may take to answer that
    #[arg(long, env = "PARLOR_KEEPALIVE_TIMEOUT", value_name = "TIME", default_value = "10s")]
    pub keepalive_timeout: String,
}

/// What calls may take.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Calls")]
pub struct CallArgs {
    /// How many calls are worked on at once, or `off`; one more is refused with `OVERLOADED`
    #[arg(long, env = "PARLOR_IN_FLIGHT", value_name = "COUNT", default_value = "256")]
    pub in_flight: String,

    /// How long a call may take that names no deadline
    #[arg(long, env = "PARLOR_DEADLINE", value_name = "TIME", default_value = "2s")]
    pub deadline: String,

    /// How long a call may take at most, whatever it names; streams may take longer
    #[arg(long, env = "PARLOR_MAX_DEADLINE", value_name = "TIME", default_value = "10s")]
    pub max_deadline: String,

    /// The largest request, but for `CreateMatch`
    #[arg(long, env = "PARLOR_MAX_REQUEST", value_name = "BYTES", default_value = "16384")]
    pub max_request: String,

    /// The largest request of `CreateMatch`
    #[arg(long, env = "PARLOR_MAX_CREATION", value_name = "BYTES", default_value = "65536")]
    pub max_creation: String,

    /// The largest answer, and the largest message of a stream
    #[arg(long, env = "PARLOR_MAX_ANSWER", value_name = "BYTES", default_value = "262144")]
    pub max_answer: String,
}

/// What streams are allowed.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Streams")]
pub struct StreamArgs {
    /// How many streams a seat may have, or `off`; the oldest is ended for the newest
    #[arg(long, env = "PARLOR_SEAT_STREAMS", value_name = "COUNT", default_value = "2")]
    pub seat_streams: String,

    /// How many spectators a match may have at this instance, or `off`
    #[arg(long, env = "PARLOR_SPECTATORS", value_name = "COUNT", default_value = "64")]
    pub spectators: String,

    /// How many streams this instance may have, or `off`
    #[arg(long, env = "PARLOR_STREAMS", value_name = "COUNT", default_value = "10000")]
    pub streams: String,

    /// How often a stream of a quiet match gets a sign of life
    #[arg(long, env = "PARLOR_HEARTBEAT", value_name = "TIME", default_value = "15s")]
    pub heartbeat: String,

    /// How long a stream may read nothing of what there is for it; then it is reset, to be resumed
    #[arg(long, env = "PARLOR_STREAM_STALL", value_name = "TIME", default_value = "10s")]
    pub stream_stall: String,

    /// After how long a stream is ended with `STREAM_MAX_AGE`, to be resumed, give or take a fifth
    #[arg(long, env = "PARLOR_STREAM_AGE", value_name = "TIME", default_value = "10m")]
    pub stream_age: String,

    /// Over how long viewers spread their return when this instance stops
    #[arg(long, env = "PARLOR_RECONNECT_SPREAD", value_name = "TIME", default_value = "5s")]
    pub reconnect_spread: String,
}

/// How often callers may do what.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Rates")]
pub struct RateArgs {
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

    /// How often the spectators of a match may open streams from one address
    #[arg(long, env = "PARLOR_SPECTATOR_RATE", value_name = "RATE", default_value = "10/s:64")]
    pub spectator_rate: String,

    /// How often an address may show tokens or API keys that are not valid; good ones go on working
    #[arg(long, env = "PARLOR_GUESS_RATE", value_name = "RATE", default_value = "10/min")]
    pub guess_rate: String,
}
