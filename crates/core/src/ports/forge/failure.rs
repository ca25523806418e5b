//! Failed requests to a forge.

use std::fmt;

use jiff::Timestamp;

use crate::error::{Error, Kind};
use crate::model::ForgeId;

/// The result of a request to a forge.
pub type ForgeResult<T> = Result<T, ForgeFailure>;

/// A failed request to a forge. It contains nothing of the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgeFailure {
    pub forge: ForgeId,
    /// The host of the server.
    pub host: String,
    /// The object of the request, such as `issue #7 of team/app`.
    pub object: String,
    pub fault: ForgeFault,
}

/// Why a request to a forge failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForgeFault {
    /// There is no connection, or it broke. The text is the reason.
    Unreachable(String),
    TimedOut,
    /// The forge limits requests. The next one may be sent at this time.
    RetryAfter(Timestamp),
    /// The forge does not accept the token.
    Unauthorized,
    /// The account may not do this. The text is the forge's message.
    Forbidden(String),
    /// There is no such object, or the account may not see it.
    NotFound,
    /// The forge rejects the request. The text is the forge's message.
    Rejected(u16, String),
    /// The forge has an internal failure.
    ServerError(u16),
    /// The answer redirects to a place that must not get the token.
    Redirected(String),
    /// The answer cannot be read. The text is the reason.
    InvalidAnswer(String),
    /// The answer is larger than this number of bytes.
    TooLarge(usize),
    /// The list has more pages than this number.
    TooManyPages(usize),
}

impl ForgeFault {
    /// Returns whether the same request may succeed later.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self,
            Self::Unreachable(_) | Self::TimedOut | Self::RetryAfter(_) | Self::ServerError(_)
        )
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unreachable(_) => Some("check the network, and the `api` of the source"),
            Self::Unauthorized => Some("make a new token, and put it where the source reads it"),
            Self::Forbidden(_) => Some("give the account of the token the right to do this"),
            Self::NotFound => Some("check that the account of the token can see the repository"),
            Self::Redirected(_) | Self::InvalidAnswer(_) => {
                Some("check the `forge` and the `api` of the source")
            }
            _ => None,
        }
    }
}

impl fmt::Display for ForgeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(reason) => write!(f, "the server cannot be reached: {reason}"),
            Self::TimedOut => f.write_str("the server did not answer in time"),
            Self::RetryAfter(time) => write!(f, "the server limits requests until {time}"),
            Self::Unauthorized => f.write_str("the server does not accept the token"),
            Self::Forbidden(message) => write!(f, "the server forbids it: {message}"),
            Self::NotFound => f.write_str("the server has no such object"),
            Self::Rejected(status, message) => {
                write!(f, "the server rejects it with status {status}: {message}")
            }
            Self::ServerError(status) => write!(f, "the server failed with status {status}"),
            Self::Redirected(host) => {
                write!(f, "the server redirects to `{host}`, which must not get the token")
            }
            Self::InvalidAnswer(reason) => write!(f, "the answer cannot be read: {reason}"),
            Self::TooLarge(bytes) => write!(f, "the answer has more than {bytes} bytes"),
            Self::TooManyPages(pages) => write!(f, "the list has more than {pages} pages"),
        }
    }
}

impl fmt::Display for ForgeFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { forge, host, object, fault } = self;
        write!(f, "the request for {object} to the {forge} server `{host}` failed: {fault}")
    }
}

impl std::error::Error for ForgeFailure {}

impl From<ForgeFailure> for Error {
    fn from(failure: ForgeFailure) -> Self {
        let ForgeFailure { forge, host, object, fault } = failure;
        let kind = match &fault {
            it if it.is_temporary() => Kind::Unavailable,
            ForgeFault::NotFound => Kind::NotFound,
            ForgeFault::Unauthorized | ForgeFault::Forbidden(_) => Kind::Config,
            _ => Kind::Vendor,
        };
        let message = format!("the request for {object} to the {forge} server `{host}` failed");
        let error = Self::new(kind, message).caused_by(&fault);
        match fault.hint() {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_names_object_server_reason_and_hint() {
        let table = [
            (ForgeFault::TimedOut, Kind::Unavailable, None),
            (ForgeFault::RetryAfter(Timestamp::UNIX_EPOCH), Kind::Unavailable, None),
            (
                ForgeFault::NotFound,
                Kind::NotFound,
                Some("check that the account of the token can see the repository"),
            ),
            (
                ForgeFault::Unauthorized,
                Kind::Config,
                Some("make a new token, and put it where the source reads it"),
            ),
            (ForgeFault::Rejected(422, "too long".into()), Kind::Vendor, None),
        ];
        for (fault, kind, hint) in table {
            let cause = fault.to_string();
            let failure = ForgeFailure {
                forge: ForgeId::new("hub"),
                host: "git.example.org".into(),
                object: "issue #7 of team/app".into(),
                fault,
            };
            let error = Error::from(failure.clone());
            assert_eq!(error.to_string(), failure.to_string());
            assert_eq!(
                error.message,
                "the request for issue #7 of team/app to the hub server `git.example.org` failed"
            );
            assert_eq!((error.kind, error.causes.as_slice()), (kind, &[cause][..]));
            assert_eq!(error.hints.first().map(String::as_str), hint);
        }
    }
}
