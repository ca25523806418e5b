//! Where the daemon may listen, and which requests from a network it may read.

use std::net::IpAddr;

use crate::error::{Error, Kind, Result};
use crate::model::{ListenSettings, Transport};

/// The name of this machine on its loopback interface.
const LOOPBACK_NAME: &str = "localhost";

/// The longest name of a host.
const MAX_HOST_BYTES: usize = 253;

/// Checks that no machine between a client and the daemon can read the tokens.
pub fn check(settings: &ListenSettings) -> Result<()> {
    let ip = settings.address.ip();
    if settings.transport == Transport::Plain && !ip.is_loopback() {
        return Err(Error::usage(format!("`{ip}` can be reached from other machines"))
            .caused_by("without TLS, tokens and conversations could be read on their way")
            .hint("add `--tls-cert FILE --tls-key FILE`")
            .hint("or `--behind-proxy`, if a proxy in front of it speaks TLS")
            .hint("or listen on this machine only: `segue serve --listen 127.0.0.1:4747`"));
    }
    settings.hosts.iter().try_for_each(|host| check_host(host))
}

fn check_host(host: &str) -> Result<()> {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-".contains(c);
    if (1..=MAX_HOST_BYTES).contains(&host.len()) && host.chars().all(is_allowed) {
        return Ok(());
    }
    Err(Error::usage(format!("`{}` is not the name of a host", host.escape_debug()))
        .hint("use a name without scheme and port, such as `--host agents.example.org`"))
}

/// Checks the headers that a browser sends on behalf of a page. A page of another site must not
/// reach the daemon: neither with its own name for this address (`Host`), nor directly (`Origin`).
///
/// `local` is the address at which the connection arrived.
pub fn check_site(
    settings: &ListenSettings,
    local: IpAddr,
    host: Option<&str>,
    origin: Option<&str>,
) -> Result<()> {
    let Some(host) = host else {
        return Err(Error::usage("the request has no header `Host`"));
    };
    if !is_known_host(settings, local, host) {
        return Err(forbidden(format!("`{}` is not a name of this server", host.escape_debug()))
            .hint("run `segue serve --host NAME` to allow another name"));
    }
    match origin {
        Some(origin) if !is_same_site(origin, host) => {
            let shown = origin.escape_debug();
            Err(forbidden(format!("a page of `{shown}` may not use this server")))
        }
        _ => Ok(()),
    }
}

fn forbidden(message: String) -> Error {
    Error::new(Kind::Forbidden, message)
}

fn is_known_host(settings: &ListenSettings, local: IpAddr, host: &str) -> bool {
    let (name, port) = name_and_port(host);
    // A proxy has a port of its own.
    let is_direct = settings.transport != Transport::Proxy;
    if is_direct && port.is_some_and(|port| port != settings.address.port().to_string()) {
        return false;
    }
    let name = name.to_ascii_lowercase();
    let by_number =
        name.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical() == local.to_canonical());
    let by_loopback = local.to_canonical().is_loopback() && name == LOOPBACK_NAME;
    by_number || by_loopback || settings.hosts.contains(&name)
}

/// The headers by which a browser reports which page made a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageHeaders<'a> {
    pub origin: Option<&'a str>,
    /// `Sec-Fetch-Site`
    pub fetch_site: Option<&'a str>,
}

/// What a request with the cookie of a browser wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageRequest {
    /// To read something. A browser shows the answer to no page of another site.
    Read,
    /// To change something.
    Change,
    /// To open a WebSocket. A browser lets every page do that, with the cookies of the server.
    Connect,
}

/// Checks that a page of this server made a request with the cookie of a browser. A browser sends
/// the cookie also for pages of other servers on the same machine, whose sites differ only by port.
/// The origin itself is checked by [`check_site`].
pub fn check_page(request: PageRequest, headers: PageHeaders<'_>) -> Result<()> {
    let is_of_this_page = match headers.fetch_site {
        Some("same-origin") => request != PageRequest::Connect || headers.origin.is_some(),
        Some(_) => false,
        None => request == PageRequest::Read || headers.origin.is_some(),
    };
    if is_of_this_page {
        return Ok(());
    }
    Err(forbidden("only the page of Segue may use the login of this browser".to_owned())
        .hint("a program needs a token: `segue token create --name NAME --scope SCOPE`"))
}

