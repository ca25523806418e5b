//! The list of all routes. Each route is declared once, with the right that its caller needs. One
//! guard checks the rights of all of them, so that no route can be forgotten, and the OpenAPI document
//! has all of them.

use std::sync::Arc;

use axum::Router;
use axum::handler::Handler;
use axum::http::Method;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodFilter, on};
use segue_core::model::TokenScope;
use segue_core::rules::scope::RouteRight;

use super::description::{DescribedRoute, OperationDraft};
use super::{App, etag, guard, limits};

/// What is known about a route without calling it.
#[derive(Clone, Debug)]
pub(crate) struct RouteEntry {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) right: RouteRight,
    /// Whether the route shows nothing but the sessions that its caller may reach.
    pub(crate) is_shareable: bool,
    pub(crate) environment: EnvironmentPlace,
    pub(crate) about: RouteSummary,
    /// The group of the route in the documentation.
    pub(crate) tag: &'static str,
    /// Describes what the route reads and answers.
    pub(crate) describe: fn(&mut OperationDraft<'_>),
}

impl RouteEntry {
    /// Returns the methods that the route answers.
    pub(crate) fn methods(&self) -> &'static [&'static str] {
        match self.method {
            Method::GET => &["GET", "HEAD"],
            Method::DELETE => &["DELETE"],
            _ => &["POST"],
        }
    }

    /// Returns the word for the right that the caller needs.
    pub(crate) fn scope_word(&self) -> &'static str {
        match self.right {
            RouteRight::Scope(scope) => scope.word(),
            RouteRight::Local => "local",
            RouteRight::Signed => "signed",
            RouteRight::Public => "public",
            RouteRight::Browser => "browser",
        }
    }
}

/// A route in the documentation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RouteSummary {
    /// The name of the operation, unique among all routes. Generated clients have a function of
    /// this name.
    pub(crate) id: &'static str,
    /// What the route does, in one sentence without a full stop.
    pub(crate) summary: &'static str,
}

/// Names a route and says what it does.
pub(crate) fn does(id: &'static str, summary: &'static str) -> RouteSummary {
    RouteSummary { id, summary }
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
    tag: &'static str,
}

impl RouteTable {
    /// Begins a group of routes.
    pub(crate) fn group(self, tag: &'static str) -> Self {
        Self { tag, ..self }
    }

    /// Adds a route that only reads.
    pub(crate) fn get<H, T, I>(
        self,
        path: &'static str,
        scope: TokenScope,
        about: RouteSummary,
        handler: H,
    ) -> Self
    where
        H: Handler<T, App> + DescribedRoute<I>,
        T: 'static,
    {
        self.add((Method::GET, path), RouteRight::Scope(scope), about, handler)
    }

    pub(crate) fn post<H, T, I>(
        self,
        path: &'static str,
        scope: TokenScope,
        about: RouteSummary,
        handler: H,
    ) -> Self
    where
        H: Handler<T, App> + DescribedRoute<I>,
        T: 'static,
    {
        self.add((Method::POST, path), RouteRight::Scope(scope), about, handler)
    }

    pub(crate) fn delete<H, T, I>(
        self,
        path: &'static str,
        scope: TokenScope,
        about: RouteSummary,
        handler: H,
    ) -> Self
    where
        H: Handler<T, App> + DescribedRoute<I>,
        T: 'static,
    {
        self.add((Method::DELETE, path), RouteRight::Scope(scope), about, handler)
    }

    /// Adds a route whose request has the environment of its caller.
    pub(crate) fn start<H, T, I>(
        self,
        path: &'static str,
        (scope, environment): (TokenScope, EnvironmentPlace),
        about: RouteSummary,
        handler: H,
    ) -> Self
    where
        H: Handler<T, App> + DescribedRoute<I>,
        T: 'static,
    {
        let mut table = self.add((Method::POST, path), RouteRight::Scope(scope), about, handler);
        if let Some(entry) = table.entries.last_mut() {
            entry.environment = environment;
        }
        table
    }

