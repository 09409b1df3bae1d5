//! More than one Redis server, as they are run for real: a primary that sentinels watch, a cluster, and
//! one that encrypts.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use parlor::store::{RedisConfig, RedisTls};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

use crate::redis_server::{RedisServer, free_port, patient};
use crate::within;

/// How long servers may take to find each other, and to agree on a new primary.
pub const AGREEMENT: Duration = Duration::from_secs(40);

/// A primary with a replica, watched by three sentinels.
pub struct Sentinels {
    pub primary: RedisServer,
    pub replica: RedisServer,
    pub watchers: Vec<RedisServer>,
}

/// A server that follows another one.
pub async fn replica_of(primary: &RedisServer) -> RedisServer {
    let port = primary.port().to_string();
    let words = ["--replicaof", "127.0.0.1", &port].map(str::to_owned).to_vec();
    let replica = RedisServer::start_with(&move |_, _| words.clone()).await;
    follows(primary).await;
    replica
}

/// Waits until a replica follows the server.
pub async fn follows(primary: &RedisServer) {
    within(AGREEMENT, "the replica is there", async || {
        let info: String = primary.run(&["INFO", "replication"]).await;
        info.contains("state=online").then_some(())
    })
    .await;
}

impl Sentinels {
    /// Starts them, and waits until they know of each other.
    pub async fn start() -> Self {
        let primary = RedisServer::start().await;
        let replica = replica_of(&primary).await;
        let mut watchers = Vec::new();
        for _ in 0..3 {
            watchers.push(RedisServer::start_sentinel(&primary).await);
        }
        for sentinel in &watchers {
            within(AGREEMENT, "the sentinels know of all", async || {
                let known: HashMap<String, String> =
                    sentinel.run(&["SENTINEL", "MASTER", "main"]).await;
                let of = |name: &str| known.get(name).map(String::as_str);
                (of("num-slaves") == Some("1") && of("num-other-sentinels") == Some("2"))
                    .then_some(())
            })
            .await;
        }
        Self { primary, replica, watchers }
    }

    /// What the service is set to here.
    pub fn config(&self) -> RedisConfig {
        let hosts = self.watchers.iter().map(|it| format!("127.0.0.1:{}", it.port()));
        let hosts = hosts.collect::<Vec<_>>().join(",");
        patient(format!(
            "redis+sentinel://parlor:secret@{hosts}/main\
             ?sentinel_username=parlor&sentinel_password=sentry"
        ))
    }

    /// Waits until all sentinels name the replica as the primary.
    pub async fn fail_over(&self) {
        let port = self.replica.port().to_string();
        for sentinel in &self.watchers {
            within(AGREEMENT, "the replica is the primary", async || {
                let ask = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main"];
                let (_, named): (String, String) = sentinel.run(&ask).await;
                (named == port).then_some(())
            })
            .await;
        }
    }
}

/// A cluster of three primaries, perhaps with a replica of each.
pub struct Cluster {
    pub nodes: Vec<RedisServer>,
    pub replicas: Vec<RedisServer>,
}

impl Cluster {
    /// Where each node's slots begin.
    const FIRST: [u16; 4] = [0, 5_461, 10_923, 16_384];

    /// Starts it, and waits until all slots are served.
    pub async fn start() -> Self {
        Self::start_nodes(3).await
    }

    /// Starts it with a replica of each primary, and waits until they follow.
    pub async fn start_with_replicas() -> Self {
        let mut cluster = Self::start_nodes(6).await;
        cluster.replicas = cluster.nodes.split_off(3);
        for (node, replica) in cluster.nodes.iter().zip(&cluster.replicas) {
            let id: String = node.run(&["CLUSTER", "MYID"]).await;
            replica.run::<()>(&["CLUSTER", "REPLICATE", &id]).await;
            follows(node).await;
        }
        cluster
    }

