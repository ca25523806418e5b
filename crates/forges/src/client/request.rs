//! A request to an API.

use reqwest::{Method, Url};
use segue_core::model::RepositoryAddress;

/// A request to an API, without its server.
#[derive(Debug)]
pub(crate) struct ApiRequest {
    /// The object of the request, for errors.
    pub(crate) object: String,
    path: Vec<String>,
    query: Vec<(&'static str, String)>,
    /// The JSON of a request that writes.
    pub(crate) body: Option<String>,
    pub(crate) etag: Option<String>,
    /// Whether a redirect to another server is followed, without the token.
    pub(crate) may_leave: bool,
}

impl ApiRequest {
    /// Creates a request that reads. `path` is split at slashes.
    pub(crate) fn get(path: &str, object: impl Into<String>) -> Self {
        Self {
            object: object.into(),
            path: path.split('/').map(str::to_owned).collect(),
            query: Vec::new(),
            body: None,
            etag: None,
            may_leave: false,
        }
    }

    /// Adds a part to the path. A slash in it is encoded.
    #[must_use]
    pub(crate) fn below(mut self, part: &str) -> Self {
        self.path.push(part.to_owned());
        self
    }

    /// Creates a request that writes JSON.
    pub(crate) fn post(path: &str, object: impl Into<String>, body: &serde_json::Value) -> Self {
        Self { body: Some(body.to_string()), ..Self::get(path, object) }
    }

    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.query.push((name, value.to_owned()));
        self
    }

    /// Adds a parameter if there is a value.
    #[must_use]
    pub(crate) fn with_optional(self, name: &'static str, value: Option<String>) -> Self {
        match value {
            Some(value) => self.with(name, &value),
            None => self,
        }
    }

    #[must_use]
    pub(crate) fn with_etag(self, etag: Option<String>) -> Self {
        Self { etag, ..self }
    }

    #[must_use]
    pub(crate) fn leaving(self) -> Self {
        Self { may_leave: true, ..self }
    }

    /// Returns the same request for another page.
    pub(crate) fn page(&self, page: u32) -> Self {
        let mut query: Vec<_> =
            self.query.iter().filter(|(name, _)| *name != "page").cloned().collect();
        query.push(("page", page.to_string()));
        let (object, path) = (self.object.clone(), self.path.clone());
        Self { object, path, query, body: None, etag: None, may_leave: self.may_leave }
    }

    pub(super) fn method(&self) -> Method {
        if self.body.is_some() { Method::POST } else { Method::GET }
    }

    /// Returns the URL of the request. `None` if a part of the path could change its meaning.
    pub(super) fn url(&self, base: &Url) -> Option<Url> {
        let is_misleading = |part: &String| matches!(part.as_str(), "" | "." | "..");
        if self.path.iter().any(is_misleading) {
            return None;
        }
        let mut url = base.clone();
        url.path_segments_mut().ok()?.pop_if_empty().extend(&self.path);
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.query);
        }
        Some(url)
    }
}

/// Returns the path of a repository that is found by its name.
pub(crate) fn repository_path(repository: &RepositoryAddress) -> String {
    format!("repos/{}", repository.full_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_path_are_encoded_and_cannot_leave_it() {
        let base = Url::parse("https://git.example.org/api/v1").unwrap();
        let url = |path: &str| ApiRequest::get(path, "x").url(&base).map(String::from);
        assert_eq!(
            url("repos/team/a?b#c d%2e").as_deref(),
            Some("https://git.example.org/api/v1/repos/team/a%3Fb%23c%20d%252e")
        );
        for path in ["repos/../admin", "repos/./x", "repos//x", ""] {
            assert_eq!(url(path), None, "{path}");
        }
        let request = ApiRequest::get("issues", "x").with("since", "a&b=c").page(2).page(3);
        assert_eq!(
            request.url(&base).unwrap().as_str(),
            "https://git.example.org/api/v1/issues?since=a%26b%3Dc&page=3"
        );
    }
}