/// Returns whether a browser may send cookies to this address only over TLS. A proxy speaks TLS.
pub fn has_tls(settings: &ListenSettings) -> bool {
    settings.transport != Transport::Plain
}

/// Returns whether a client may not notice that its connection broke. On loopback, the kernel reports
/// that at once. Over a network a connection can break silently, and a proxy may close one on which
/// nothing is sent.
pub fn can_break_silently(settings: &ListenSettings) -> bool {
    settings.transport != Transport::Plain || !settings.address.ip().is_loopback()
}

/// Returns the URL of the web page, without a path.
pub fn page_url(settings: &ListenSettings) -> String {
    let (ip, port) = (settings.address.ip(), settings.address.port());
    let scheme = if has_tls(settings) { "https" } else { "http" };
    let name = match (settings.hosts.first(), ip) {
        (Some(host), _) => host.clone(),
        (None, IpAddr::V4(ip)) if ip.is_unspecified() => "127.0.0.1".to_owned(),
        (None, IpAddr::V6(ip)) if ip.is_unspecified() => "[::1]".to_owned(),
        (None, IpAddr::V4(ip)) => ip.to_string(),
        (None, IpAddr::V6(ip)) => format!("[{ip}]"),
    };
    // A proxy has a port of its own, usually that of the scheme.
    match settings.transport {
        Transport::Proxy => format!("{scheme}://{name}"),
        Transport::Plain | Transport::Tls { .. } => format!("{scheme}://{name}:{port}"),
    }
}

/// Splits `name:port`. The brackets of an IPv6 address are removed.
fn name_and_port(host: &str) -> (&str, Option<&str>) {
    if let Some((name, rest)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (name, rest.strip_prefix(':'));
    }
    match host.rsplit_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (host, None),
    }
}