    /// Adds a route for processes on this machine.
    pub(crate) fn local<H, T, I>(
        self,
        method: Method,
        path: &'static str,
        about: RouteSummary,
        handler: H,
    ) -> Self
    where
        H: Handler<T, App> + DescribedRoute<I>,
        T: 'static,
    {
        self.add((method, path), RouteRight::Local, about, handler)
    }

    /// Adds a route that checks by itself who has sent a request.
    pub(crate) fn signed<H, T, I>(self, path: &'static str, about: RouteSummary, handler: H) -> Self
    where
        H: Handler<T, App> + DescribedRoute<I>,
        T: 'static,
    {
        self.add((Method::POST, path), RouteRight::Signed, about, handler)
    }

    /// Adds a route that everybody may use.
    pub(crate) fn public<H, T, I>(self, path: &'static str, about: RouteSummary, handler: H) -> Self
    where
        H: Handler<T, App> + DescribedRoute<I>,
        T: 'static,
    {
        self.add((Method::POST, path), RouteRight::Public, about, handler)
    }

    /// Adds a route about the login of the calling browser.
    pub(crate) fn browser<H, T, I>(
        self,
        method: Method,
        path: &'static str,
        about: RouteSummary,
        handler: H,
    ) -> Self
    where
        H: Handler<T, App> + DescribedRoute<I>,
        T: 'static,
    {
        self.add((method, path), RouteRight::Browser, about, handler)
    }

    /// Allows the last route to the guests of one session. The route itself, or the session in its
    /// path, limits what they see.
    pub(crate) fn shareable(mut self) -> Self {
        if let Some(entry) = self.entries.last_mut() {
            entry.is_shareable = true;
        }
        self
    }

    fn add<H, T, I>(
        mut self,
        (method, path): (Method, &'static str),
        right: RouteRight,
        about: RouteSummary,
        handler: H,
    ) -> Self
    where
        H: Handler<T, App> + DescribedRoute<I>,
        T: 'static,
    {
        let filter = match method {
            Method::GET => MethodFilter::GET,
            Method::DELETE => MethodFilter::DELETE,
            _ => MethodFilter::POST,
        };
        self.router = self.router.route(path, on(filter, handler));
        let (environment, tag, describe) = (EnvironmentPlace::Nowhere, self.tag, H::describe);
        let is_shareable = false;
        self.entries.push(RouteEntry {
            method,
            path,
            right,
            is_shareable,
            environment,
            about,
            tag,
            describe,
        });
        self
    }

    /// Returns all routes.
    pub(crate) fn entries(&self) -> &[RouteEntry] {
        &self.entries
    }

    /// Returns the routes behind their guard. The guard comes first: the body of a request is read
    /// only if its sender may use the route.
    pub(crate) fn into_router(self, app: App) -> Router<App> {
        let state = (Arc::clone(&app), Arc::from(self.entries));
        self.router
            .route_layer(from_fn(etag::tagged))
            .route_layer(from_fn_with_state(Arc::clone(&app), guard::set_environment))
            .route_layer(from_fn_with_state(app, limits::bounded))
            .route_layer(from_fn_with_state(state, guard::check_route))
    }
}

/// Returns the rows of the table of routes in `docs/http.md`.
pub(crate) fn documentation_rows(entries: &[RouteEntry]) -> Vec<String> {
    let row = |it: &RouteEntry| {
        let (method, path, scope) = (&it.method, it.path, it.scope_word());
        format!("| `{method}` | `{path}` | `{scope}` | {} |", it.about.summary)
    };
    entries.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_has_every_route_with_its_scope_and_summary() {
        let page = include_str!("../../../../docs/http.md");
        let is_row = |line: &&str| line.starts_with("| `") && line.contains("| `/");
        let documented: Vec<&str> = page.lines().filter(is_row).collect();
        let declared = documentation_rows(super::super::declarations::table().entries());
        assert_eq!(documented, declared, "run `make docs`");
    }
}
