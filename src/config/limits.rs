//! Settings of limits: what connections, calls and callers are allowed.

use std::time::Duration;

use bytesize::ByteSize;
use serde::{Serialize, Serializer};

use super::{Reader, Settings};
use crate::cli::{CallArgs, Http2Args, LimitArgs, RateArgs, StreamArgs};
use crate::connections::{self, Http2, TCP_KEEPALIVES, WRITE_STALLS};
use crate::grpc::layers::MessageSizes;
use crate::grpc::{Deadlines, Rate, RateLimits, StreamLimits};

/// What connections and callers are allowed.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections.
    pub connections: connections::Limits,
    /// How many calls are worked on at once; nothing for no limit.
    pub in_flight: Option<usize>,
    /// How long calls may take.
    pub deadlines: Deadlines,
    /// How large messages may be.
    pub sizes: MessageSizes,
    /// Streams.
    pub streams: StreamLimits,
    /// How often callers may do what.
    pub rates: RateLimits,
    /// How much memory the process may take, in bytes; nothing for as much as there is.
    pub memory: Option<usize>,
}

/// A limit as operators are shown it.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum Limit {
    /// So many, or so many bytes; nothing for as many as there are.
    Most(Option<usize>),
    /// So long.
    Time(#[serde(serialize_with = "written")] Duration),
    /// So often; nothing for as often as callers like.
    Rate(Option<Rate>),
}

fn written<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&humantime::format_duration(*time))
}

impl Limit {
    /// How many, how many seconds, or how many a second; nothing for no limit.
    pub fn value(self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "far below what a float holds exactly")]
        match self {
            Self::Most(most) => most.map(|most| most as f64),
            Self::Time(time) => Some(time.as_secs_f64()),
            Self::Rate(rate) => rate.map(Rate::per_second),
        }
    }
}

impl Settings {
    /// All limits in force, under their flags with `_` for `-`.
    pub fn limits_in_force(&self) -> Vec<(&'static str, Limit)> {
        use Limit::{Most, Rate, Time};
        let Self { matches, limits, .. } = self;
        let Limits { connections, in_flight, deadlines, sizes, streams, rates, memory } = limits;
        let http2 = connections.http2;
        let count = |count: u32| Most(Some(count as usize));
        vec![
            ("keep_idle", Time(matches.keep_idle)),
            ("keep_over", Time(matches.keep_over)),
            ("cached_matches", Most(Some(matches.cached_matches))),
            ("token_life", Time(self.token_life)),
            ("drain_delay", Time(self.drain_delay)),
            ("drain", Time(self.drain)),
            ("connections", Most(Some(connections.most))),
            ("preface", Time(connections.preface)),
            ("first_request", Time(connections.first_request)),
            ("write_stall", Time(connections.write_stall)),
            ("connection_age", Time(connections.age)),
            ("tcp_keepalive", Time(connections.tcp_keepalive)),
            ("connection_streams", count(http2.streams)),
            ("stream_window", count(http2.stream_window)),
            ("connection_window", count(http2.connection_window)),
            ("max_headers", count(http2.headers)),
            ("max_frame", count(http2.frame)),
            ("send_buffer", Most(Some(http2.send_buffer))),
            ("pending_resets", Most(Some(http2.pending_resets))),
            ("error_resets", Most(Some(http2.error_resets))),
            ("keepalive", Time(http2.keepalive)),
            ("keepalive_timeout", Time(http2.keepalive_timeout)),
            ("in_flight", Most(*in_flight)),
            ("deadline", Time(deadlines.default)),
            ("max_deadline", Time(deadlines.max)),
            ("max_request", Most(Some(sizes.request))),
            ("max_creation", Most(Some(sizes.creation))),
            ("max_answer", Most(Some(sizes.answer))),
            ("heartbeat", Time(matches.heartbeat)),
            ("stream_stall", Time(connections.stream_stall)),
            ("stream_age", Time(matches.stream_age)),
            ("seat_streams", Most(streams.of_seat)),
            ("spectators", Most(streams.of_spectators)),
            ("streams", Most(streams.of_instance)),
            ("reconnect_spread", Time(streams.spread)),
            ("seat_rate", Rate(rates.acts)),
            ("match_rate", Rate(rates.match_acts)),
            ("create_rate", Rate(rates.creations)),
            ("create_rate_all", Rate(rates.all_creations)),
            ("stream_rate", Rate(rates.opens)),
            ("spectator_rate", Rate(rates.spectators)),
            ("guess_rate", Rate(rates.guesses)),
            ("memory", Most(*memory)),
        ]
    }
}

