//! Requests about the network: where the daemon listens, tokens, and links for browsers.

use hyper::Method;
use segue_core::Result;
use segue_core::api::{
    ServeReport, ServeRequest, ShareCreateReport, ShareCreateRequest, TokenCreateReport,
    TokenCreateRequest, TokenList, TokenRevokeRequest, TokenView, WebLinkReport, WebLinkRequest,
};

use super::Client;

impl Client {
    /// Changes where the daemon listens, or reports it.
    pub async fn serve(&self, request: &ServeRequest) -> Result<ServeReport> {
        self.line.change(Method::POST, "/v1/serve", request).await
    }

    pub async fn create_token(&self, request: &TokenCreateRequest) -> Result<TokenCreateReport> {
        self.line.change(Method::POST, "/v1/tokens", request).await
    }

    /// Creates a link with which one browser can log in, once.
    pub async fn create_web_link(&self, request: &WebLinkRequest) -> Result<WebLinkReport> {
        self.line.change(Method::POST, "/v1/web/links", request).await
    }

    /// Creates a link that shows one session.
    pub async fn create_share(&self, request: &ShareCreateRequest) -> Result<ShareCreateReport> {
        self.line.change(Method::POST, "/v1/shares", request).await
    }

    pub async fn tokens(&self) -> Result<TokenList> {
        self.line.ask(Method::GET, "/v1/tokens", &()).await
    }

    pub async fn revoke_token(&self, request: &TokenRevokeRequest) -> Result<TokenView> {
        self.line.change(Method::POST, "/v1/tokens/revoke", request).await
    }
}
