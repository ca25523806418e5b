//! Credentials for git: answers the questions of git, and prepares git commands and agents that ask.

use crate::error::{Error, Result};
use crate::flows::worktrees;
use crate::model::{AgentWorktree, Environment, GitHost, Principal, SecretText};
use crate::ports::{Askpass, GitCaller, Ports};
use crate::rules::askpass::{self, CredentialAsker, CredentialField};
use crate::rules::editor_servers;

/// Answers a question of git for a user name or a token.
pub async fn answer(ports: &Ports, asker: &CredentialAsker, prompt: &str) -> Result<SecretText> {
    let question = askpass::decide(prompt, asker)?;
    let host = question.host;
    let username = ports.credentials.username(&host).ok_or_else(|| unknown(&host))?;
    match question.field {
        CredentialField::Username => Ok(SecretText::new(username)),
        CredentialField::Password => ports.credentials.token(&host).await,
    }
}

fn unknown(host: &GitHost) -> Error {
    Error::config(format!("config.toml has no credentials for `{host}`"))
        .hint(format!("add a table `[credentials.\"{host}\"]` with `command`, `env` or `file`"))
}

/// Returns who asks. `ticket` is that of a git command which the daemon has started, and is `None`
/// for any other process.
pub async fn asker(
    ports: &Ports,
    principal: &Principal,
    ticket: Option<&SecretText>,
) -> Result<CredentialAsker> {
    match principal {
        Principal::Agent(session) => {
            let worktree = worktrees::of_session(ports, session).await?;
            let host = worktree.and_then(|worktree| worktree.remote_host);
            Ok(CredentialAsker::Session { address: session.address(), host })
        }
        Principal::User => {
            let host = ticket.and_then(|ticket| ports.credentials.ticket_host(ticket));
            Ok(host.map_or(CredentialAsker::Other, |host| CredentialAsker::OwnGit { host }))
        }
        Principal::Token(_) => Ok(CredentialAsker::Other),
    }
}

/// Returns the caller of git commands for a worktree. They can ask for the credentials of its
/// repository as long as the returned value exists.
pub fn git_caller(
    ports: &Ports,
    worktree: &AgentWorktree,
    environment: &Environment,
) -> Result<GitCaller> {
    let environment = without_tokens(ports, environment);
    let askpass = known_host(ports, worktree).map(|host| -> Result<_> {
        let (program, ticket) =
            (ports.credentials.askpass()?, ports.credentials.open_ticket(host)?);
        Ok(Askpass { program, host: host.clone(), ticket })
    });
    Ok(GitCaller { environment, askpass: askpass.transpose()?, ..GitCaller::default() })
}

/// Adds the variables by which the git of an agent asks for the credentials of its repository. Does
/// nothing if the settings have none.
pub fn add_to_agent(
    ports: &Ports,
    worktree: Option<&AgentWorktree>,
    environment: &mut Environment,
) -> Result<()> {
    if let Some(host) = worktree.and_then(|worktree| known_host(ports, worktree)) {
        askpass::add_variables(environment, &ports.credentials.askpass()?, host);
    }
    Ok(())
}

/// Removes the variables that contain tokens, and those by which the git of an earlier launch asked
/// for them. The definitions of an editor's MCP servers contain tokens as well.
pub fn without_tokens(ports: &Ports, environment: &Environment) -> Environment {
    let mut tokens = ports.credentials.variables();
    tokens.extend(ports.sources.variables());
    let mut environment = environment.clone();
    environment.retain(|name| {
        name != editor_servers::VARIABLE && !tokens.iter().any(|token| token == name)
    });
    askpass::remove_variables(&mut environment);
    environment
}

/// Returns the host of a worktree's repository, if the settings have credentials for it.
fn known_host<'a>(ports: &Ports, worktree: &'a AgentWorktree) -> Option<&'a GitHost> {
    worktree.remote_host.as_ref().filter(|host| ports.credentials.username(host).is_some())
}
