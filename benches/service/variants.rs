//! The service, set otherwise than it is by default: what that takes and how it is reached.

use tempfile::TempDir;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};

use crate::collector::Collector;
use crate::load::{Failure, connect, open};

/// What variants of the service need.
pub struct Variants {
    pub collector: Collector,
    /// The certificate, in PEM.
    certificate: String,
    files: TempDir,
}

/// One variant.
pub struct Variant {
    pub name: &'static str,
    pub flags: Vec<String>,
    encrypted: bool,
}

impl Variants {
    /// Starts a collector and makes a certificate.
    pub async fn new() -> Result<Self, Failure> {
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
        let certificate = own.cert.pem();
        let files = tempfile::tempdir()?;
        std::fs::write(files.path().join("cert.pem"), &certificate)?;
        std::fs::write(files.path().join("key.pem"), own.signing_key.serialize_pem())?;
        Ok(Self { collector: Collector::start().await?, certificate, files })
    }

    /// The variant that is asked for by this word.
    pub fn find(&self, word: &str) -> Option<Variant> {
        let collector = || format!("--otlp-endpoint={}", self.collector.url);
        let file =
            |flag: &str, name: &str| format!("--{flag}={}", self.files.path().join(name).display());
        let (name, flags) = match word {
            "metrics" => ("with metrics", vec!["--admin-listen=127.0.0.1:0".to_owned()]),
            "traces-5" => {
                ("with 5 % of traces", vec![collector(), "--trace-sampling=0.05".to_owned()])
            }
            "traces-100" => ("with all traces", vec![collector(), "--trace-sampling=1".to_owned()]),
            "tls" => ("with TLS", vec![file("tls-cert", "cert.pem"), file("tls-key", "key.pem")]),
            _ => return None,
        };
        Some(Variant { name, flags, encrypted: word == "tls" })
    }

    /// Connections to a server that is this variant.
    pub async fn connect(
        &self,
        variant: &Variant,
        address: &str,
        count: usize,
    ) -> Result<Vec<Channel>, Failure> {
        if !variant.encrypted {
            return connect(address, count).await;
        }
        let trust = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(&self.certificate));
        let endpoint = Endpoint::from_shared(format!("https://{address}"))?;
        open(endpoint.tls_config(trust.domain_name("localhost"))?, count).await
    }
}
