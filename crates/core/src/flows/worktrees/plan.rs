//! Decides the worktree of a new session. Changes nothing.

use std::path::Path;

use crate::error::{Error, Result};
use crate::model::{
    AgentName, AgentWorktree, BranchName, BranchStart, GitHost, Provision, RepositorySource,
    RepositoryUrl, Session, WorktreeCommands, WorktreeId, WorktreeOrder, WorktreePlace,
    WorktreeSettings, WorktreeSpec,
};
use crate::ports::{Checkouts, Conflict, Ports, SessionQuery, SessionSummary, WorktreeQuery};
use crate::rules::worktrees::{choose_port, worktree_path};

/// The worktree of a new session.
#[derive(Clone, Debug)]
pub struct WorktreePlan {
    pub worktree: AgentWorktree,
    provision: Provision,
    /// Whether the project has commands that must not run, because the branch is from a fork.
    pub(super) has_withheld_commands: bool,
}

impl WorktreePlan {
    pub(super) fn spec(&self) -> WorktreeSpec {
        spec(&self.worktree, self.provision.clone())
    }
}

pub(super) fn spec(worktree: &AgentWorktree, provision: Provision) -> WorktreeSpec {
    WorktreeSpec {
        source: worktree.source.clone(),
        path: worktree.path.clone(),
        branch: worktree.branch.clone(),
        start: worktree.start.clone(),
        provision,
    }
}

/// Decides which worktree an agent gets. There is one for each agent and branch.
pub async fn plan(
    ports: &Ports,
    order: &WorktreeOrder,
    agent: &AgentName,
    (folder, settings): (&Path, &WorktreeSettings),
) -> Result<WorktreePlan> {
    let WorktreePlace { source, path } =
        place(&*ports.checkouts, order, agent, (folder, settings.root.as_deref()))?;
    let from = match &source {
        RepositorySource::Folder(main) => Some(main.clone()),
        RepositorySource::Url(_) => None,
    };
    let provision =
        Provision { from, include: settings.include.clone(), link: settings.link.clone() };
    let start = start(ports, &source, order).await?;
    let is_from_fork = matches!(start, BranchStart::PullRequest(_));
    let is_withheld = is_from_fork && !order.allows_commands_of_fork;
    let commands = match is_withheld {
        true => WorktreeCommands::default(),
        false => settings.commands.clone(),
    };
    let has_withheld_commands = is_withheld && !settings.commands.setup.is_empty();
    let planned = |worktree| WorktreePlan { worktree, provision, has_withheld_commands };
    if let Some(known) = known(ports, (&source, &path), agent, &order.branch).await? {
        refuse_other_branch(&known, &order.branch)?;
        // A branch that does not exist any more starts where this request says.
        let branch = order.branch.clone();
        return Ok(planned(AgentWorktree { branch, start, commands, ..known }));
    }
    let worktree = AgentWorktree {
        id: WorktreeId::new(ports.clock.new_id()),
        remote_host: remote_host(ports, &source).await?,
        source,
        agent: agent.clone(),
        branch: order.branch.clone(),
        start,
        port: free_port(ports, &path).await?,
        path,
        session: None,
        removal: None,
        commands,
        is_set_up: false,
        created_at: ports.clock.now(),
    };
    Ok(planned(worktree))
}

/// Returns the record of an agent's worktree for a branch: at the folder of the branch, or at another
/// one if the worktree was restored onto this branch.
async fn known(
    ports: &Ports,
    (source, path): (&RepositorySource, &Path),
    agent: &AgentName,
    branch: &BranchName,
) -> Result<Option<AgentWorktree>> {
    let all = ports.store.worktrees(&WorktreeQuery::default()).await?;
    let is_of_branch =
        |it: &&AgentWorktree| it.source == *source && it.agent == *agent && it.branch == *branch;
    let at_path = all.iter().find(|it| it.path == *path);
    let restored = || all.iter().filter(is_of_branch).find(|it| it.complete_removal().is_none());
    Ok(at_path.filter(is_of_branch).or_else(restored).or(at_path).cloned())
}

