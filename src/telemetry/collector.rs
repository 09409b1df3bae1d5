//! How the collector is reached, for traces and for metrics alike.

use std::time::Duration;

use opentelemetry_otlp::tonic_types::transport::{Certificate, ClientTlsConfig};
use opentelemetry_otlp::{WithExportConfig, WithTonicConfig};

use crate::config::Collector;

/// How long the collector may take for what it is sent at once.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(3);

impl Collector {
    /// The exporter that this builds, for this collector.
    pub(super) fn reached_by<B: WithExportConfig + WithTonicConfig>(&self, exporter: B) -> B {
        let exporter =
            exporter.with_endpoint(self.endpoint.to_string()).with_timeout(EXPORT_TIMEOUT);
        if self.endpoint.scheme_str() != Some("https") {
            return exporter;
        }
        let tls = ClientTlsConfig::new();
        exporter.with_tls_config(match &self.authority {
            Some(authority) => tls.ca_certificate(Certificate::from_pem(authority)),
            None => tls.with_native_roots(),
        })
    }
}