    /// Starts so many nodes that know of each other; the first three serve the slots.
    async fn start_nodes(count: usize) -> Self {
        let mut nodes = Vec::new();
        let mut buses = Vec::new();
        for _ in 0..count {
            let bus = free_port().to_string();
            let words = ["--cluster-enabled", "yes", "--cluster-port", &bus];
            let words = words.into_iter().chain(["--cluster-node-timeout", "5000"]);
            let words: Vec<_> = words.map(str::to_owned).collect();
            nodes.push(RedisServer::start_with(&move |_, _| words.clone()).await);
            buses.push(bus);
        }
        for (index, node) in nodes.iter().enumerate() {
            let epoch = (index + 1).to_string();
            node.run::<()>(&["CLUSTER", "SET-CONFIG-EPOCH", &epoch]).await;
            if let Some(&[first, end]) = Self::FIRST.windows(2).nth(index) {
                let [first, last] = [first.to_string(), (end - 1).to_string()];
                node.run::<()>(&["CLUSTER", "ADDSLOTSRANGE", &first, &last]).await;
            }
            if index > 0 {
                let port = node.port().to_string();
                let meet = ["CLUSTER", "MEET", "127.0.0.1", &port, &buses[index]];
                nodes[0].run::<()>(&meet).await;
            }
        }
        for node in &nodes {
            within(AGREEMENT, "all slots are served", async || {
                let info: String = node.run(&["CLUSTER", "INFO"]).await;
                let is = |line: &str| info.lines().any(|found| found == line);
                let all = is(&format!("cluster_known_nodes:{count}"));
                (is("cluster_state:ok") && all).then_some(())
            })
            .await;
        }
        Self { nodes, replicas: Vec::new() }
    }

    /// What the service is set to here: it is told of one node and finds the others.
    pub fn config(&self) -> RedisConfig {
        patient(format!("redis+cluster://parlor:secret@127.0.0.1:{}", self.nodes[0].port()))
    }

    /// The number of the node that serves this slot at first.
    pub fn first_owner(slot: u16) -> usize {
        Self::FIRST[1..].iter().position(|&end| slot < end).expect("there are no more slots")
    }
}

/// A server that speaks to nobody who does not encrypt and show a certificate.
pub struct Encrypted {
    /// It runs as long as this lives.
    _server: RedisServer,
    port: u16,
    /// The authority's certificate, and a certificate with its key for the service.
    pub authority: String,
    pub identity: (String, String),
}

impl Encrypted {
    pub async fn start() -> Self {
        let mut parameters = CertificateParams::new(Vec::new()).expect("no names");
        parameters.distinguished_name.push(DnType::CommonName, "authority");
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority =
            CertifiedIssuer::self_signed(parameters, KeyPair::generate().expect("a key"))
                .expect("an authority");
        let certify = |name: &str| {
            let key = KeyPair::generate().expect("a key");
            let mut parameters = CertificateParams::new([name.to_owned()]).expect("a name");
            parameters.distinguished_name.push(DnType::CommonName, name);
            let certificate = parameters.signed_by(&key, &authority).expect("a certificate");
            (certificate.pem(), key.serialize_pem())
        };
        let (certificate, key) = certify("localhost");
        let identity = certify("parlor");
        let authority = authority.pem();
        let port = free_port();
        let trusted = authority.clone();
        let words = move |folder: &Path, _| {
            let files = [("ca.pem", &trusted), ("cert.pem", &certificate), ("key.pem", &key)];
            for (name, pem) in files {
                std::fs::write(folder.join(name), pem).expect("a file");
            }
            let port = port.to_string();
            let words = ["--tls-port", &port, "--tls-ca-cert-file", "ca.pem"];
            let more = ["--tls-cert-file", "cert.pem", "--tls-key-file", "key.pem"];
            words.into_iter().chain(more).map(str::to_owned).collect()
        };
        let server = RedisServer::start_with(&words).await;
        Self { _server: server, port, authority, identity }
    }

    /// What the service is set to here.
    pub fn config(&self) -> RedisConfig {
        let (certificate, key) = &self.identity;
        let identity = Some((certificate.as_bytes(), key.as_bytes()));
        let tls = RedisTls::new(Some(self.authority.as_bytes()), identity).expect("good files");
        RedisConfig { tls: Some(tls), ..patient(self.url("localhost")) }
    }

    pub fn url(&self, host: &str) -> String {
        format!("rediss://parlor:secret@{host}:{}", self.port)
    }
}