/// For how long a connection that was told to go may stay, beside the age of its last stream.
const FAREWELL: Duration = Duration::from_secs(60);

/// The largest window that HTTP/2 has.
const LARGEST_WINDOW: u32 = i32::MAX as u32;

/// No message, header or buffer that is of use is smaller, in bytes.
const SMALLEST: u32 = 1024;

/// With less, what an instance takes that has little to do would be too much already.
const LEAST_MEMORY: ByteSize = ByteSize::mib(64);

/// The sizes of frames that HTTP/2 allows.
const FRAME_SIZES: std::ops::RangeInclusive<u32> = 16_384..=16_777_215;

impl Reader {
    /// All limits, from all flags that say something of them.
    pub(super) fn limits(
        &mut self,
        args: &LimitArgs,
        stream_age: Option<Duration>,
    ) -> Option<Limits> {
        let connections = self.connections(args, stream_age);
        let in_flight = self.most("in-flight", &args.calls.in_flight);
        let deadlines = self.deadlines(&args.calls);
        let sizes = self.sizes(&args.calls);
        let streams = self.streams(&args.streams);
        let rates = self.rates(&args.rates);
        let memory = self.memory(&args.memory);
        Some(Limits {
            connections: connections?,
            in_flight: in_flight?,
            deadlines: deadlines?,
            sizes: sizes?,
            streams: streams?,
            rates: rates?,
            memory: memory?,
        })
    }

    #[expect(clippy::option_option, reason = "what was read, if it can be: perhaps no limit")]
    fn memory(&mut self, text: &str) -> Option<Option<usize>> {
        let most = match text {
            "off" => Some(None),
            text => text.parse().ok().filter(|most: &ByteSize| *most >= LEAST_MEMORY).map(Some),
        };
        let most = most.ok_or_else(|| format!("a size, at least {LEAST_MEMORY}, or `off`"));
        Some(self.note("memory", most)?.map(|most| most.as_u64() as usize))
    }

    fn connections(
        &mut self,
        args: &LimitArgs,
        stream_age: Option<Duration>,
    ) -> Option<connections::Limits> {
        let http2 = self.http2(&args.http2);
        let stream_stall = self.time("stream-stall", &args.streams.stream_stall);
        let args = &args.connections;
        let most = self.count("connections", &args.connections, 1..=u32::MAX);
        let preface = self.time("preface", &args.preface);
        let first_request = self.time("first-request", &args.first_request);
        let write_stall = self.time_within("write-stall", &args.write_stall, &WRITE_STALLS);
        let age = self.time("connection-age", &args.connection_age);
        let tcp_keepalive = self.time_within("tcp-keepalive", &args.tcp_keepalive, &TCP_KEEPALIVES);
        if preface > first_request && first_request.is_some() {
            self.mistakes.push("--preface: not more than --first-request".to_owned());
        }
        // Both ages have their jitter: a tenth and a fifth.
        let hard_age = age?.mul_f64(1.1) + stream_age?.mul_f64(1.2) + FAREWELL;
        Some(connections::Limits {
            most: most? as usize,
            preface: preface?,
            first_request: first_request?,
            write_stall: write_stall?,
            age: age?,
            hard_age,
            tcp_keepalive: tcp_keepalive?,
            stream_stall: stream_stall?,
            http2: http2?,
        })
    }

