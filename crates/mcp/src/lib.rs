//! The MCP server: agents and other programs use Segue's sessions as tools, resources and prompts.
//!
//! The server holds no rules. Every tool is one or two requests to the daemon's HTTP API, through the
//! port [`ApiCalls`]; the routes decide what the caller may do. No type of the protocol's crate
//! leaves this crate.

mod answers;
mod http;
mod port;
mod prompts;
mod resources;
mod schemas;
mod server;
mod stdio;
mod tools;

pub use http::McpHttp;
pub use port::{ApiCall, ApiCalls, ApiMethod};
pub use stdio::serve_stdio;
pub use tools::{ToolListing, ToolParameter, listing};

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;
