//! The routes about the network and the web page.

use axum::http::Method;
use segue_core::model::TokenScope::{Admin, Read, Work};

use super::super::table::{RouteTable, does};
use super::super::{browser, network, settings};

/// Adds the routes about where the daemon listens, and who has a token.
pub(super) fn add_tokens(table: RouteTable) -> RouteTable {
    table
        .post(
            "/v1/serve",
            Admin,
            does("serve", "Reports or changes where the daemon listens"),
            network::serve,
        )
        .get("/v1/tokens", Admin, does("list_tokens", "Lists the tokens"), network::tokens)
        .post(
            "/v1/tokens",
            Admin,
            does("create_token", "Creates a token and shows it once"),
            network::create_token,
        )
        .post(
            "/v1/tokens/revoke",
            Admin,
            does("revoke_token", "Revokes a token"),
            network::revoke_token,
        )
}

/// Adds the routes of the web page itself.
pub(super) fn add_web(table: RouteTable) -> RouteTable {
    let session_summary = "Describes the login of the calling browser";
    table
        .post(
            "/v1/web/links",
            Admin,
            does("create_web_link", "Creates a link with which a browser logs in once"),
            browser::create_link,
        )
        .public(
            "/v1/web/login",
            does("log_in", "Logs a browser in with the code of a link"),
            browser::log_in,
        )
        .browser(
            Method::GET,
            "/v1/web/session",
            does("get_web_session", session_summary),
            browser::session,
        )
        .browser(
            Method::POST,
            "/v1/web/logout",
            does("log_out", "Logs the calling browser out"),
            browser::log_out,
        )
        .get(
            "/v1/shares",
            Admin,
            does("list_shares", "Lists the links to sessions"),
            browser::list_shares,
        )
        .post(
            "/v1/shares",
            Admin,
            does("create_share", "Creates a link that shows one session"),
            browser::create_share,
        )
        .delete(
            "/v1/shares/{id}",
            Admin,
            does("revoke_share", "Revokes a link to a session"),
            browser::revoke_share,
        )
}

/// Adds what the page shows about the machine and its settings.
pub(super) fn add_settings(table: RouteTable) -> RouteTable {
    table
        .get(
            "/v1/findings",
            Admin,
            does("list_findings", "Returns what `segue doctor` finds, and changes nothing"),
            settings::findings,
        )
        .get(
            "/v1/sources",
            Read,
            does("list_sources", "Lists the forges of the settings, without secrets"),
            settings::sources,
        )
        .get(
            "/v1/vendors",
            Read,
            does("list_vendors", "Lists the vendors, and whether their programs are installed"),
            settings::vendors,
        )
        .post(
            "/v1/agents",
            Work,
            does("list_agents", "Lists the agents of the project file around a folder"),
            settings::agents,
        )
}
