//! The list of all routes. Each route declares the right that its caller needs, and one guard checks
//! it for all of them, so that no route can be forgotten.

use std::sync::Arc;

use axum::Router;
use axum::handler::Handler;
use axum::http::Method;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodFilter, on};
use segue_core::model::TokenScope;
use segue_core::rules::scope::RouteRight;

use super::{App, guard, limits};

/// What is known about a route without calling it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RouteEntry {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) right: RouteRight,
    pub(crate) environment: EnvironmentPlace,
}

/// Where a request has the environment of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EnvironmentPlace {
    /// It has none.
    Nowhere,
    /// In `caller.environment`.
    Caller,
    /// In `environment`.
    Top,
}

/// Collects routes.
#[derive(Debug, Default)]
pub(crate) struct RouteTable {
    router: Router<App>,
    entries: Vec<RouteEntry>,
}

impl RouteTable {
    /// Adds a route that only reads.
    pub(crate) fn get<H, T>(self, path: &'static str, scope: TokenScope, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        self.add(MethodFilter::GET, entry(Method::GET, path, RouteRight::Scope(scope)), handler)
    }

    pub(crate) fn post<H, T>(self, path: &'static str, scope: TokenScope, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        self.add(MethodFilter::POST, entry(Method::POST, path, RouteRight::Scope(scope)), handler)
    }

    pub(crate) fn delete<H, T>(self, path: &'static str, scope: TokenScope, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        let entry = entry(Method::DELETE, path, RouteRight::Scope(scope));
        self.add(MethodFilter::DELETE, entry, handler)
    }

    /// Adds a route whose request has the environment of its caller.
    pub(crate) fn start<H, T>(
        self,
        path: &'static str,
        (scope, environment): (TokenScope, EnvironmentPlace),
        handler: H,
    ) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        let entry = entry(Method::POST, path, RouteRight::Scope(scope));
        self.add(MethodFilter::POST, RouteEntry { environment, ..entry }, handler)
    }

    /// Adds a route for processes on this machine.
    pub(crate) fn local<H, T>(self, method: Method, path: &'static str, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        let filter = if method == Method::GET { MethodFilter::GET } else { MethodFilter::POST };
        self.add(filter, entry(method, path, RouteRight::Local), handler)
    }

    /// Adds a route that checks by itself who has sent a request.
    pub(crate) fn signed<H, T>(self, path: &'static str, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        self.add(MethodFilter::POST, entry(Method::POST, path, RouteRight::Signed), handler)
    }

    fn add<H, T>(mut self, filter: MethodFilter, entry: RouteEntry, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        self.router = self.router.route(entry.path, on(filter, handler));
        self.entries.push(entry);
        self
    }

    /// Returns all routes.
    #[cfg(test)]
    pub(crate) fn entries(&self) -> &[RouteEntry] {
        &self.entries
    }

    /// Returns the routes behind their guard. The guard comes first: the body of a request is read
    /// only if its sender may use the route.
    pub(crate) fn into_router(self, app: App) -> Router<App> {
        let state = (Arc::clone(&app), Arc::from(self.entries));
        self.router
            .route_layer(from_fn_with_state(Arc::clone(&app), guard::set_environment))
            .route_layer(from_fn_with_state(app, limits::bounded))
            .route_layer(from_fn_with_state(state, guard::check_route))
    }
}

fn entry(method: Method, path: &'static str, right: RouteRight) -> RouteEntry {
    RouteEntry { method, path, right, environment: EnvironmentPlace::Nowhere }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Returns the rows of the table in the documentation, as `METHOD path scope`.
    fn documented() -> BTreeSet<String> {
        let page = include_str!("../../../../docs/http.md");
        let rows = page.lines().filter(|line| {
            line.starts_with("| `") && (line.contains("/v1/") || line.contains("/webhooks/"))
        });
        rows.map(|row| row.replace(['|', '`'], " "))
            .map(|row| row.split_whitespace().take(3).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn documentation_names_the_scope_of_every_route() {
        let right = |right| match right {
            RouteRight::Scope(scope) => scope.word(),
            RouteRight::Local => "local",
            RouteRight::Signed => "signed",
        };
        let table = super::super::table();
        let entries = table.entries().iter();
        let declared: BTreeSet<String> =
            entries.map(|it| format!("{} {} {}", it.method, it.path, right(it.right))).collect();
        assert_eq!(declared, documented());
    }
}
