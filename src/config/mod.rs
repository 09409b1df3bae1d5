//! Settings: what the command line says, judged. All that is wrong is told at once.

mod limits;

use std::fmt;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use http::{HeaderValue, Uri};

pub use self::limits::{Limit, Limits};
use crate::cli::{OperatorArgs, ServeArgs, StoreArgs, TlsArgs};
use crate::connections::TlsFiles;
use crate::grpc::tokens::TokenKeys;
use crate::grpc::{ApiKeys, Rate};
use crate::store::{Durability, RedisAddress, RedisConfig, RedisTls};

/// The exit code for settings that cannot be: `EX_CONFIG` of sysexits.h.
pub const EXIT_CONFIG: u8 = 78;

/// How to serve.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Where matches are kept.
    pub store: StoreChoice,
    /// What tokens are signed with; without it, a key of this process alone.
    pub token_keys: Option<TokenKeys>,
    /// For how long a token is good.
    pub token_life: Duration,
    /// Who may create matches.
    pub api_keys: ApiKeys,
    /// Whose pages may call.
    pub cors_origins: Origins,
    /// How matches are kept and followed.
    pub matches: crate::matches::Settings,
    /// Where certificates are; nothing for no TLS.
    pub tls: Option<TlsFiles>,
    /// What connections and callers are allowed.
    pub limits: Limits,
    /// How long to go on as before when told to stop.
    pub drain_delay: Duration,
    /// How long stopping may take altogether.
    pub drain: Duration,
    /// How threads are used.
    pub runtime: RuntimeShape,
    /// Where to listen for operators; without it, nowhere.
    pub admin_listen: Option<SocketAddr>,
    /// The collector that traces and metrics are sent to; without it, there are none.
    pub collector: Option<Collector>,
    /// Which share of traces is recorded, from 0 to 1, where that is not the caller's decision.
    pub trace_sampling: f64,
    /// Who decides whether a trace is recorded that a caller names.
    pub trace_decision: TraceDecision,
    /// How logs are written.
    pub log_format: LogFormat,
    /// What is logged.
    pub log: String,
}

/// What traces and metrics are sent to.
#[derive(Clone, Debug)]
pub struct Collector {
    /// Its address; with https, what is sent is encrypted.
    pub endpoint: Uri,
    /// The authority of its certificate, in PEM; without it, those that the system trusts.
    pub authority: Option<Vec<u8>>,
}

/// Who decides whether a trace is recorded that a caller names.
#[derive(Clone, Debug)]
pub enum TraceDecision {
    /// The caller.
    Caller,
    /// Those who have these keys, all alike.
    Own(TokenKeys),
}

impl TraceDecision {
    /// What is looked at in place of the trace's id, if the decision is ours: who chooses the id
    /// cannot choose that.
    pub fn stand_in(&self, id: [u8; 16]) -> Option<[u8; 16]> {
        match self {
            Self::Caller => None,
            Self::Own(keys) => Some(keys.seal(&[b"trace".as_slice(), &id].concat())),
        }
    }
}

/// Where matches are kept.
#[derive(Clone, Debug)]
pub enum StoreChoice {
    /// In this process.
    Memory,
    /// In Redis, reached like this.
    Redis(RedisConfig),
}

/// Whose pages may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origins {
    /// Everyone's.
    Any,
    /// Those of this machine, whatever their port.
    Localhost,
    /// These.
    Only(Vec<HeaderValue>),
}

/// How threads are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuntimeShape {
    /// One scheduler for all cores.
    Shared,
    /// One for each core, each with a listener of its own on the same port.
    PerCore,
}

/// How logs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// A JSON object a line.
    Json,
}

/// Everything that is wrong with the settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct Mistakes(pub Vec<String>);

/// The longest time that a setting may name: longer ones are mistakes, and cannot be reckoned with.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// What a setting says, or the file `FILE` where it says `@FILE`.
///
/// # Errors
/// The file's.
pub fn text_or_file(text: &str) -> Result<String, String> {
    let Some(path) = text.strip_prefix('@') else { return Ok(text.to_owned()) };
    let read = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(read.trim_end().to_owned())
}

/// Reads settings and notes what is wrong with them.
#[derive(Default)]
struct Reader {
    mistakes: Vec<String>,
}

impl Reader {
    fn note<T, E: fmt::Display>(&mut self, flag: &str, value: Result<T, E>) -> Option<T> {
        value.map_err(|error| self.mistakes.push(format!("--{flag}: {error}"))).ok()
    }

