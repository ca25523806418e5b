//! The salvages that a repository has.

use std::cmp::Reverse;

use jiff::Timestamp;
use segue_core::model::{CommitId, RefName, Salvage};
use segue_core::rules::worktrees::{UnfinishedStep, salvage_key};
use segue_core::{Error, Result, failpoint};

use super::PREFIX;
use super::metadata::{self, Metadata};
use crate::layout::RepositoryFolders;
use crate::listing;
use crate::locked::LockedRepository;
use crate::program::Git;

/// Returns the salvages of a repository, newest first. Those whose metadata cannot be read are left
/// out, and stay.
pub(crate) async fn list(git: &Git, repository: &RepositoryFolders) -> Result<Vec<Salvage>> {
    let command = git.bookkeeping(repository);
    let command = command.args(["for-each-ref", "--format=%(refname) %(objectname)", PREFIX]);
    let refs = command.line().await?;
    let mut salvages = Vec::new();
    for line in refs.lines() {
        match parse(git, repository, line).await {
            Ok(salvage) => salvages.push(salvage),
            Err(error) => tracing::warn!(%error, line, "a salvage cannot be read"),
        }
    }
    salvages.sort_by_key(|salvage| Reverse(salvage.made_at));
    Ok(salvages)
}

async fn parse(git: &Git, repository: &RepositoryFolders, line: &str) -> Result<Salvage> {
    let (reference, commit) = line.split_once(' ').unwrap_or((line, ""));
    let (reference, commit) = (RefName::parse(reference)?, CommitId::parse(commit)?);
    let metadata = describe(git, repository, &reference, &commit).await?;
    Ok(metadata.salvage(reference, commit))
}

/// Reads the metadata of a salvage. An agent can write refs, so the ref and the metadata must name
/// the same worktree.
async fn describe(
    git: &Git,
    repository: &RepositoryFolders,
    reference: &RefName,
    commit: &CommitId,
) -> Result<Metadata> {
    let name = format!("{commit}:{}", metadata::FILE);
    let json = git.bookkeeping(repository).args(["cat-file", "blob", &name]).run().await?;
    let metadata = Metadata::parse(&json)?;
    let path = metadata.path();
    let start = format!("{PREFIX}{}/", salvage_key(&path));
    match path.is_absolute() && reference.as_str().starts_with(&start) {
        true => Ok(metadata),
        false => {
            let path = path.display();
            Err(Error::unavailable(format!("`{reference}` is not a salvage of `{path}`")))
        }
    }
}

/// Returns a salvage and its metadata.
pub(crate) async fn read(
    git: &Git,
    repository: &RepositoryFolders,
    reference: &RefName,
) -> Result<(Salvage, Metadata)> {
    let refs = crate::refs::Refs { git, repository };
    let commit = refs.commit(reference.as_str()).await?;
    let commit = commit.filter(|_| reference.as_str().starts_with(PREFIX)).ok_or_else(|| {
        Error::not_found(format!("the repository has no salvage `{reference}`"))
            .hint(format!("run `git for-each-ref {PREFIX}` to see its salvages"))
    })?;
    let metadata = describe(git, repository, reference, &commit).await?;
    Ok((metadata.salvage(reference.clone(), commit), metadata))
}

/// Deletes the salvages that were made before a timestamp, and returns them. A salvage stays if an
/// interrupted step of a worktree needs it.
pub(crate) async fn expire(
    repository: &LockedRepository<'_>,
    before: Timestamp,
) -> Result<Vec<Salvage>> {
    let all = list(repository.git, &repository.folders).await?;
    let needed = needed(repository).await?;
    let is_expired = |it: &Salvage| it.made_at < before && !needed.contains(&it.reference);
    let expired: Vec<Salvage> = all.into_iter().filter(is_expired).collect();
    for salvage in &expired {
        failpoint::hit("git.salvage.expire.before");
        let command = repository.changing()?.args(["update-ref", "-d", salvage.reference.as_str()]);
        // Git refuses if the ref has another commit by now.
        command.arg(salvage.commit.as_str()).run().await?;
        failpoint::hit("git.salvage.expire.after");
    }
    Ok(expired)
}

/// Returns the salvages from which interrupted steps are completed.
async fn needed(repository: &LockedRepository<'_>) -> Result<Vec<RefName>> {
    let listed = listing::list(repository.git, &repository.folders).await?;
    let steps = listed.iter().filter_map(|it| UnfinishedStep::from_reason(it.locked.as_deref()?));
    let salvage = |step: UnfinishedStep| match step {
        UnfinishedStep::Removing { salvage } => salvage,
        UnfinishedStep::Restoring { salvage } => Some(salvage),
        UnfinishedStep::Making => None,
    };
    Ok(steps.filter_map(salvage).collect())
}