    fn http2(&mut self, args: &Http2Args) -> Option<Http2> {
        let streams = self.count("connection-streams", &args.connection_streams, 1..=u32::MAX);
        let window = 1..=LARGEST_WINDOW;
        let stream_window = self.count("stream-window", &args.stream_window, window.clone());
        let connection_window = self.count("connection-window", &args.connection_window, window);
        let headers = self.count("max-headers", &args.max_headers, SMALLEST..=u32::MAX);
        let frame = self.count("max-frame", &args.max_frame, FRAME_SIZES);
        let send_buffer = self.count("send-buffer", &args.send_buffer, SMALLEST..=u32::MAX);
        let pending_resets = self.count("pending-resets", &args.pending_resets, 1..=u32::MAX);
        let error_resets = self.count("error-resets", &args.error_resets, 1..=u32::MAX);
        let keepalive = self.time("keepalive", &args.keepalive);
        let keepalive_timeout = self.time("keepalive-timeout", &args.keepalive_timeout);
        Some(Http2 {
            streams: streams?,
            stream_window: stream_window?,
            connection_window: connection_window?,
            headers: headers?,
            frame: frame?,
            send_buffer: send_buffer? as usize,
            pending_resets: pending_resets? as usize,
            error_resets: error_resets? as usize,
            keepalive: keepalive?,
            keepalive_timeout: keepalive_timeout?,
        })
    }

    fn deadlines(&mut self, args: &CallArgs) -> Option<Deadlines> {
        let default = self.time("deadline", &args.deadline);
        let max = self.time("max-deadline", &args.max_deadline);
        if default > max && max.is_some() {
            self.mistakes.push("--deadline: not more than --max-deadline".to_owned());
        }
        Some(Deadlines { default: default?, max: max? })
    }

    fn sizes(&mut self, args: &CallArgs) -> Option<MessageSizes> {
        let request = self.count("max-request", &args.max_request, SMALLEST..=u32::MAX);
        let creation = self.count("max-creation", &args.max_creation, SMALLEST..=u32::MAX);
        let answer = self.count("max-answer", &args.max_answer, SMALLEST..=u32::MAX);
        Some(MessageSizes {
            request: request? as usize,
            creation: creation? as usize,
            answer: answer? as usize,
        })
    }

    fn streams(&mut self, args: &StreamArgs) -> Option<StreamLimits> {
        let of_seat = self.most("seat-streams", &args.seat_streams);
        let of_spectators = self.most("spectators", &args.spectators);
        let of_instance = self.most("streams", &args.streams);
        let spread = self.time("reconnect-spread", &args.reconnect_spread);
        Some(StreamLimits {
            of_seat: of_seat?,
            of_spectators: of_spectators?,
            of_instance: of_instance?,
            spread: spread?,
        })
    }

