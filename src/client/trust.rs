//! Whom a client believes that it is the server, and who it says that it is itself.

use std::fmt;

use tonic::transport::{Certificate, ClientTlsConfig, Identity};

/// Whom to trust with TLS, and what to show. As it is made, it trusts whom the system trusts, and
/// shows nothing.
#[derive(Clone, Default)]
pub struct Trust {
    authority: Option<Certificate>,
    identity: Option<Identity>,
}

/// Says nothing of the private key.
impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trust").field("authority", &self.authority).finish_non_exhaustive()
    }
}

impl Trust {
    /// Trusts certificates of this authority alone, given in PEM.
    #[must_use]
    pub fn only(authority: impl AsRef<[u8]>) -> Self {
        Self { authority: Some(Certificate::from_pem(authority)), identity: None }
    }

    /// The same, showing a certificate of one's own to a server that asks for it; both in PEM.
    #[must_use]
    pub fn showing(mut self, certificate: impl AsRef<[u8]>, key: impl AsRef<[u8]>) -> Self {
        self.identity = Some(Identity::from_pem(certificate, key));
        self
    }

    pub(super) fn config(&self) -> ClientTlsConfig {
        let config = ClientTlsConfig::new();
        let config = match &self.authority {
            Some(authority) => config.ca_certificate(authority.clone()),
            None => config.with_native_roots(),
        };
        match &self.identity {
            Some(identity) => config.identity(identity.clone()),
            None => config,
        }
    }
}
