//! Git repositories: how they are identified, and where their objects come from.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::GitHost;
use crate::error::{Error, Result};

/// The schemes of URLs that Segue passes to git. Git knows other transports, such as `ext::`, which
/// run a program that the URL names.
const SCHEMES: [&str; 5] = ["https", "http", "ssh", "git", "file"];

/// Identifies a repository: its canonical URL or, without a remote, the path of its main folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RepositoryId(String);

impl RepositoryId {
    /// Identifies a repository without a remote.
    pub fn of_folder(folder: &Path) -> Self {
        Self(folder.display().to_string())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RepositoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where the objects of a repository come from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepositorySource {
    /// The user's own repository: a folder in its main worktree or in one of its linked worktrees.
    Folder(PathBuf),
    /// A repository that is known by URL. Segue has one shared clone of it.
    Url(RepositoryUrl),
}

impl fmt::Display for RepositorySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "{}", folder.display()),
            Self::Url(url) => write!(f, "{url}"),
        }
    }
}

/// The URL of a repository, as git gets it. It has no credentials.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepositoryUrl {
    text: String,
    parts: UrlParts,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct UrlParts {
    scheme: String,
    user: Option<String>,
    /// In lower case, with the port if it is not the default port of the scheme.
    host: String,
    /// Without the leading slash.
    path: String,
}

impl RepositoryUrl {
    /// Parses a URL such as `https://host/team/app.git` or `git@host:team/app`. Rejects URLs with
    /// credentials and transports that run programs.
    pub fn parse(text: &str) -> Result<Self> {
        let (parts, secret) = split(text)?;
        if secret.is_some() {
            // The text is not part of the error: it may contain a token.
            let host = &parts.host;
            return Err(Error::usage(format!(
                "the URL of a repository on `{host}` has credentials"
            ))
            .caused_by("Segue stores no credentials, and URLs are stored")
            .hint("use the URL without the part before `@`, and without `?` and `#`"));
        }
        Ok(Self { text: text.to_owned(), parts })
    }

    /// Parses the URL of a remote of the user's own repository. Removes credentials.
    pub fn without_credentials(text: &str) -> Result<Self> {
        let (parts, secret) = split(text)?;
        match secret {
            None => Ok(Self { text: text.to_owned(), parts }),
            Some(_) => Ok(Self { text: parts.to_string(), parts }),
        }
    }

    /// Returns the URL as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the identity of the repository. Different spellings of a URL have the same identity:
    /// upper case in the host, a default port, a trailing `/` or `.git`, `git@host:path`.
    pub fn id(&self) -> RepositoryId {
        RepositoryId(self.parts.to_string())
    }

    /// Returns the host, with the port if it is not the default port. Empty for `file:` URLs.
    pub fn host(&self) -> &str {
        &self.parts.host
    }

    /// Returns the host of a server that is reached by HTTP. Git asks for a user name and a password
    /// only there. `None` for other schemes.
    pub fn http_host(&self) -> Option<GitHost> {
        let UrlParts { scheme, host, .. } = &self.parts;
        GitHost::of_scheme(scheme, host).ok().filter(|_| scheme.starts_with("http"))
    }

    pub fn scheme(&self) -> &str {
        &self.parts.scheme
    }

    /// Returns the path without slashes around it and without `.git`, as forges name repositories.
    pub fn path_name(&self) -> &str {
        let path = self.parts.path.trim_matches('/');
        path.strip_suffix(".git").unwrap_or(path)
    }

    /// Returns the last component of the path, for display and for names of folders.
    pub fn name(&self) -> &str {
        let last = self.parts.path.rsplit('/').next().unwrap_or_default();
        last.strip_suffix(".git").unwrap_or(last)
    }
}

impl fmt::Display for RepositoryUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for RepositoryUrl {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        Self::parse(&text)
    }
}

impl From<RepositoryUrl> for String {
    fn from(url: RepositoryUrl) -> Self {
        url.text
    }
}

impl fmt::Display for UrlParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = self.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
        write!(f, "{}://{user}{}/{}", self.scheme, self.host, self.path)
    }
}