    fn rates(&mut self, args: &RateArgs) -> Option<RateLimits> {
        let switch = [("on", true), ("off", false)];
        let enforced = self.choice("rate-limits", &args.rate_limits, &switch);
        let acts = self.rate("seat-rate", &args.seat_rate);
        let match_acts = self.rate("match-rate", &args.match_rate);
        let creations = self.rate("create-rate", &args.create_rate);
        let all_creations = self.rate("create-rate-all", &args.create_rate_all);
        let opens = self.rate("stream-rate", &args.stream_rate);
        let spectators = self.rate("spectator-rate", &args.spectator_rate);
        let guesses = self.rate("guess-rate", &args.guess_rate);
        let limits = RateLimits {
            acts: acts?,
            match_acts: match_acts?,
            creations: creations?,
            all_creations: all_creations?,
            opens: opens?,
            spectators: spectators?,
            guesses: guesses?,
        };
        Some(if enforced? { limits } else { RateLimits::default() })
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::cli::Cli;
    use crate::config::Mistakes;

    fn settings(flags: &[&str]) -> Result<Settings, Mistakes> {
        let words = ["parlor"].iter().chain(flags);
        Settings::try_from(&Cli::try_parse_from(words).expect("flags that exist").serve)
    }

    #[test]
    fn the_defaults_are_those_that_are_documented() {
        let secs = Duration::from_secs;
        let limits = settings(&[]).expect("good settings").limits;
        let connections = limits.connections;
        assert_eq!(connections.most, 2000);
        assert_eq!((connections.preface, connections.first_request), (secs(5), secs(10)));
        assert_eq!((connections.write_stall, connections.stream_stall), (secs(20), secs(10)));
        assert_eq!((connections.age, connections.tcp_keepalive), (secs(600), secs(60)));
        assert_eq!(connections.hard_age, secs(660 + 720 + 60));
        let http2 = connections.http2;
        assert_eq!((http2.streams, http2.headers, http2.frame), (100, 8 << 10, 16 << 10));
        assert_eq!((http2.stream_window, http2.connection_window), (64 << 10, 256 << 10));
        assert_eq!((http2.pending_resets, http2.error_resets), (20, 256));
        assert_eq!((http2.keepalive, http2.keepalive_timeout), (secs(30), secs(10)));
        assert_eq!(http2.send_buffer, 64 << 10);
        let MessageSizes { request, creation, answer } = limits.sizes;
        assert_eq!((request, creation, answer), (16 << 10, 64 << 10, 256 << 10));
        assert_eq!((limits.deadlines.default, limits.deadlines.max), (secs(2), secs(10)));
        assert_eq!((limits.in_flight, limits.memory), (Some(256), None));
        let StreamLimits { of_seat, of_spectators, of_instance, spread } = limits.streams;
        assert_eq!((of_seat, of_spectators, of_instance), (Some(2), Some(64), Some(10_000)));
        assert_eq!(spread, secs(5));
    }

    #[test]
    fn limits_are_listed_by_their_flags() {
        let listed = settings(&[]).expect("good settings").limits_in_force();
        let command = Cli::command();
        for (at, (name, _)) in listed.iter().enumerate() {
            let is_flag = |flag: &clap::Arg| flag.get_id() == *name;
            assert!(command.get_arguments().any(is_flag), "{name} is no flag");
            assert!(listed[..at].iter().all(|(other, _)| other != name), "{name} stands twice");
        }
    }

    #[test]
    fn every_limit_can_be_set_and_none_to_what_cannot_be() {
        let cases = [
            ("connections", "7", "0"),
            ("preface", "1s", "0s"),
            ("first-request", "20s", "soon"),
            ("write-stall", "1m", "-1s"),
            ("write-stall", "24days", "25days"),
            ("connection-age", "1h", "0s"),
            ("tcp-keepalive", "5s", "0s"),
            ("tcp-keepalive", "1s", "999ms"),
            ("tcp-keepalive", "9h", "10h"),
            ("stream-stall", "1s", "0s"),
            ("connection-streams", "7", "0"),
            ("stream-window", "1", "2147483648"),
            ("connection-window", "2147483647", "0"),
            ("max-headers", "16384", "1023"),
            ("max-frame", "16777215", "16383"),
            ("send-buffer", "4096", "1"),
            ("pending-resets", "7", "0"),
            ("error-resets", "7", "0"),
            ("keepalive", "5s", "0s"),
            ("keepalive-timeout", "5s", "0s"),
            ("in-flight", "off", "0"),
            ("memory", "384Mi", "63MiB"),
            ("deadline", "1s", "0s"),
            ("max-deadline", "1h", "0s"),
            ("max-request", "1024", "1023"),
            ("max-creation", "1024", "4294967296"),
            ("max-answer", "1024", "none"),
            ("seat-streams", "off", "0"),
            ("spectators", "off", "0"),
            ("streams", "off", "0"),
            ("reconnect-spread", "1s", "0s"),
            ("heartbeat", "1s", "0s"),
            ("stream-age", "1s", "0s"),
            ("seat-rate", "off", "1"),
            ("spectator-rate", "off", "1"),
        ];
        let defaults = format!("{:?}", settings(&[]).expect("good settings"));
        for (flag, good, bad) in cases {
            let set = |value: &str| settings(&[&format!("--{flag}={value}")]);
            let printed = format!("{:?}", set(good).expect(flag));
            assert_ne!(printed, defaults, "--{flag} sets nothing");
            let mistakes = set(bad).expect_err(flag).0;
            assert_eq!(mistakes.len(), 1, "{mistakes:?}");
            assert!(mistakes[0].starts_with(&format!("--{flag}: ")), "{mistakes:?}");
        }
    }
}
