//! The server over HTTP. It keeps no sessions: every request is answered by itself.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;

use crate::port::ApiCalls;
use crate::server::McpServer;

/// Answers requests of the protocol over HTTP.
#[derive(Debug)]
pub struct McpHttp;

impl McpHttp {
    /// Answers one request. The caller must have checked its `Host`, `Origin` and token.
    pub async fn answer<B>(
        api: Arc<dyn ApiCalls>,
        request: Request<B>,
    ) -> Response<BoxBody<Bytes, Infallible>>
    where
        B: Body + Send + 'static,
        B::Error: std::fmt::Display,
    {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let server = move || Ok(McpServer::new(Arc::clone(&api), None));
        let sessions = Arc::new(NeverSessionManager::default());
        StreamableHttpService::new(server, sessions, config).handle(request).await
    }
}
