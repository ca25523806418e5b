//! The URL of an API.

use reqwest::Url;
use segue_core::model::GitHost;
use segue_core::{Error, Result};

/// The URL of an API that may get a token.
#[derive(Debug)]
pub(crate) struct ApiBase {
    pub(crate) url: Url,
    pub(crate) is_loopback: bool,
}

impl ApiBase {
    /// Parses the URL of a server or of its API, and adds `suffix` unless the URL ends with it.
    pub(crate) fn parse(text: &str, suffix: &str) -> Result<Self> {
        let invalid = |reason: &str| {
            // The URL is not shown: it may contain a password.
            Error::config("the `api` of the source cannot be used")
                .caused_by(reason)
                .hint("use a URL such as `https://git.example.org`")
        };
        let mut url = Url::parse(text).map_err(|_| invalid("it is not a URL"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("it contains a user name or a password"));
        }
        if url.query().is_some() || url.fragment().is_some() || !url.has_host() {
            return Err(invalid("it has a query or a fragment, or no host"));
        }
        let is_loopback = is_loopback(&url);
        match url.scheme() {
            "https" => {}
            "http" if is_loopback => {}
            _ => return Err(invalid("only `https` is allowed, except for this machine")),
        }
        let path = url.path().trim_end_matches('/').to_owned();
        let path = if path.ends_with(suffix) { path } else { format!("{path}{suffix}") };
        url.set_path(&path);
        Ok(Self { url, is_loopback })
    }
}

/// Returns whether both URLs have the same scheme, host and port.
pub(crate) fn is_same_origin(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin()
}

/// Returns whether the host of a URL is this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    url.host_str().and_then(|host| GitHost::parse(host).ok()).is_some_and(|it| it.is_loopback())
}

/// Returns the host of a URL for an error.
pub(crate) fn shown_host(url: &Url) -> String {
    url.host_str().unwrap_or_default().chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffix_of_the_api_is_added_once() {
        let table = [
            ("https://git.example.org", "/api/v1", "https://git.example.org/api/v1"),
            ("https://git.example.org/", "/api/v1", "https://git.example.org/api/v1"),
            ("https://git.example.org/api/v1/", "/api/v1", "https://git.example.org/api/v1"),
            ("https://example.org/git", "/api/v4", "https://example.org/git/api/v4"),
            ("https://api.example.org", "", "https://api.example.org/"),
            ("http://127.0.0.1:3000", "/api/v1", "http://127.0.0.1:3000/api/v1"),
            ("http://[::1]:3000", "/api/v1", "http://[::1]:3000/api/v1"),
        ];
        for (text, suffix, expected) in table {
            assert_eq!(ApiBase::parse(text, suffix).unwrap().url.as_str(), expected, "{text}");
        }
    }

    #[test]
    fn url_without_tls_or_with_a_password_is_refused_and_not_shown() {
        for text in [
            "",
            "git.example.org",
            "http://git.example.org",
            "ftp://git.example.org",
            "https://user:hush@git.example.org",
            "https://hush@git.example.org",
            "https://git.example.org?token=hush",
            "https://git.example.org#hush",
            "file:///etc",
        ] {
            let error = ApiBase::parse(text, "").unwrap_err();
            assert!(!format!("{error:?}").contains("hush"), "{error:?}");
        }
    }
}
