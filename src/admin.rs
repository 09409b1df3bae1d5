//! The port for operators: metrics, what runs here, and whether it lives and takes calls, over HTTP.
//!
//! It is for a network of its own: it asks nobody who they are, and limits nothing.

use std::net::SocketAddr;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::app::StartError;
use crate::info::Info;
use crate::telemetry::Scraper;

/// The port, bound, not yet serving.
#[derive(Debug)]
pub struct Admin {
    listener: TcpListener,
    address: SocketAddr,
}

impl Admin {
    /// Binds the port.
    ///
    /// # Errors
    /// [`StartError::Listen`].
    pub async fn bind(address: SocketAddr) -> Result<Self, StartError> {
        let bound = async {
            let listener = TcpListener::bind(address).await?;
            let address = listener.local_addr()?;
            Ok(Self { listener, address })
        };
        bound.await.map_err(|error| StartError::Listen(address, error))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the process ends, what runs here if there is something to say of it; not ready
    /// any more once the process was told to stop.
    pub async fn serve(self, scraper: Scraper, info: Option<Info>, stop: CancellationToken) {
        let metrics = move || {
            let text = scraper.text();
            async { ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text) }
        };
        let ready = move || {
            let stopping = stop.is_cancelled();
            async move { if stopping { (StatusCode::SERVICE_UNAVAILABLE, "stopping\n") } else { OK } }
        };
        let mut routes = Router::new()
            .route("/metrics", get(metrics))
            .route("/livez", get(|| async { OK }))
            .route("/readyz", get(ready));
        if let Some(info) = info {
            let page = move || {
                let page = info.page().to_string();
                async { ([(header::CONTENT_TYPE, "application/json")], page) }
            };
            routes = routes.route("/info", get(page));
        }
        if let Err(error) = axum::serve(self.listener, routes).await {
            tracing::error!(%error, "the port for operators serves no more");
        }
    }
}

const OK: (StatusCode, &str) = (StatusCode::OK, "ok\n");
