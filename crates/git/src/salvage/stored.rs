//! The salvages that a repository has.

use std::cmp::Reverse;

use jiff::Timestamp;
use segue_core::model::{CommitId, RefName, Salvage};
use segue_core::{Error, Result, failpoint};

use super::PREFIX;
use super::metadata::{self, Metadata};
use crate::layout::RepositoryFolders;
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
    Ok(describe(git, repository, &commit).await?.salvage(reference, commit))
}

async fn describe(
    git: &Git,
    repository: &RepositoryFolders,
    commit: &CommitId,
) -> Result<Metadata> {
    let name = format!("{commit}:{}", metadata::FILE);
    Metadata::parse(&git.bookkeeping(repository).args(["cat-file", "blob", &name]).run().await?)
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
    let metadata = describe(git, repository, &commit).await?;
    Ok((metadata.salvage(reference.clone(), commit), metadata))
}

/// Deletes the salvages that were made before a timestamp, and returns them.
pub(crate) async fn expire(
    repository: &LockedRepository<'_>,
    before: Timestamp,
) -> Result<Vec<Salvage>> {
    let all = list(repository.git, &repository.folders).await?;
    let expired: Vec<Salvage> = all.into_iter().filter(|it| it.made_at < before).collect();
    for salvage in &expired {
        failpoint::hit("git.salvage.expire.before");
        let command = repository.changing()?.args(["update-ref", "-d", salvage.reference.as_str()]);
        // Git refuses if the ref has another commit by now.
        command.arg(salvage.commit.as_str()).run().await?;
        failpoint::hit("git.salvage.expire.after");
    }
    Ok(expired)
}
