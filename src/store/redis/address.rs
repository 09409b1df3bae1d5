//! Where a store's servers are: the forms of addresses, read and judged.

use std::fmt;
use std::str::FromStr;

use redis::{IntoConnectionInfo, ProtocolVersion, RedisConnectionInfo};

/// The forms of addresses.
const FORMS: &str = "an address has one of the forms redis://[user:password@]host[:port][/db], \
    redis+sentinel://[user:password@]host[:port],…/primary[/db], or \
    redis+cluster://[user:password@]host[:port],…, and with rediss in place of redis it is \
    encrypted";

const PORT: u16 = 6379;
const SENTINEL_PORT: u16 = 26379;

/// The address of a Redis server, of the sentinels that watch one, or of a cluster.
///
/// Credentials in it are percent-encoded where they hold `@`, `/`, `?`, `#` or `%`. It prints without
/// them.
#[derive(Clone)]
pub struct RedisAddress {
    pub(super) place: Place,
    /// Whether all connections are encrypted, and the servers' certificates verified.
    pub(super) encrypted: bool,
    /// Who we are at the servers that keep data, and in which database.
    pub(super) identity: RedisConnectionInfo,
}

impl RedisAddress {
    /// Whether all connections are encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.encrypted
    }
}

/// Where the primary is, or the primaries are.
#[derive(Clone)]
pub(super) enum Place {
    /// Here.
    Here(Host),
    /// Where the sentinels say.
    Sentinels {
        hosts: Vec<Host>,
        /// By this name they know it.
        primary: String,
        /// Who we are at the sentinels.
        identity: RedisConnectionInfo,
    },
    /// Where the cluster says that a slot lies. At least one of these is asked first.
    Cluster(Vec<Host>),
}

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) port: u16,
}

impl Host {
    pub(super) fn new(name: impl Into<String>, port: u16) -> Self {
        Self { name: name.into(), port }
    }

    fn read(text: &str, default_port: u16) -> Result<Self, String> {
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => rest.split_once(']').ok_or("a bracket is not closed")?,
            None => text.find(':').map_or((text, ""), |at| text.split_at(at)),
        };
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => default_port,
            port => {
                let port = port.and_then(|port| port.parse().ok()).filter(|&port| port != 0);
                port.ok_or("a port is a number from 1 to 65535")?
            }
        };
        let known = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
        let is_name = !name.is_empty() && name.chars().all(known);
        let is_ip = text.starts_with('[') && name.parse::<std::net::Ipv6Addr>().is_ok();
        if (is_name && !text.starts_with('[')) || is_ip {
            Ok(Self::new(name, port))
        } else {
            Err("a host is a name or an IP address; one of version 6 is in brackets".to_owned())
        }
    }

    /// Reads where a server sends us to, `host:port`; a host left out is the one that was asked.
    pub(super) fn redirected(text: &str, asked: &str) -> Option<Self> {
        let (name, port) = text.rsplit_once(':')?;
        let name = if name.is_empty() { asked } else { name };
        Some(Self::new(name.trim_matches(['[', ']']), port.parse().ok()?))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.contains(':') {
            write!(f, "[{}]:{}", self.name, self.port)
        } else {
            write!(f, "{}:{}", self.name, self.port)
        }
    }
}

/// What follows the scheme.
struct Parts<'a> {
    user: &'a str,
    hosts: &'a str,
    path: Vec<&'a str>,
    query: Vec<(&'a str, &'a str)>,
}

impl<'a> Parts<'a> {
    fn read(rest: &'a str) -> Result<Self, String> {
        if rest.contains('#') {
            return Err("nothing may follow a # here".to_owned());
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
        let path = path.split('/').filter(|part| !part.is_empty()).collect();
        let query = query.split('&').filter(|pair| !pair.is_empty());
        let query = query.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect();
        Ok(Self { user, hosts, path, query })
    }

    fn hosts(&self, default_port: u16) -> Result<Vec<Host>, String> {
        self.hosts.split(',').map(|host| Host::read(host, default_port)).collect()
    }

    /// The value of a part of the query; whatever is left in the end is not known.
    fn take(&mut self, name: &str) -> Option<&'a str> {
        let at = self.query.iter().position(|(known, _)| *known == name)?;
        Some(self.query.remove(at).1)
    }
}

impl FromStr for RedisAddress {
    type Err = String;

