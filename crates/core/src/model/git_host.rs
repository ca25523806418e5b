//! The host of a git server.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The host of a git server that is reached by HTTP: in lower case, with the port if it is not the
/// default port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GitHost(String);

impl GitHost {
    /// Parses a host such as `git.example.org`, `git.example.org:8443` or `[::1]:8080`. The default
    /// port of HTTPS is left out.
    pub fn parse(text: &str) -> Result<Self> {
        Self::of_scheme("https", text)
    }

    /// Parses the host of a URL with this scheme. The default port of the scheme is left out.
    pub fn of_scheme(scheme: &str, text: &str) -> Result<Self> {
        let host = super::repository::canonical_host(scheme, text);
        let (name, port) = split(&host);
        match is_name(name) && port.is_none_or(is_port) {
            true => Ok(Self(host)),
            false => Err(Error::usage(format!("`{}` is not a host", text.escape_debug()))
                .hint("use a host such as `git.example.org` or `git.example.org:8443`")),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the host is this machine.
    pub fn is_loopback(&self) -> bool {
        let (name, _) = split(&self.0);
        match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
            Some(address) => address.parse().is_ok_and(|address: Ipv6Addr| address.is_loopback()),
            None => {
                let is_loopback = |address: Ipv4Addr| address.is_loopback();
                name == "localhost" || name.parse().is_ok_and(is_loopback)
            }
        }
    }
}

/// Splits a host into its name and its port.
fn split(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        // The colons of an IPv6 address are inside brackets.
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    }
}

fn is_name(name: &str) -> bool {
    if let Some(address) = name.strip_prefix('[') {
        let address = address.strip_suffix(']');
        return address.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    !name.is_empty() && !name.starts_with(['-', '.']) && name.bytes().all(is_plain)
}

fn is_port(port: &str) -> bool {
    port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse().is_ok_and(|port: u16| port > 0)
}

impl fmt::Display for GitHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for GitHost {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        Self::parse(&text)
    }
}

impl From<GitHost> for String {
    fn from(host: GitHost) -> Self {
        host.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_compared_without_case_and_without_the_default_port() {
        let table = [
            ("https", "Git.Example.org", "git.example.org"),
            ("https", "git.example.org:443", "git.example.org"),
            ("https", "git.example.org:80", "git.example.org:80"),
            ("http", "127.0.0.1:80", "127.0.0.1"),
            ("http", "127.0.0.1:443", "127.0.0.1:443"),
            ("https", "[::1]:8443", "[::1]:8443"),
            ("https", "[::1]", "[::1]"),
        ];
        for (scheme, text, expected) in table {
            assert_eq!(GitHost::of_scheme(scheme, text).unwrap().as_str(), expected, "{text}");
        }
    }

    #[test]
    fn text_that_is_not_exactly_a_host_is_refused() {
        for text in [
            "",
            ".",
            "-x",
            ":443",
            "a:",
            "a:0",
            "a:+1",
            "a:65536",
            "a:1:2",
            "a b",
            "a/b",
            "a@b",
            "a%2eb",
            "a'b",
            "a\nb",
            "[::1",
            "::1",
            "[x]",
            "[::1]x",
            "höst",
            "https://a",
        ] {
            assert!(GitHost::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn only_addresses_of_this_machine_are_loopback() {
        for text in ["localhost", "LOCALHOST:3000", "127.0.0.1", "127.9.9.9:1", "[::1]:8080"] {
            assert!(GitHost::parse(text).unwrap().is_loopback(), "{text}");
        }
        for text in
            ["localhost.example.org", "127.0.0.1.example.org", "127.1", "10.0.0.1", "[::2]", "0"]
        {
            assert!(!GitHost::parse(text).unwrap().is_loopback(), "{text}");
        }
    }
}