    /// What may be secret can stand in a file, so that neither the command line nor the environment
    /// shows it.
    fn text(&mut self, flag: &str, text: &str) -> Option<String> {
        self.note(flag, text_or_file(text))
    }

    fn secret<T: FromStr<Err: fmt::Display>>(&mut self, flag: &str, text: &str) -> Option<T> {
        let text = self.text(flag, text)?;
        self.note(flag, text.parse())
    }

    fn time(&mut self, flag: &str, text: &str) -> Option<Duration> {
        let time = self.pause(flag, text)?;
        self.note(flag, if time.is_zero() { Err("longer than nothing") } else { Ok(time) })
    }

    /// A time between these two.
    fn time_within(
        &mut self,
        flag: &str,
        text: &str,
        range: &RangeInclusive<Duration>,
    ) -> Option<Duration> {
        let time = self.time(flag, text)?;
        let [least, most] =
            [range.start(), range.end()].map(|end| humantime::format_duration(*end));
        let error = format!("from {least} to {most}");
        self.note(flag, if range.contains(&time) { Ok(time) } else { Err(error) })
    }

    /// A time that may be none.
    fn pause(&mut self, flag: &str, text: &str) -> Option<Duration> {
        let time = humantime::parse_duration(text).map_err(|error| error.to_string());
        let time = time.and_then(|time| match time {
            time if time > LONGEST => Err("at most ten years".to_owned()),
            time => Ok(time),
        });
        self.note(flag, time)
    }

    fn count(&mut self, flag: &str, text: &str, range: RangeInclusive<u32>) -> Option<u32> {
        let count = text.parse().ok().filter(|count| range.contains(count));
        let (least, most) = range.into_inner();
        self.note(flag, count.ok_or_else(|| format!("a number from {least} to {most}")))
    }

    /// A limit that can be switched off.
    #[expect(clippy::option_option, reason = "what was read, if it can be: perhaps no limit")]
    fn most(&mut self, flag: &str, text: &str) -> Option<Option<usize>> {
        let most = match text {
            "off" => Some(None),
            text => text.parse::<usize>().ok().filter(|&most| most > 0).map(Some),
        };
        self.note(flag, most.ok_or("a number, at least 1, or `off`"))
    }

    /// A rate that can be switched off.
    #[expect(clippy::option_option, reason = "what was read, if it can be: perhaps no limit")]
    fn rate(&mut self, flag: &str, text: &str) -> Option<Option<Rate>> {
        let rate = if text == "off" { Ok(None) } else { text.parse().map(Some) };
        self.note(flag, rate.map_err(|error| format!("{error}; or `off`")))
    }

    fn share(&mut self, flag: &str, text: &str) -> Option<f64> {
        let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
        self.note(flag, share.ok_or("a number from 0 to 1"))
    }

    fn file(&mut self, flag: &str, path: Option<&Path>) -> Option<Vec<u8>> {
        let path = path?;
        let read = std::fs::read(path);
        self.note(flag, read.map_err(|error| format!("{}: {error}", path.display())))
    }

    /// Where matches are kept, from all flags that say something of it.
    fn store(&mut self, store: &str, args: &StoreArgs) -> Option<StoreChoice> {
        let durability = args.durability.as_deref().map(str::parse::<Durability>).transpose();
        let durability = self.note("durability", durability);
        let authorities = self.file("redis-ca", args.redis_ca.as_deref());
        let certificate = self.file("redis-cert", args.redis_cert.as_deref());
        let key = self.file("redis-key", args.redis_key.as_deref());

        let address = match store {
            "memory" => None,
            url if url.starts_with("redis") => {
                Some(self.note("store", url.parse::<RedisAddress>())?)
            }
            _ => {
                let forms = "`memory`, or an address that begins with redis:// or one of its kin";
                self.mistakes.push(format!("--store: {forms}"));
                return None;
            }
        };
        let encrypted = address.as_ref().is_some_and(RedisAddress::is_encrypted);
        let unused = [
            ("durability", args.durability.is_some() && address.is_none(), "Redis"),
            ("redis-ca", args.redis_ca.is_some() && !encrypted, "an encrypted Redis"),
            ("redis-cert", args.redis_cert.is_some() && !encrypted, "an encrypted Redis"),
            ("redis-key", args.redis_key.is_some() && !encrypted, "an encrypted Redis"),
        ];
        for (flag, _, of) in unused.into_iter().filter(|(_, unused, _)| *unused) {
            self.mistakes.push(format!("--{flag}: only for {of}"));
        }
        if args.redis_cert.is_some() != args.redis_key.is_some() {
            self.mistakes.push("--redis-cert: only together with --redis-key".to_owned());
        }
        let Some(address) = address else { return Some(StoreChoice::Memory) };
        let tls = if address.is_encrypted() {
            let identity = certificate.as_deref().zip(key.as_deref());
            Some(self.note("redis-ca", RedisTls::new(authorities.as_deref(), identity))?)
        } else {
            None
        };
        let durability = durability?.unwrap_or_default();
        Some(StoreChoice::Redis(RedisConfig { tls, durability, ..RedisConfig::new(store) }))
    }