/// A part of a URL that may be a secret. It is never shown.
struct UrlSecret;

fn split(text: &str) -> Result<(UrlParts, Option<UrlSecret>)> {
    if text.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Err(unusable("it contains spaces or control characters"));
    }
    match text.split_once("://") {
        Some((scheme, rest)) => split_url(&scheme.to_ascii_lowercase(), rest),
        None => split_scp(text),
    }
}

fn split_url(scheme: &str, rest: &str) -> Result<(UrlParts, Option<UrlSecret>)> {
    if !SCHEMES.contains(&scheme) {
        return Err(unusable(format!("`{scheme}` is not one of {}", SCHEMES.join(", "))));
    }
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (user_info, host) = match authority.rsplit_once('@') {
        Some((user_info, host)) => (Some(user_info), host),
        None => (None, authority),
    };
    let path_end = path.find(['?', '#']).unwrap_or(path.len());
    let has_password = user_info.is_some_and(|it| scheme != "ssh" || it.contains(':'));
    let is_web = scheme.starts_with("http");
    let has_query = is_web && path_end < path.len();
    let secret = (has_password || has_query).then_some(UrlSecret);
    let user = user_info.filter(|_| scheme == "ssh").and_then(|it| it.split(':').next());
    let path = if is_web { &path[..path_end] } else { path };
    let parts = UrlParts {
        scheme: scheme.to_owned(),
        user: user.map(str::to_owned),
        host: canonical_host(scheme, host),
        path: canonical_path(scheme, path),
    };
    Ok((checked(parts)?, secret))
}

/// Splits the form `user@host:path`, which means ssh.
fn split_scp(text: &str) -> Result<(UrlParts, Option<UrlSecret>)> {
    let Some((place, path)) = text.split_once(':').filter(|(place, _)| !place.contains('/')) else {
        return Err(unusable("it has no scheme such as `https://`")
            .hint("for a folder on this machine, use `file:///path`"));
    };
    if path.starts_with(':') {
        return Err(unusable(format!("`{place}::` is not one of {}", SCHEMES.join(", "))));
    }
    let (user, host) = match place.rsplit_once('@') {
        Some((user, host)) => (Some(user.to_owned()), host),
        None => (None, place),
    };
    // The path is relative to the home folder. Servers with a user `git` know no home folders.
    let is_forge = user.as_deref() == Some("git");
    let home = if is_forge || path.starts_with('/') { "" } else { "~/" };
    let parts = UrlParts {
        scheme: "ssh".to_owned(),
        user,
        host: canonical_host("ssh", host),
        path: format!("{home}{}", canonical_path("ssh", path)),
    };
    Ok((checked(parts)?, None))
}

fn checked(parts: UrlParts) -> Result<UrlParts> {
    // A program such as ssh would take a host that begins with a dash for an option.
    let is_option = |text: &str| text.starts_with('-');
    if is_option(&parts.host) || parts.user.as_deref().is_some_and(is_option) {
        return Err(unusable("its host or user begins with `-`"));
    }
    if parts.host.is_empty() && parts.scheme != "file" {
        return Err(unusable("it has no host"));
    }
    if parts.path.is_empty() {
        return Err(unusable("it has no path"));
    }
    Ok(parts)
}

pub(super) fn canonical_host(scheme: &str, host: &str) -> String {
    let default = match scheme {
        "https" => ":443",
        "http" => ":80",
        "ssh" => ":22",
        "git" => ":9418",
        _ => "",
    };
    let host = host.to_ascii_lowercase();
    host.strip_suffix(default).map(str::to_owned).unwrap_or(host)
}

fn canonical_path(scheme: &str, path: &str) -> String {
    let path = path.trim_start_matches('/').trim_end_matches('/');
    // On a disk, `app` and `app.git` are two folders.
    let stripped = path.strip_suffix(".git").filter(|_| scheme != "file");
    stripped.unwrap_or(path).to_owned()
}

