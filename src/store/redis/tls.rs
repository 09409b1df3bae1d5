//! Encryption of the connections to Redis: rustls, and whom it trusts.

use std::fmt;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::store::{Result, StoreError};

/// How connections to Redis are encrypted.
#[derive(Clone)]
pub struct RedisTls(Arc<ClientConfig>);

impl RedisTls {
    /// Trusts the certificates in `authorities`, in PEM, or without them those that the system trusts.
    /// With an `identity`, a certificate chain and its key in PEM, it shows that to servers that ask.
    ///
    /// # Errors
    ///
    /// What cannot be read, or does not fit together.
    pub fn new(
        authorities: Option<&[u8]>,
        identity: Option<(&[u8], &[u8])>,
    ) -> std::result::Result<Self, String> {
        let authorities = match authorities {
            Some(pem) => certificates(pem)?,
            None => rustls_native_certs::load_native_certs().certs,
        };
        let mut roots = RootCertStore::empty();
        let (trusted, _) = roots.add_parsable_certificates(authorities);
        if trusted == 0 {
            return Err("there is no certificate that can be trusted".to_owned());
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots);
        let config = match identity {
            None => config.with_no_client_auth(),
            Some((chain, key)) => {
                let chain = certificates(chain)?;
                let key = PrivateKeyDer::from_pem_slice(key)
                    .map_err(|_| "the key is not one in PEM".to_owned())?;
                let fits = config.with_client_auth_cert(chain, key);
                fits.map_err(|error| format!("the certificate and the key: {error}"))?
            }
        };
        Ok(Self(Arc::new(config)))
    }

    /// Encrypts a connection to this host.
    pub(super) async fn connect(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|error| StoreError::Misconfigured(format!("{host}: {error}")))?;
        let connected = TlsConnector::from(Arc::clone(&self.0)).connect(name, stream).await;
        connected.map_err(|error| {
            let untrusted = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
            match untrusted {
                Some(rustls::Error::InvalidCertificate(_)) => {
                    StoreError::Misconfigured(format!("{host}: {error}"))
                }
                _ => StoreError::Unavailable(error.to_string()),
            }
        })
    }
}

impl fmt::Debug for RedisTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RedisTls(..)")
    }
}

fn certificates(pem: &[u8]) -> std::result::Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_slice_iter(pem).collect::<std::result::Result<Vec<_>, _>>();
    match read {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        _ => Err("there is no certificate in PEM".to_owned()),
    }
}