    #[expect(clippy::option_option, reason = "what was read, if it can be: perhaps no TLS")]
    fn tls(&mut self, args: &TlsArgs) -> Option<Option<TlsFiles>> {
        let reload = self.time("tls-reload", &args.tls_reload);
        match (&args.tls_cert, &args.tls_key) {
            (Some(certificate), Some(key)) => Some(Some(TlsFiles {
                certificate: certificate.into(),
                key: key.into(),
                client_authorities: args.tls_client_ca.as_ref().map(Into::into),
                reload: reload?,
            })),
            (None, None) if args.tls_client_ca.is_none() => reload.map(|_| None),
            (certificate, _) => {
                let (missing, other) = match certificate {
                    Some(_) => ("tls-key", "tls-cert"),
                    None => ("tls-cert", "tls-key or --tls-client-ca"),
                };
                self.mistakes.push(format!("--{missing}: needed with --{other}"));
                None
            }
        }
    }

    #[expect(clippy::option_option, reason = "what was read, if it can be: perhaps none")]
    fn collector(&mut self, args: &OperatorArgs) -> Option<Option<Collector>> {
        let endpoint = args.otlp_endpoint.as_deref().map(collector).transpose();
        let endpoint = self.note("otlp-endpoint", endpoint);
        let authority = self.file("otlp-ca", args.otlp_ca.as_deref());
        let is_encrypted = |uri: &Uri| uri.scheme_str() == Some("https");
        if args.otlp_ca.is_some() && !endpoint.iter().flatten().any(is_encrypted) {
            self.mistakes.push("--otlp-ca: only for an --otlp-endpoint with https".to_owned());
        }
        Some(endpoint?.map(|endpoint| Collector { endpoint, authority }))
    }

    fn choice<T: Copy>(&mut self, flag: &str, text: &str, choices: &[(&str, T)]) -> Option<T> {
        let found = choices.iter().find(|(name, _)| *name == text).map(|&(_, choice)| choice);
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        self.note(flag, found.ok_or_else(|| format!("one of {}", names.join(", "))))
    }
}

impl TryFrom<&ServeArgs> for Settings {
    type Error = Mistakes;