/// Returns whether a page of `origin` was loaded from `host`. The scheme is not compared: the
/// daemon does not know what a proxy speaks.
fn is_same_site(origin: &str, host: &str) -> bool {
    let site = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    site.is_some_and(|site| site.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(address: &str, transport: Transport, hosts: &[&str]) -> ListenSettings {
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        ListenSettings { address: address.parse().unwrap(), transport, hosts }
    }

    fn tls() -> Transport {
        Transport::Tls { certificate: "/c.pem".into(), key: "/k.pem".into() }
    }

    #[test]
    fn address_that_other_machines_reach_needs_tls_or_a_proxy() {
        let table = [
            ("127.0.0.1:4747", Transport::Plain, true),
            ("127.8.9.1:4747", Transport::Plain, true),
            ("[::1]:4747", Transport::Plain, true),
            ("0.0.0.0:4747", Transport::Plain, false),
            ("[::]:4747", Transport::Plain, false),
            ("192.0.2.7:4747", Transport::Plain, false),
            ("192.0.2.7:4747", tls(), true),
            ("0.0.0.0:4747", Transport::Proxy, true),
        ];
        for (address, transport, is_allowed) in table {
            let checked = check(&settings(address, transport, &[]));
            assert_eq!(checked.is_ok(), is_allowed, "{address}: {checked:?}");
        }
    }

    #[test]
    fn hosts_are_names_without_scheme_and_port() {
        let with = |host| check(&settings("127.0.0.1:4747", Transport::Plain, &[host]));
        for good in ["agents.example.org", "box-1", "192.0.2.7"] {
            assert!(with(good).is_ok(), "{good}");
        }
        let long = "x".repeat(254);
        for bad in ["", "Agents", "https://a", "a:1", "a/b", "a b", "ä", "*", &long] {
            assert!(with(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn host_header_must_name_this_server() {
        let table = [
            ("127.0.0.1:4747", "127.0.0.1", "127.0.0.1:4747", true),
            ("127.0.0.1:4747", "127.0.0.1", "LocalHost:4747", true),
            ("127.0.0.1:4747", "127.0.0.1", "localhost", true),
            ("127.0.0.1:4747", "127.0.0.1", "agents.example.org:4747", true),
            ("127.0.0.1:4747", "127.0.0.1", "localhost:4748", false),
            ("127.0.0.1:4747", "127.0.0.1", "127.0.0.2:4747", false),
            ("127.0.0.1:4747", "127.0.0.1", "rebound.example.com:4747", false),
            ("127.0.0.1:4747", "127.0.0.1", "", false),
            ("127.0.0.1:4747", "127.0.0.1", "localhost:4747@evil", false),
            ("[::]:4747", "::1", "[::1]:4747", true),
            ("[::]:4747", "::ffff:127.0.0.1", "127.0.0.1:4747", true),
            ("[::]:4747", "::ffff:127.0.0.1", "localhost:4747", true),
            ("0.0.0.0:4747", "192.0.2.7", "192.0.2.7:4747", true),
            ("0.0.0.0:4747", "192.0.2.7", "localhost:4747", false),
        ];
        for (address, local, host, is_allowed) in table {
            let settings = settings(address, tls(), &["agents.example.org"]);
            let checked = check_site(&settings, local.parse().unwrap(), Some(host), None);
            assert_eq!(checked.is_ok(), is_allowed, "{address} {local} {host}: {checked:?}");
        }
        let proxy = settings("127.0.0.1:4747", Transport::Proxy, &["agents.example.org"]);
        let local = "127.0.0.1".parse().unwrap();
        assert!(check_site(&proxy, local, Some("agents.example.org:443"), None).is_ok());
        assert!(check_site(&proxy, local, Some("other.example.org"), None).is_err());
        assert_eq!(check_site(&proxy, local, None, None).unwrap_err().kind, Kind::Usage);
    }

    #[test]
    fn cookie_is_accepted_only_from_the_page_of_this_server() {
        use PageRequest::{Change, Connect, Read};
        let own = Some("http://localhost:4747");
        let table = [
            (None, None, [true, false, false]),
            (own, None, [true, true, true]),
            (None, Some("same-origin"), [true, true, false]),
            (own, Some("same-origin"), [true, true, true]),
            (None, Some("none"), [false, false, false]),
            (own, Some("same-site"), [false, false, false]),
            (own, Some("cross-site"), [false, false, false]),
            (None, Some("same-site"), [false, false, false]),
            (own, Some("invented"), [false, false, false]),
        ];
        for (origin, fetch_site, expected) in table {
            for (request, is_allowed) in [Read, Change, Connect].into_iter().zip(expected) {
                let checked = check_page(request, PageHeaders { origin, fetch_site });
                assert_eq!(checked.is_ok(), is_allowed, "{origin:?} {fetch_site:?} {request:?}");
            }
        }
    }

    #[test]
    fn page_has_the_url_by_which_a_browser_reaches_the_daemon() {
        let table = [
            ("127.0.0.1:4747", Transport::Plain, &[][..], "http://127.0.0.1:4747"),
            ("[::1]:4747", Transport::Plain, &[], "http://[::1]:4747"),
            ("127.0.0.1:4747", Transport::Plain, &["box"], "http://box:4747"),
            ("0.0.0.0:4747", tls(), &[], "https://127.0.0.1:4747"),
            ("[::]:4747", tls(), &["a.example", "b.example"], "https://a.example:4747"),
            ("127.0.0.1:4747", Transport::Proxy, &["a.example"], "https://a.example"),
        ];
        for (address, transport, hosts, expected) in table {
            assert_eq!(page_url(&settings(address, transport, hosts)), expected, "{address}");
        }
    }

    #[test]
    fn only_a_connection_on_loopback_without_a_proxy_cannot_break_silently() {
        let table = [
            ("127.0.0.1:4747", Transport::Plain, false),
            ("[::1]:4747", Transport::Plain, false),
            ("127.0.0.1:4747", Transport::Proxy, true),
            ("127.0.0.1:4747", tls(), true),
            ("0.0.0.0:4747", tls(), true),
        ];
        for (address, transport, expected) in table {
            assert_eq!(
                can_break_silently(&settings(address, transport, &[])),
                expected,
                "{address}"
            );
        }
    }

    #[test]
    fn page_of_another_site_is_refused() {
        let settings = settings("127.0.0.1:4747", Transport::Plain, &[]);
        let table = [
            (None, true),
            (Some("http://localhost:4747"), true),
            (Some("https://LOCALHOST:4747"), true),
            (Some("http://localhost:4748"), false),
            (Some("http://localhost"), false),
            (Some("https://evil.example"), false),
            (Some("http://localhost:4747.evil.example"), false),
            (Some("null"), false),
            (Some(""), false),
        ];
        for (origin, is_allowed) in table {
            let local = "127.0.0.1".parse().unwrap();
            let checked = check_site(&settings, local, Some("localhost:4747"), origin);
            assert_eq!(checked.is_ok(), is_allowed, "{origin:?}: {checked:?}");
        }
    }
}
