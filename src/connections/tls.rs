//! TLS: our certificate, whose certificates are accepted, and both anew when their files change.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use tokio_rustls::rustls::{self, RootCertStore, ServerConfig};
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// Where certificates are, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, and those that lead from it to its authority.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// The authorities whose certificates callers need; without it, callers need none.
    pub client_authorities: Option<PathBuf>,
    /// How often the files are looked at for something new.
    pub reload: Duration,
}

/// Certificates that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadCertificates {
    /// A file cannot be read.
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    /// A file is not PEM, or has nothing of what it is for.
    #[error("{0}: {1}")]
    Pem(PathBuf, pem::Error),
    /// The certificate and its key do not fit, or are of no kind that is known.
    #[error("the certificate cannot be used: {0}")]
    Certificate(#[from] rustls::Error),
    /// The authorities cannot be used.
    #[error("the authorities of callers cannot be used: {0}")]
    Authorities(#[from] VerifierBuilderError),
}

/// TLS, as its files say. Clones are renewed together.
#[derive(Clone)]
pub struct Tls {
    files: TlsFiles,
    now: Arc<RwLock<Loaded>>,
}

/// What was read, and what was made of it.
struct Loaded {
    read: Read,
    acceptor: TlsAcceptor,
}

/// What stands in the files: certificate, key, authorities.
#[derive(PartialEq, Eq)]
struct Read([Vec<u8>; 3]);

/// Says nothing of the key.
impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Tls").field(&self.files).finish()
    }
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// [`BadCertificates`].
    pub fn load(files: TlsFiles) -> Result<Self, BadCertificates> {
        let read = files.read()?;
        let acceptor = files.accept_with(&read)?;
        Ok(Self { files, now: Arc::new(RwLock::new(Loaded { read, acceptor })) })
    }

    /// What the next caller is met with.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        self.now.read().unwrap_or_else(PoisonError::into_inner).acceptor.clone()
    }

    /// Looks at the files again and again. Connections that there are keep what they began with;
    /// files that cannot be used change nothing.
    pub async fn keep_up(&self) {
        loop {
            tokio::time::sleep(self.files.reload).await;
            match self.renew() {
                Ok(true) => tracing::info!("the certificate was renewed"),
                Ok(false) => {}
                Err(error) => tracing::error!(%error, "the certificate could not be renewed"),
            }
        }
    }

    /// Takes what is new; says whether anything is.
    fn renew(&self) -> Result<bool, BadCertificates> {
        let read = self.files.read()?;
        if self.now.read().unwrap_or_else(PoisonError::into_inner).read == read {
            return Ok(false);
        }
        let acceptor = self.files.accept_with(&read)?;
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Loaded { read, acceptor };
        Ok(true)
    }
}

impl TlsFiles {
    fn read(&self) -> Result<Read, BadCertificates> {
        let read = |path: &PathBuf| {
            std::fs::read(path).map_err(|error| BadCertificates::File(path.clone(), error))
        };
        let authorities = self.client_authorities.as_ref().map(read).transpose()?;
        Ok(Read([read(&self.certificate)?, read(&self.key)?, authorities.unwrap_or_default()]))
    }

    fn accept_with(&self, read: &Read) -> Result<TlsAcceptor, BadCertificates> {
        let Read([certificate, key, authorities]) = read;
        let key = PrivateKeyDer::from_pem_slice(key);
        let key = key.map_err(|error| BadCertificates::Pem(self.key.clone(), error))?;
        let provider = Arc::new(ring::default_provider());
        let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?;
        let config = match &self.client_authorities {
            None => config.with_no_client_auth(),
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for authority in certificates(path, authorities)? {
                    roots.add(authority)?;
                }
                let roots = Arc::new(roots);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
                config.with_client_cert_verifier(verifier.build()?)
            }
        };
        let chain = certificates(&self.certificate, certificate)?;
        let expires = expiry(&chain[0]);
        let mut config = config.with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        if let Some(value) = expires {
            tracing::info!(name: "parlor.certificate.expires", target: "metric", value);
        }
        Ok(Arc::new(config).into())
    }
}

/// Until when a certificate is good, in seconds since 1970 began.
fn expiry(certificate: &CertificateDer<'_>) -> Option<i64> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    Some(certificate.validity().not_after.timestamp())
}

/// The certificates in a file, of which there must be one.
fn certificates(path: &Path, text: &[u8]) -> Result<Vec<CertificateDer<'static>>, BadCertificates> {
    let bad = |error| BadCertificates::Pem(path.to_owned(), error);
    let found: Vec<_> =
        CertificateDer::pem_slice_iter(text).collect::<Result<_, _>>().map_err(bad)?;
    if found.is_empty() { Err(bad(pem::Error::NoItemsFound)) } else { Ok(found) }
}
