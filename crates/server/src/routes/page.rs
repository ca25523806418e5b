//! The files of the web page. They contain nothing of the user, so that they need no right.

use axum::Router;
use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName,
    REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::map_response;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use segue_web::Asset;

use super::problem::{unknown_path, wrong_method};
use super::{App, etag};

/// The paths that the page shows views for. All of them are answered with the same document.
const VIEW_PATHS: [&str; 10] = [
    "/login",
    "/share",
    "/inbox",
    "/sessions",
    "/tasks",
    "/plans",
    "/deliveries",
    "/usage",
    "/worktrees",
    "/settings",
];

/// The paths of the other files.
const FILE_PATHS: [&str; 4] =
    ["/assets/{*name}", "/manifest.webmanifest", "/service-worker.js", "/icon.svg"];

/// The page runs no code but its own, and loads nothing from other servers.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; \
    worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The features of a browser that the page does not use.
const CLOSED_FEATURES: &str = "accelerometer=(), autoplay=(), bluetooth=(), camera=(), \
    display-capture=(), encrypted-media=(), geolocation=(), gyroscope=(), hid=(), \
    idle-detection=(), magnetometer=(), microphone=(), midi=(), payment=(), \
    publickey-credentials-get=(), screen-wake-lock=(), serial=(), usb=(), xr-spatial-tracking=()";

/// The headers of every answer of the page.
const HEADERS: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), CLOSED_FEATURES),
];

/// A file with a digest in its name never changes.
const FOREVER: &str = "public, max-age=31536000, immutable";

/// A browser asks each time whether a file has changed.
const ASK_AGAIN: &str = "no-cache";

/// Returns the routes of the page.
pub(super) fn router() -> Router<App> {
    let document = || get(document).fallback(wrong_page_method);
    let mut router = Router::new().route("/", document());
    for path in VIEW_PATHS {
        router = router.route(path, document()).route(&format!("{path}/{{*rest}}"), document());
    }
    for path in FILE_PATHS {
        router = router.route(path, get(file).fallback(wrong_page_method));
    }
    router.layer(map_response(with_headers))
}

async fn document(headers: HeaderMap) -> Response {
    answer(segue_web::index(), &headers)
}

async fn file(uri: Uri, headers: HeaderMap, request: axum::extract::Request) -> Response {
    match segue_web::asset(uri.path()) {
        Some(asset) => answer(asset, &headers),
        None => unknown_path(request).await.into_response(),
    }
}

async fn wrong_page_method() -> Response {
    wrong_method("GET, HEAD")
}

fn answer(asset: &'static Asset, headers: &HeaderMap) -> Response {
    let tag = HeaderValue::from_static(asset.etag);
    let is_known = etag::is_known(&tag, headers);
    let status = if is_known { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
    let mut response = (status, [(ETAG, tag)]).into_response();
    let caching = if asset.is_immutable { FOREVER } else { ASK_AGAIN };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(caching));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if !is_known {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        *response.body_mut() = Body::from(asset.gzip);
    }
    response
}

async fn with_headers(mut response: Response) -> Response {
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
