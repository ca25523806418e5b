//! Decides whether a question of git for a user name or a password is answered.
//!
//! Git runs the program of `GIT_ASKPASS` with the question as its argument. The question names the
//! server. Its text cannot be trusted, because the author of a URL chooses a part of it. So every
//! question that could be read in two ways is refused.

use std::path::Path;

use crate::error::Error;
use crate::model::{Environment, GitHost};

/// The variable by which git commands of the daemon pass on their ticket.
pub const TICKET: &str = "SEGUE_GIT_TICKET";

/// The name of the program that git runs to ask.
pub const PROGRAM: &str = "segue-git-askpass";

const ASKPASS: &str = "GIT_ASKPASS";
const TERMINAL: &str = "GIT_TERMINAL_PROMPT";
/// Variables with settings of git: their number, and for each a key and a value.
const SETTINGS: &str = "GIT_CONFIG_COUNT";
const KEY: &str = "GIT_CONFIG_KEY_";
const VALUE: &str = "GIT_CONFIG_VALUE_";

/// What git asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialField {
    Username,
    Password,
}

/// A question of git, such as `Password for 'https://me@git.example.org': `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitQuestion {
    pub field: CredentialField,
    pub host: GitHost,
    /// Whether the connection is encrypted.
    pub is_https: bool,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialAsker {
    /// A process of a launch, with the host of the remote of its session's repository.
    Session { address: String, host: Option<GitHost> },
    /// A git command of the daemon, with the host of its ticket.
    OwnGit { host: GitHost },
    /// Any other process.
    Other,
}

/// Why a question is not answered. It has nothing of the question but the host: a user name in a URL
/// may be a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskpassRefusal {
    /// The question is not one of git, or can be read in several ways.
    UnclearQuestion,
    /// The connection to a host is not encrypted.
    NotEncrypted { host: GitHost },
    /// The caller is neither of a launch nor a git command of the daemon.
    NoLaunch,
    /// The session works in no worktree, or its repository has no remote that is reached by HTTP.
    NoRemote { address: String },
    /// The question is about another host than that of the repository.
    OtherHost { asked: GitHost, own: GitHost },
}

