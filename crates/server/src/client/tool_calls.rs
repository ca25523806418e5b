//! The port of the MCP server to the daemon, for `segue mcp`.

use std::sync::Arc;

use async_trait::async_trait;
use hyper::Method;
use segue_core::Result;
use segue_core::api::Caller;
use segue_mcp::{ApiCall, ApiCalls, ApiMethod};
use serde_json::Value;

use super::pool::ClientPool;
use crate::wiring::Local;

/// Serves the MCP protocol on standard input and output until the input ends. Connects to the daemon
/// at the first call.
pub async fn serve_mcp(local: &Local) -> Result<()> {
    segue_mcp::serve_stdio(Arc::new(DaemonCalls(ClientPool::new(local)))).await
}

/// Sends the calls of tools to the daemon.
#[derive(Debug)]
struct DaemonCalls(ClientPool);

#[async_trait]
impl ApiCalls for DaemonCalls {
    fn caller(&self) -> Caller {
        self.0.caller()
    }

    fn is_agent(&self) -> bool {
        self.0.is_inside_agent()
    }

    async fn send(&self, call: ApiCall) -> Result<Value> {
        let client = self.0.client().await?;
        let method = match call.method {
            ApiMethod::Get => Method::GET,
            ApiMethod::Post => Method::POST,
        };
        let answer = match call.is_change {
            true => client.line.change(method, &call.path, &call.body).await,
            false => client.line.ask(method, &call.path, &call.body).await,
        };
        self.0.keep(client, &answer);
        answer
    }
}