/// The text is not part of the error: it may contain a token.
fn unusable(why: impl fmt::Display) -> Error {
    Error::usage("this URL cannot be the URL of a repository").caused_by(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> String {
        RepositoryUrl::parse(text).unwrap().id().to_string()
    }

    #[test]
    fn spellings_of_one_url_have_the_same_id() {
        let table = [
            ("https://Git.Example.org/Team/app.git", "https://git.example.org/Team/app"),
            ("https://git.example.org:443/Team/app/", "https://git.example.org/Team/app"),
            ("http://127.0.0.1:3000/a/b", "http://127.0.0.1:3000/a/b"),
            ("http://[::1]:3000/a/b", "http://[::1]:3000/a/b"),
            ("git@example.org:team/app.git", "ssh://git@example.org/team/app"),
            ("ssh://git@example.org:22/team/app", "ssh://git@example.org/team/app"),
            ("ssh://git@example.org:2222/team/app", "ssh://git@example.org:2222/team/app"),
            ("me@example.org:app", "ssh://me@example.org/~/app"),
            ("example.org:/srv/app.git", "ssh://example.org/srv/app"),
            ("file:///srv/app.git", "file:///srv/app.git"),
            ("file:///srv/app", "file:///srv/app"),
        ];
        for (text, wanted) in table {
            assert_eq!(id(text), wanted, "{text}");
            assert_eq!(RepositoryUrl::parse(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn urls_with_credentials_are_refused_without_showing_them() {
        for text in [
            "https://s3cret@example.org/a/b",
            "https://me:s3cret@example.org/a/b",
            "http://me:s3cret@127.0.0.1:80/a",
            "ssh://git:s3cret@example.org/a",
            "https://example.org/a/b?token=s3cret",
            "https://example.org/a/b#s3cret",
        ] {
            let error = RepositoryUrl::parse(text).unwrap_err();
            assert!(!error.in_one_line().contains("s3cret"), "{error}");
            let stripped = RepositoryUrl::without_credentials(text).unwrap();
            assert!(!stripped.as_str().contains("s3cret"), "{stripped}");
            assert!(RepositoryUrl::parse(stripped.as_str()).is_ok(), "{stripped}");
        }
    }

    #[test]
    fn transports_that_run_programs_and_options_are_refused() {
        for text in [
            "ext::sh -c whoami",
            "ext::whoami",
            "fd::17",
            "transport::https://example.org/a",
            "--upload-pack=whoami",
            "-oProxyCommand=whoami:a",
            "ssh://-oProxyCommand=whoami/a",
            "ssh://-x@example.org/a",
            "/srv/app",
            "app",
            "",
            "https://",
            "https://example.org",
            "https://example.org/",
            "https:///a",
            "ftp://example.org/a",
            "https://example.org/a b",
            "https://example.org/a\nb",
        ] {
            assert!(RepositoryUrl::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn only_servers_that_are_reached_by_http_have_a_host_for_credentials() {
        let table = [
            ("https://Git.example.org:443/app", Some("git.example.org")),
            ("http://127.0.0.1:8080/app.git", Some("127.0.0.1:8080")),
            ("git@git.example.org:team/app", None),
            ("ssh://git.example.org/app", None),
            ("git://git.example.org/app", None),
            ("file:///srv/app", None),
        ];
        for (text, host) in table {
            let found = RepositoryUrl::parse(text).unwrap().http_host();
            assert_eq!(found.as_ref().map(GitHost::as_str), host, "{text}");
        }
    }

    #[test]
    fn name_is_the_last_component_of_the_path() {
        let name = |text: &str| RepositoryUrl::parse(text).unwrap().name().to_owned();
        assert_eq!(name("git@example.org:team/app.git"), "app");
        assert_eq!(name("file:///srv/tool.git"), "tool");
    }

    #[test]
    fn a_stored_url_with_credentials_is_not_read() {
        let json = serde_json::to_string(&RepositoryUrl::parse("https://h/a").unwrap()).unwrap();
        assert_eq!(json, "\"https://h/a\"");
        assert!(serde_json::from_str::<RepositoryUrl>(&json).is_ok());
        assert!(serde_json::from_str::<RepositoryUrl>("\"https://t@h/a\"").is_err());
    }
}