impl GitQuestion {
    /// Parses a question of git. `None` if it is none, or if it could be read in two ways.
    pub fn parse(prompt: &str) -> Option<Self> {
        let prompt = prompt.trim_end_matches(' ').strip_suffix("':")?;
        let (field, url) = match prompt.split_once(" for '")? {
            ("Username", url) => (CredentialField::Username, url),
            ("Password", url) => (CredentialField::Password, url),
            _ => return None,
        };
        let (scheme, place) = url.split_once("://")?;
        let is_https = match scheme {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let host = GitHost::of_scheme(scheme, host_of(place)?).ok()?;
        Some(Self { field, host, is_https })
    }
}

/// Returns the host in `user@host/path`. Git before 2.48 does not escape the user, which then could
/// contain a `/`: a place with an `@` after a `/` is unclear.
fn host_of(place: &str) -> Option<&str> {
    let is_unclear = |c: char| !c.is_ascii_graphic() || matches!(c, '\'' | '"' | '\\');
    let (authority, path) = place.split_once('/').unwrap_or((place, ""));
    if place.contains(is_unclear) || path.contains('@') {
        return None;
    }
    Some(authority.split_once('@').map_or(authority, |(_user, host)| host))
}

/// Decides whether a question is answered: only over an encrypted connection or to this machine,
/// only for the host of the asker's repository, and only to a launch or to git of the daemon.
pub fn decide(prompt: &str, asker: &CredentialAsker) -> Result<GitQuestion, AskpassRefusal> {
    let question = GitQuestion::parse(prompt).ok_or(AskpassRefusal::UnclearQuestion)?;
    let own = match asker {
        CredentialAsker::OwnGit { host } | CredentialAsker::Session { host: Some(host), .. } => {
            host
        }
        CredentialAsker::Session { address, host: None } => {
            return Err(AskpassRefusal::NoRemote { address: address.clone() });
        }
        CredentialAsker::Other => return Err(AskpassRefusal::NoLaunch),
    };
    if question.host != *own {
        let (asked, own) = (question.host, own.clone());
        return Err(AskpassRefusal::OtherHost { asked, own });
    }
    if !question.is_https && !question.host.is_loopback() {
        return Err(AskpassRefusal::NotEncrypted { host: question.host });
    }
    Ok(question)
}

impl From<AskpassRefusal> for Error {
    fn from(refusal: AskpassRefusal) -> Self {
        match refusal {
            AskpassRefusal::UnclearQuestion => Self::usage("Segue does not answer this question")
                .caused_by("it does not name a user name or a password, and exactly one host")
                .hint("git asks `Password for 'https://git.example.org': `"),
            AskpassRefusal::NotEncrypted { host } => {
                Self::usage(format!("Segue sends no credentials to `{host}` over plain HTTP"))
                    .hint(format!("use `https://{host}`"))
            }
            AskpassRefusal::NoLaunch => {
                Self::usage("Segue gives git credentials only to agents, and to its own git")
                    .caused_by("the calling process belongs to no launch")
                    .hint("use your own credentials for git: `git help credentials`")
            }
            AskpassRefusal::NoRemote { address } => {
                Self::usage(format!("`{address}` gets no git credentials"))
                    .caused_by("it works in no worktree whose repository has a remote with HTTPS")
                    .hint("run `segue run --worktree BRANCH --repo https://…` to start it there")
            }
            AskpassRefusal::OtherHost { asked, own } => {
                Self::usage(format!("Segue gives no credentials for `{asked}` here"))
                    .caused_by(format!("the repository is on `{own}`"))
                    .hint("an agent gets credentials for the host of its own repository only")
            }
        }
    }
}

/// Returns the settings of git that keep the credential helpers of the user away from a host: a
/// helper would store the token. An empty value removes the helpers that were named before.
pub fn helper_settings(host: &GitHost) -> Vec<String> {
    let schemes = if host.is_loopback() { &["https", "http"][..] } else { &["https"] };
    schemes.iter().map(|scheme| format!("credential.{scheme}://{host}.helper")).collect()
}

/// Adds the variables by which the git of an agent asks this program.
pub fn add_variables(environment: &mut Environment, program: &Path, host: &GitHost) {
    environment.set(ASKPASS, program.to_string_lossy());
    environment.set(TERMINAL, "0");
    let mut count = setting_count(environment);
    for setting in helper_settings(host) {
        environment.set(format!("{KEY}{count}"), setting);
        environment.set(format!("{VALUE}{count}"), "");
        count += 1;
    }
    environment.set(SETTINGS, count.to_string());
}

/// Removes what [`add_variables`] has added for an earlier launch. A restart uses the environment of
/// the launch before.
pub fn remove_variables(environment: &mut Environment) {
    let program = environment.get(ASKPASS).map(Path::new).and_then(Path::file_name);
    if program.is_none_or(|program| program != PROGRAM) {
        return;
    }
    let mut count = setting_count(environment);
    while let Some(last) = count.checked_sub(1).filter(|last| is_helper(environment, *last)) {
        let names = [format!("{KEY}{last}"), format!("{VALUE}{last}")];
        environment.retain(|name| !names.iter().any(|it| it == name));
        count = last;
    }
    environment.retain(|name| ![ASKPASS, TERMINAL, SETTINGS].contains(&name));
    if count > 0 {
        environment.set(SETTINGS, count.to_string());
    }
}

fn setting_count(environment: &Environment) -> usize {
    environment.get(SETTINGS).and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// Returns whether a setting removes the helpers for a host.
fn is_helper(environment: &Environment, index: usize) -> bool {
    let key = environment.get(&format!("{KEY}{index}")).unwrap_or_default();
    key.starts_with("credential.http")
        && key.ends_with(".helper")
        && environment.get(&format!("{VALUE}{index}")) == Some("")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> GitHost {
        GitHost::parse(text).unwrap()
    }

    #[test]
    fn questions_of_git_name_their_host() {
        use CredentialField::{Password, Username};
        let table = [
            ("Username for 'https://git.example.org': ", Username, "git.example.org", true),
            ("Password for 'https://me@git.example.org': ", Password, "git.example.org", true),
            ("Password for 'https://git.example.org': ", Password, "git.example.org", true),
            ("Username for 'https://Git.Example.org:443': ", Username, "git.example.org", true),
            ("Password for 'https://me@h:8443': ", Password, "h:8443", true),
            ("Username for 'http://127.0.0.1:8080': ", Username, "127.0.0.1:8080", false),
            ("Username for 'http://[::1]:80': ", Username, "[::1]", false),
            ("Password for 'https://a%2Fb%40c@h': ", Password, "h", true),
            ("Password for 'https://a:b@h': ", Password, "h", true),
            ("Password for 'https://me@h/team/app%40x.git': ", Password, "h", true),
            ("Username for 'https://h/team/app.git': ", Username, "h", true),
            ("Username for 'https://h':", Username, "h", true),
        ];
        for (prompt, field, name, is_https) in table {
            let host = host(name);
            let expected = Some(GitQuestion { field, host, is_https });
            assert_eq!(GitQuestion::parse(prompt), expected, "{prompt}");
        }
    }

    #[test]
    fn host_that_a_url_pretends_is_not_taken_for_the_host() {
        let evil = "Password for 'https://git.example.org@evil.test': ";
        assert_eq!(GitQuestion::parse(evil).unwrap().host, host("evil.test"));
        for prompt in [
            // The user of an old git contains a slash: the host is `evil.test`.
            "Password for 'https://git.example.org/x@evil.test': ",
            "Password for 'https://git.example.org/@evil.test': ",
            "Password for 'https://me@git.example.org@evil.test': ",
            "Password for 'https://git.example.org': @evil.test': ",
            "Password for 'https://git.example.org'@evil.test': ",
            "Password for 'https://git.example.org\\@evil.test': ",
            "Password for 'https://git.example.org\n@evil.test': ",
            "Password for 'https://git.example.org\n': ",
            "Password for 'https://git.example.org': \n",
            "\nPassword for 'https://git.example.org': ",
            "Password for 'https://git.example.org ': ",
            "Password for 'https://git%2eexample.org': ",
            "Password for 'https://git.example.org%40evil.test': ",
            "Password for 'https://git.example.org:443:1': ",
            "Password for 'https://git.example.org:x': ",
            "Password for 'https://git.example.org#@evil.test/@': ",
            "Password for 'https://git.example.örg': ",
        ] {
            assert_eq!(GitQuestion::parse(prompt), None, "{prompt:?}");
        }
    }

    #[test]
    fn other_questions_are_unclear() {
        for prompt in [
            "",
            "Password: ",
            "Password for 'https://': ",
            "Password for 'https://me@': ",
            "Password for 'git.example.org': ",
            "Password for 'ssh://git.example.org': ",
            "Password for 'HTTPS://git.example.org': ",
            "Password for 'file:///etc': ",
            "password for 'https://git.example.org': ",
            "Token for 'https://git.example.org': ",
            "Password for https://git.example.org: ",
            "Enter passphrase for key '/home/me/.ssh/id_ed25519': ",
            "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
        ] {
            assert_eq!(GitQuestion::parse(prompt), None, "{prompt:?}");
        }
    }

    #[test]
    fn only_launches_and_own_git_get_an_answer_and_only_for_their_host() {
        let session = |name: Option<&str>| CredentialAsker::Session {
            address: "shop/coder".to_owned(),
            host: name.map(host),
        };
        let own_git = |name: &str| CredentialAsker::OwnGit { host: host(name) };
        let other = |asked: &str, own: &str| {
            Some(AskpassRefusal::OtherHost { asked: host(asked), own: host(own) })
        };
        let no_remote = AskpassRefusal::NoRemote { address: "shop/coder".to_owned() };
        let plain = |name: &str| Some(AskpassRefusal::NotEncrypted { host: host(name) });
        let table = [
            ("https://h", session(Some("h")), None),
            ("https://h", own_git("h"), None),
            ("https://h:8443", session(Some("h:8443")), None),
            ("https://h:8443", session(Some("h")), other("h:8443", "h")),
            ("https://other", session(Some("h")), other("other", "h")),
            ("https://other", own_git("h"), other("other", "h")),
            ("https://h@other", own_git("h"), other("other", "h")),
            ("https://h", session(None), Some(no_remote)),
            ("https://h", CredentialAsker::Other, Some(AskpassRefusal::NoLaunch)),
            ("http://h", session(Some("h")), plain("h")),
            ("http://h", own_git("h"), plain("h")),
            ("http://127.0.0.1:1", session(Some("127.0.0.1:1")), None),
            ("http://127.0.0.1.h", own_git("127.0.0.1.h"), plain("127.0.0.1.h")),
            ("ftp://h", own_git("h"), Some(AskpassRefusal::UnclearQuestion)),
        ];
        for (url, asker, expected) in table {
            for field in ["Username", "Password"] {
                let decided = decide(&format!("{field} for '{url}': "), &asker);
                assert_eq!(decided.err(), expected, "{url} {asker:?}");
            }
        }
    }

    #[test]
    fn refusal_does_not_repeat_the_user_of_a_url() {
        let asker = CredentialAsker::OwnGit { host: host("h") };
        let prompts =
            ["Password for 'https://t0ken@evil': ", "Password for 'https://a/t0ken@evil': "];
        for prompt in prompts {
            let error = Error::from(decide(prompt, &asker).unwrap_err());
            assert!(!format!("{error:?}").contains("t0ken"), "{error:?}");
            assert!(!error.hints.is_empty(), "{error:?}");
        }
    }

    #[test]
    fn variables_of_an_agent_name_the_program_and_keep_helpers_away() {
        let mut environment = Environment::default();
        environment.set("GIT_CONFIG_COUNT", "1");
        environment.set("GIT_CONFIG_KEY_0", "user.name");
        environment.set("GIT_CONFIG_VALUE_0", "Ann");
        let before = environment.clone();
        let program = Path::new("/state/bin").join(PROGRAM);
        add_variables(&mut environment, &program, &host("127.0.0.1:1"));
        let expected = [
            ("GIT_ASKPASS", "/state/bin/segue-git-askpass"),
            ("GIT_CONFIG_COUNT", "3"),
            ("GIT_CONFIG_KEY_0", "user.name"),
            ("GIT_CONFIG_KEY_1", "credential.https://127.0.0.1:1.helper"),
            ("GIT_CONFIG_KEY_2", "credential.http://127.0.0.1:1.helper"),
            ("GIT_CONFIG_VALUE_0", "Ann"),
            ("GIT_CONFIG_VALUE_1", ""),
            ("GIT_CONFIG_VALUE_2", ""),
            ("GIT_TERMINAL_PROMPT", "0"),
        ];
        assert_eq!(environment.iter().collect::<Vec<_>>(), expected);
        remove_variables(&mut environment);
        assert_eq!(environment, before);
        let mut plain = Environment::default();
        add_variables(&mut plain, &program, &host("git.example.org"));
        assert_eq!(plain.get("GIT_CONFIG_COUNT"), Some("1"));
        remove_variables(&mut plain);
        assert_eq!(plain, Environment::default());
        let mut of_user = Environment::default();
        of_user.set("GIT_ASKPASS", "/usr/bin/ksshaskpass");
        of_user.set("GIT_TERMINAL_PROMPT", "0");
        let before = of_user.clone();
        remove_variables(&mut of_user);
        assert_eq!(of_user, before);
    }
}
