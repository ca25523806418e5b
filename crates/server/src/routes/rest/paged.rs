//! A page of a list, with a link to the next one (RFC 8288).

use axum::Json;
use axum::http::header::LINK;
use axum::http::{HeaderValue, Uri};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::super::description::{DescribedAnswer, OperationDraft};

/// A page, and the URL of the next one.
#[derive(Debug)]
pub(crate) struct PageAnswer<T> {
    page: T,
    next: Option<HeaderValue>,
}

impl<T> PageAnswer<T> {
    /// Creates a page. `parameter` is the name of the query parameter that has the cursor.
    pub(super) fn new(page: T, uri: &Uri, parameter: &str, next: Option<&str>) -> Self {
        let next = next.and_then(|cursor| link(uri, parameter, cursor));
        Self { page, next }
    }
}

/// Returns the link to a page: the URL of the request with another cursor.
fn link(uri: &Uri, parameter: &str, cursor: &str) -> Option<HeaderValue> {
    let query = uri.query().unwrap_or_default();
    let mut parameters: Vec<(String, String)> = serde_urlencoded::from_str(query).ok()?;
    parameters.retain(|(name, _)| name != parameter);
    parameters.push((parameter.to_owned(), cursor.to_owned()));
    let query = serde_urlencoded::to_string(parameters).ok()?;
    HeaderValue::try_from(format!("<{}?{query}>; rel=\"next\"", uri.path())).ok()
}

impl<T: Serialize> IntoResponse for PageAnswer<T> {
    fn into_response(self) -> Response {
        let mut response = Json(self.page).into_response();
        if let Some(next) = self.next {
            response.headers_mut().insert(LINK, next);
        }
        response
    }
}

impl<T: JsonSchema> DescribedAnswer for PageAnswer<T> {
    fn describe(draft: &mut OperationDraft<'_>) {
        Json::<T>::describe(draft);
        let header = json!({
            "description": "The URL of the next page, with `rel=\"next\"`",
            "schema": { "type": "string" },
        });
        if let Some(response) = draft.responses.get_mut("200") {
            response["headers"] = json!({ "Link": header });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_keeps_the_filters_and_replaces_the_cursor() {
        let uri: Uri = "/v1/sessions?fleet=a%26b&cursor=1.2&limit=5".parse().unwrap();
        let page = PageAnswer::new((), &uri, "cursor", Some("3.4"));
        let expected = "</v1/sessions?fleet=a%26b&limit=5&cursor=3.4>; rel=\"next\"";
        assert_eq!(page.next.unwrap(), expected);
        assert!(PageAnswer::new((), &uri, "cursor", None).next.is_none());
    }
}