    fn try_from(args: &ServeArgs) -> Result<Self, Mistakes> {
        let mut read = Reader::default();
        let listen = read.note("listen", args.listen.parse::<SocketAddr>());
        let shapes = [("shared", RuntimeShape::Shared), ("per-core", RuntimeShape::PerCore)];
        let runtime = read.choice("runtime", &args.runtime, &shapes);
        let drain_delay = read.pause("drain-delay", &args.drain_delay);
        let drain = read.time("drain", &args.drain);
        let address = read.text("store", &args.store.store);
        let store = address.as_deref().and_then(|address| read.store(address, &args.store));
        let keep_idle = read.time("keep-idle", &args.store.keep_idle);
        let keep_over = read.time("keep-over", &args.store.keep_over);
        let cached_matches = read.count("cached-matches", &args.store.cached_matches, 1..=u32::MAX);
        let callers = &args.callers;
        let token_keys = callers.token_keys.as_deref();
        let token_keys = token_keys.map(|keys| read.secret::<TokenKeys>("token-keys", keys));
        let token_life = read.time("token-life", &callers.token_life);
        let api_keys = callers.api_keys.as_deref();
        let api_keys = api_keys.map(|keys| read.secret::<ApiKeys>("api-keys", keys));
        let cors_origins = read.note("cors-origins", callers.cors_origins.parse::<Origins>());
        let tls = read.tls(&args.tls);
        let heartbeat = read.time("heartbeat", &args.limits.streams.heartbeat);
        let stream_age = read.time("stream-age", &args.limits.streams.stream_age);
        let limits = read.limits(&args.limits, stream_age);
        let operator = &args.operator;
        let admin_listen = operator.admin_listen.as_deref().map(str::parse::<SocketAddr>);
        let admin_listen = read.note("admin-listen", admin_listen.transpose());
        let collector = read.collector(operator);
        let trace_sampling = read.share("trace-sampling", &operator.trace_sampling);
        let decisions = [("caller", false), ("own", true)];
        let is_own = read.choice("trace-decision", &operator.trace_decision, &decisions);
        let formats = [("text", LogFormat::Text), ("json", LogFormat::Json)];
        let log_format = read.choice("log-format", &operator.log_format, &formats);
        read.note("log", operator.log.parse::<tracing_subscriber::filter::Targets>());

        if address.is_some_and(|address| address.starts_with("redis")) && token_keys.is_none() {
            read.mistakes.push(
                "--token-keys: needed with Redis, so that all instances accept each other's tokens"
                    .to_owned(),
            );
        }
        if drain_delay >= drain && drain.is_some() {
            read.mistakes.push("--drain-delay: less than --drain".to_owned());
        }

        let settings = (|| {
            let token_keys = token_keys.map_or(Some(None), |keys| keys.map(Some))?;
            let trace_decision = if is_own? {
                TraceDecision::Own(token_keys.clone().unwrap_or_else(TokenKeys::random))
            } else {
                TraceDecision::Caller
            };
            Some(Self {
                listen: listen?,
                store: store?,
                token_keys,
                token_life: token_life?,
                api_keys: api_keys.unwrap_or_else(|| Some(ApiKeys::default()))?,
                cors_origins: cors_origins?,
                matches: crate::matches::Settings {
                    keep_idle: keep_idle?,
                    keep_over: keep_over?,
                    cached_matches: cached_matches? as usize,
                    heartbeat: heartbeat?,
                    stream_age: stream_age?,
                },
                tls: tls?,
                limits: limits?,
                drain_delay: drain_delay?,
                drain: drain?,
                runtime: runtime?,
                admin_listen: admin_listen?,
                collector: collector?,
                trace_sampling: trace_sampling?,
                trace_decision,
                log_format: log_format?,
                log: operator.log.clone(),
            })
        })();
        match settings {
            Some(settings) if read.mistakes.is_empty() => Ok(settings),
            _ => Err(Mistakes(read.mistakes)),
        }
    }
}

/// The address of a collector.
fn collector(text: &str) -> Result<Uri, &'static str> {
    let uri = text.parse::<Uri>().ok();
    let known = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https"));
    let uri = uri.filter(|uri| known(uri) && uri.host().is_some());
    uri.ok_or("a URL that begins with http:// or https://, as in http://127.0.0.1:4317")
}

impl FromStr for Origins {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim() {
            "*" => return Ok(Self::Any),
            "localhost" => return Ok(Self::Localhost),
            "" => return Ok(Self::Only(Vec::new())),
            _ => {}
        }
        let origins = text.split(',').map(str::trim).map(|origin| {
            let is_origin = origin.starts_with("https://") || origin.starts_with("http://");
            let value = HeaderValue::from_str(origin).ok().filter(|_| is_origin);
            value.ok_or("`localhost`, `*`, or origins as in https://a.example, with commas between")
        });
        origins.collect::<Result<_, _>>().map(Self::Only)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;

    fn settings(flags: &[&str]) -> Result<Settings, Mistakes> {
        let words = ["parlor"].iter().chain(flags);
        Settings::try_from(&Cli::try_parse_from(words).expect("flags that exist").serve)
    }

    #[test]
    fn the_defaults_serve_from_memory_on_the_loopback_address() {
        let settings = settings(&[]).expect("good settings");
        assert_eq!(settings.listen.to_string(), "127.0.0.1:50051");
        assert!(matches!(settings.store, StoreChoice::Memory));
        assert!(settings.api_keys.is_open());
    }