    /// Reads an address.
    ///
    /// # Errors
    ///
    /// What is wrong with it, without any secret.
    fn from_str(url: &str) -> Result<Self, String> {
        let (scheme, rest) = url.split_once("://").ok_or(FORMS)?;
        let (encrypted, kind) = match scheme.strip_prefix("rediss") {
            Some(kind) => (true, kind),
            None => (false, scheme.strip_prefix("redis").ok_or(FORMS)?),
        };
        let mut parts = Parts::read(rest)?;
        let (place, database) = match kind {
            "" => match parts.hosts(PORT)?.as_slice() {
                [host] => (Place::Here(host.clone()), parts.path.as_slice()),
                _ => return Err("one host; several are for sentinels or a cluster".to_owned()),
            },
            "+sentinel" => {
                let user = parts.take("sentinel_username").unwrap_or_default();
                let password = parts.take("sentinel_password");
                let user = password.map_or(String::new(), |password| format!("{user}:{password}"));
                let identity = identity(&user, 0)?;
                let hosts = parts.hosts(SENTINEL_PORT)?;
                let Some((primary, database)) = parts.path.split_first() else {
                    return Err("the primary's name comes after the sentinels: …/name".to_owned());
                };
                let primary = (*primary).to_owned();
                (Place::Sentinels { hosts, primary, identity }, database)
            }
            "+cluster" => (Place::Cluster(parts.hosts(PORT)?), parts.path.as_slice()),
            _ => return Err(FORMS.to_owned()),
        };
        let database = match database {
            [] => 0,
            [number] => number.parse::<u16>().map_err(|_| "a database is a number")?,
            _ => return Err("nothing comes after the database".to_owned()),
        };
        if matches!(place, Place::Cluster(_)) && database != 0 {
            return Err("a cluster has no database but 0".to_owned());
        }
        if let Some((name, _)) = parts.query.first() {
            return Err(format!("{name} is not known"));
        }
        // Announcements come as pushes, which need version 3 of the protocol.
        let identity = identity(parts.user, database)?.set_protocol(ProtocolVersion::RESP3);
        Ok(Self { place, encrypted, identity })
    }
}

/// Who we are, from `user:password` as it stands in an address.
fn identity(user: &str, database: u16) -> Result<RedisConnectionInfo, String> {
    let at = if user.is_empty() { "" } else { "@" };
    let info = format!("redis://{user}{at}host/{database}").into_connection_info();
    let info = info.map_err(|_| "the user and the password cannot be read")?;
    Ok(info.redis_settings().clone().set_skip_set_lib_name())
}

impl fmt::Display for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list =
            |hosts: &[Host]| hosts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        match &self.place {
            Place::Here(host) => host.fmt(f),
            Place::Sentinels { hosts, primary, .. } => {
                write!(f, "the primary {primary} of the sentinels {}", list(hosts))
            }
            Place::Cluster(hosts) => write!(f, "the cluster of {}", list(hosts)),
        }?;
        f.write_str(if self.encrypted { ", encrypted" } else { "" })
    }
}

impl fmt::Debug for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisAddress({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> RedisAddress {
        url.parse().unwrap()
    }

    #[test]
    fn every_form_is_read() {
        let cases = [
            ("redis://h", "h:6379"),
            ("redis://u:secret@h:1/2", "h:1"),
            ("rediss://:secret@[::1]:7", "[::1]:7, encrypted"),
            ("redis+sentinel://a,b:7/main", "the primary main of the sentinels a:26379, b:7"),
            ("rediss+cluster://u:secret@a:1,b", "the cluster of a:1, b:6379, encrypted"),
        ];
        for (url, printed) in cases {
            assert_eq!(read(url).to_string(), printed);
            assert!(!format!("{:?}", read(url)).contains("secret"));
        }
    }

    #[test]
    fn servers_and_sentinels_have_credentials_of_their_own() {
        let address = read(
            "redis+sentinel://u%40x:p%2Fw@a/main/3?sentinel_username=s&sentinel_password=q%25",
        );
        assert_eq!(address.identity.username(), Some("u@x"));
        assert_eq!(address.identity.password(), Some("p/w"));
        assert_eq!(address.identity.db(), 3);
        let Place::Sentinels { identity, .. } = address.place else { panic!("no sentinels") };
        assert_eq!((identity.username(), identity.password()), (Some("s"), Some("q%")));
    }

    #[test]
    fn a_wrong_address_is_refused_without_its_secret() {
        let wrong = [
            "h:1",
            "http://h",
            "redis+proxy://h",
            "redis://",
            "redis://u:secret@",
            "redis://h:0",
            "redis://h:65536",
            "redis://a,b",
            "redis://::1",
            "redis://[::1",
            "redis://[h]",
            "redis://h h",
            "redis://h/x",
            "redis://h/1/2",
            "redis://h?db=1",
            "rediss://h#insecure",
            "redis+sentinel://a",
            "redis+sentinel://a,/main",
            "redis+sentinel://a/main/0/1",
            "redis+sentinel://a/main?sentinel_passwort=secret",
            "redis+cluster://a/1",
        ];
        for url in wrong {
            let refused = url.parse::<RedisAddress>().expect_err(url);
            assert!(!refused.contains("secret"), "{refused}");
        }
    }

    #[test]
    fn a_redirection_may_leave_out_the_host() {
        assert_eq!(Host::redirected("10.0.0.1:7", "h"), Some(Host::new("10.0.0.1", 7)));
        assert_eq!(Host::redirected(":7", "h"), Some(Host::new("h", 7)));
        assert_eq!(Host::redirected("fe80::1:7", "h"), Some(Host::new("fe80::1", 7)));
        assert_eq!(Host::redirected("7", "h"), None);
    }
}