/// Fails if a worktree was restored onto another branch than the wanted one. A removed worktree that
/// no session uses can get the wanted branch.
pub(super) fn refuse_other_branch(worktree: &AgentWorktree, wanted: &BranchName) -> Result<()> {
    let is_free = worktree.session.is_none() && worktree.complete_removal().is_some();
    let AgentWorktree { branch, agent, path, .. } = worktree;
    if branch == wanted || is_free {
        return Ok(());
    }
    Err(Error::conflict(format!(
        "the worktree of agent `{agent}` for branch `{wanted}` is on branch `{branch}`"
    ))
    .caused_by(format!("`{}` was restored onto `{branch}`", path.display()))
    .hint(format!("add `--worktree {branch}` to work there, or use another branch")))
}

/// Returns where a branch starts. A branch of which any worktree was made from the pull request of a
/// fork still has the content of the fork, whichever agent has it checked out, so it stays a branch
/// of that pull request.
async fn start(
    ports: &Ports,
    source: &RepositorySource,
    order: &WorktreeOrder,
) -> Result<BranchStart> {
    if matches!(order.start, BranchStart::PullRequest(_)) {
        return Ok(order.start.clone());
    }
    let known = ports.store.worktrees(&WorktreeQuery::default()).await?;
    let is_same = |it: &&AgentWorktree| it.source == *source && it.branch == order.branch;
    let from_fork = known.iter().filter(is_same).find(|it| it.is_from_fork());
    Ok(from_fork.map_or_else(|| order.start.clone(), |it| it.start.clone()))
}

/// Returns the host of the repository's remote. `None` if the remote is not reached by HTTP.
async fn remote_host(ports: &Ports, source: &RepositorySource) -> Result<Option<GitHost>> {
    match source {
        RepositorySource::Url(url) => Ok(url.http_host()),
        RepositorySource::Folder(folder) => {
            let id = ports.checkouts.identify(folder).await?;
            // The id of a repository without a remote is a path.
            let url = id.and_then(|id| RepositoryUrl::parse(id.as_str()).ok());
            Ok(url.and_then(|url| url.http_host()))
        }
    }
}

/// Returns the place of the worktree of an agent and a branch. `folder` is in the repository, unless
/// the order names one. `root` is the folder for worktrees, if it is not Segue's own.
pub fn place(
    checkouts: &dyn Checkouts,
    order: &WorktreeOrder,
    agent: &AgentName,
    (folder, root): (&Path, Option<&Path>),
) -> Result<WorktreePlace> {
    let source = match &order.url {
        Some(url) => RepositorySource::Url(url.clone()),
        None => RepositorySource::Folder(checkouts.main_folder(folder).ok_or_else(|| {
            Error::usage(format!("`{}` is in no git repository", folder.display()))
                .hint("run `git init` there, or name a repository with `--repo URL`")
        })?),
    };
    let path = worktree_path(&checkouts.root(root), &source, agent, &order.branch);
    Ok(WorktreePlace { source, path })
}

/// Returns the session for which a worktree is reserved.
pub(crate) async fn owner(
    ports: &Ports,
    worktree: &AgentWorktree,
) -> Result<Option<SessionSummary>> {
    let Some(owner) = worktree.session else { return Ok(None) };
    Ok(ports.store.sessions(&SessionQuery::id(owner)).await?.pop())
}

/// Fails if another session works in the worktree.
pub(super) async fn refuse_reserved(ports: &Ports, worktree: &AgentWorktree) -> Result<()> {
    match owner(ports, worktree).await? {
        Some(owner) if !owner.session.leaves_worktree(owner.open.is_some()) => {
            Err(reserved(worktree, &owner.session))
        }
        _ => Ok(()),
    }
}

/// Returns the error for a worktree in which another session works.
pub(crate) fn reserved(worktree: &AgentWorktree, owner: &Session) -> Error {
    let (branch, owner) = (worktree.branch.clone(), owner.address());
    Conflict::WorktreeLeased { branch, owner }.into()
}

async fn free_port(ports: &Ports, path: &Path) -> Result<u16> {
    let known = ports.store.worktrees(&WorktreeQuery::default()).await?;
    let is_free = |port: u16| {
        known.iter().all(|worktree| worktree.port != port) && ports.machine.is_port_free(port)
    };
    choose_port(path, is_free).ok_or_else(|| {
        Error::conflict("all ports for worktrees are taken")
            .hint("run `segue worktree gc` to remove worktrees that no session uses")
    })
}