    #[test]
    fn every_mistake_is_told_at_once() {
        let mistakes = settings(&[
            "--listen=here",
            "--store=redis://localhost",
            "--api-keys=short",
            "--cors-origins=example.com",
            "--token-life=soon",
            "--deadline=20s",
            "--max-request=1",
            "--connections=0",
            "--tls-client-ca=ca.pem",
            "--preface=20s",
            "--write-stall=9000000y",
            "--seat-streams=0",
            "--rate-limits=maybe",
            "--create-rate=5",
            "--in-flight=none",
            "--runtime=fast",
            "--admin-listen=9090",
            "--otlp-endpoint=collector",
            "--trace-sampling=5",
            "--trace-decision=theirs",
            "--log-format=xml",
            "--drain-delay=25s",
            "--otlp-ca=/dev/null",
        ])
        .expect_err("mistakes")
        .0;
        let flags: Vec<_> =
            mistakes.iter().filter_map(|mistake| mistake.split(':').next()).collect();
        assert_eq!(
            flags,
            [
                "--listen",
                "--runtime",
                "--token-life",
                "--api-keys",
                "--cors-origins",
                "--tls-cert",
                "--connections",
                "--write-stall",
                "--preface",
                "--in-flight",
                "--deadline",
                "--max-request",
                "--seat-streams",
                "--rate-limits",
                "--create-rate",
                "--admin-listen",
                "--otlp-endpoint",
                "--otlp-ca",
                "--trace-sampling",
                "--trace-decision",
                "--log-format",
                "--token-keys",
                "--drain-delay",
            ]
        );
    }

    #[test]
    fn a_redis_store_needs_token_keys() {
        let mistakes = settings(&["--store=redis://localhost"]).expect_err("a mistake").0;
        assert!(mistakes[0].starts_with("--token-keys"), "{mistakes:?}");
        let key = format!("--token-keys=a:{}", "ab".repeat(32));
        settings(&["--store=redis://localhost", &key]).expect("good settings");
    }

    #[test]
    fn secrets_are_read_from_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("a file");
            path.display().to_string()
        };
        let store = file("store", "redis://u:hunter2@localhost\n");
        let keys = file("token-keys", &format!("a:{}\n", "ab".repeat(32)));
        let api_keys = file("api-keys", "me:0123456789abcdef");
        let settings = settings(&[
            &format!("--store=@{store}"),
            &format!("--token-keys=@{keys}"),
            &format!("--api-keys=@{api_keys}"),
        ])
        .expect("good settings");
        assert!(matches!(settings.store, StoreChoice::Redis(_)));
        assert!(settings.token_keys.is_some());
        assert!(!settings.api_keys.is_open());
    }

    #[test]
    fn a_secret_whose_file_is_missing_or_wrong_is_a_mistake_that_does_not_show_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let wrong = folder.path().join("token-keys");
        std::fs::write(&wrong, "hunter2").expect("a file");
        let missing = folder.path().join("nothing");
        let mistakes = settings(&[
            &format!("--store=@{}", missing.display()),
            &format!("--token-keys=@{}", wrong.display()),
        ])
        .expect_err("mistakes")
        .0;
        assert!(mistakes[0].starts_with("--store: "), "{mistakes:?}");
        assert!(mistakes[1].starts_with("--token-keys: "), "{mistakes:?}");
        assert!(!mistakes.concat().contains("hunter2"), "{mistakes:?}");
        assert_eq!(mistakes.len(), 2, "{mistakes:?}");
    }

    #[test]
    fn what_is_said_of_redis_fits_together() {
        let key = format!("--token-keys=a:{}", "ab".repeat(32));
        let redis = "--store=redis://h";
        let encrypted = "--store=rediss://h";
        let cases: [(&[&str], &[&str]); 7] = [
            (&[redis, "--durability=replicated"], &[]),
            (&["--store=redis+cluster://a,b"], &[]),
            (&[redis, "--durability=often"], &["--durability"]),
            (&["--store=redis+sentinel://a"], &["--store"]),
            (&["--durability=always"], &["--durability"]),
            (&[redis, "--redis-ca=/dev/null"], &["--redis-ca"]),
            (
                &[encrypted, "--redis-ca=/nowhere", "--redis-cert=/dev/null"],
                &["--redis-ca", "--redis-cert"],
            ),
        ];
        for (flags, expected) in cases {
            let flags: Vec<_> = flags.iter().copied().chain([key.as_str()]).collect();
            let mistakes = settings(&flags).err().map(|mistakes| mistakes.0).unwrap_or_default();
            let wrong: Vec<_> = mistakes.iter().filter_map(|text| text.split(':').next()).collect();
            assert_eq!(wrong, expected, "{flags:?}: {mistakes:?}");
        }
    }

    #[test]
    fn neither_keys_nor_passwords_show_when_settings_are_printed() {
        let key = format!("--token-keys=a:{}", "ab".repeat(32));
        let flags = ["--store=redis://u:hunter2@localhost", &key, "--api-keys=me:0123456789abcdef"];
        let printed = format!("{:?}", settings(&flags).expect("good settings"));
        for secret in ["hunter2", "abab", "0123456789abcdef"] {
            assert!(!printed.contains(secret), "{printed}");
        }
    }
}
