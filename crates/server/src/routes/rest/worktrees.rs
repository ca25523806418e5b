//! Worktrees by their ids, and usage.

use std::path::PathBuf;

use axum::Json;
use axum::http::Uri;
use segue_core::api::{
    PageQuery, TimeCursor, UsageList, UsageQueryParameters, UsageRequest, WorktreeDiffQuery,
    WorktreeDiffReport, WorktreeDiffRequest, WorktreeList, WorktreesRequest, page_size,
    parse_cursor,
};
use segue_core::flows::usage;
use segue_core::model::{AgentWorktree, UsageGrouping, WorktreeId};
use segue_core::ports::WorktreeQuery;
use segue_core::rules::scope::RestrictedAction;
use segue_core::{Error, Result};

use super::super::inputs::{PathValue, QueryValues};
use super::super::{Admitted, ErrorResponse, RouteResult};
use super::paged::PageAnswer;
use crate::supervisor;

pub(crate) async fn list_worktrees(
    Admitted { supervisor, principal }: Admitted,
    QueryValues(query): QueryValues<PageQuery>,
    uri: Uri,
) -> Result<PageAnswer<WorktreeList>, ErrorResponse> {
    principal.allow(RestrictedAction::ReadAll)?;
    let size = page_size(query.limit)? as usize;
    let after: Option<TimeCursor> = parse_cursor(query.cursor.as_deref())?;
    let mut found = supervisor.ports.store.worktrees(&WorktreeQuery::default()).await?;
    let position = |it: &AgentWorktree| TimeCursor { at: it.created_at, id: it.id.uuid() };
    found.sort_by_key(position);
    found.retain(|it| after.is_none_or(|after| position(it) > after));
    let has_more = found.len() > size;
    found.truncate(size);
    let next = found.last().filter(|_| has_more).map(|it| position(it).to_string());
    let worktrees = match found.as_slice() {
        // An empty list of names would mean all worktrees.
        [] => Vec::new(),
        found => {
            let names = found.iter().map(|it| it.path.display().to_string()).collect();
            let request = WorktreesRequest { cwd: PathBuf::from("/"), names, with_sizes: false };
            supervisor::list_worktrees(&supervisor, &principal, &request).await?.worktrees
        }
    };
    let page = WorktreeList { worktrees, next: next.clone() };
    Ok(PageAnswer::new(page, &uri, "cursor", next.as_deref()))
}

pub(crate) async fn diff_worktree(
    Admitted { supervisor, principal }: Admitted,
    PathValue(id): PathValue<WorktreeId>,
    QueryValues(query): QueryValues<WorktreeDiffQuery>,
) -> RouteResult<WorktreeDiffReport> {
    principal.allow(RestrictedAction::ReadAll)?;
    let all = supervisor.ports.store.worktrees(&WorktreeQuery::default()).await?;
    let found = all.into_iter().find(|it| it.id == id).ok_or_else(|| {
        Error::not_found(format!("there is no worktree with the id `{id}`"))
            .hint("`GET /v1/worktrees` lists all worktrees")
    })?;
    let request = WorktreeDiffRequest {
        cwd: PathBuf::from("/"),
        environment: supervisor.login_shell().await?,
        name: found.path.display().to_string(),
        base: query.base,
        only_stat: query.only_stat,
    };
    Ok(Json(supervisor::diff_worktree(&supervisor, &principal, &request).await?))
}

pub(crate) async fn usage(
    Admitted { supervisor, principal }: Admitted,
    QueryValues(query): QueryValues<UsageQueryParameters>,
) -> RouteResult<UsageList> {
    let UsageQueryParameters { since, by } = query;
    let request = UsageRequest { since, by: by.unwrap_or(UsageGrouping::Agent) };
    supervisor.count_all_usage().await;
    Ok(Json(usage::list(&supervisor.ports, &principal, &request).await?))
}
