//! Finds comments and reviews on a forge that cannot send deliveries.

use jiff::Timestamp;

use crate::error::Result;
use crate::model::{
    ForgeComment, ForgeEvent, ForgeRepository, ForgeReview, ForgeSubject, RepositoryAddress,
    ReviewVerdict, TrackedIssue, TriggerKind,
};
use crate::ports::ForgeApi;

/// Returns an event for each comment and each review since a time, about an issue and the pull
/// requests that belong to it, oldest first.
pub async fn polled_events(
    api: &dyn ForgeApi,
    tracked: &TrackedIssue,
    since: Timestamp,
) -> Result<Vec<ForgeEvent>> {
    let repository = api.repository(&tracked.address).await?;
    let place = (&tracked.address, &repository);
    let mut events = match tracked.subject {
        ForgeSubject::Issue(_) => subject_events(api, place, tracked.subject, Some(since)).await?,
        ForgeSubject::Pull(_) => Vec::new(),
    };
    let own = match tracked.subject {
        ForgeSubject::Pull(number) => Some(number),
        ForgeSubject::Issue(_) => None,
    };
    let pulls = tracked.pulls.iter().copied().filter(|pull| Some(*pull) != own).chain(own);
    for number in pulls {
        let subject = ForgeSubject::Pull(number);
        events.extend(subject_events(api, place, subject, Some(since)).await?);
    }
    events.sort_by_key(|event| event.updated_at);
    Ok(events)
}

/// Returns an event for each comment on an issue, and for each comment on a pull request and each
/// review of it. `None` for those of any time.
pub(super) async fn subject_events(
    api: &dyn ForgeApi,
    place: (&RepositoryAddress, &ForgeRepository),
    subject: ForgeSubject,
    since: Option<Timestamp>,
) -> Result<Vec<ForgeEvent>> {
    let mut events = match subject {
        ForgeSubject::Issue(number) => of_issue(api, place, number, since).await?,
        ForgeSubject::Pull(number) => of_pull(api, place, number, since).await?,
    };
    events.retain(|event| event.updated_at.is_none_or(|at| since.is_none_or(|since| at >= since)));
    Ok(events)
}

async fn of_issue(
    api: &dyn ForgeApi,
    (address, repository): (&RepositoryAddress, &ForgeRepository),
    number: u64,
    since: Option<Timestamp>,
) -> Result<Vec<ForgeEvent>> {
    let comments = api.comments(address, ForgeSubject::Issue(number), since).await?;
    if comments.is_empty() {
        return Ok(Vec::new());
    }
    let issue = Some(api.issue(address, number).await?);
    let begin = ForgeEvent::new(TriggerKind::IssueCommented, repository.clone());
    let begin = ForgeEvent { issue, ..begin };
    Ok(comments.into_iter().map(|comment| commented(&begin, comment)).collect())
}

async fn of_pull(
    api: &dyn ForgeApi,
    (address, repository): (&RepositoryAddress, &ForgeRepository),
    number: u64,
    since: Option<Timestamp>,
) -> Result<Vec<ForgeEvent>> {
    let subject = ForgeSubject::Pull(number);
    let comments = api.comments(address, subject, since).await?;
    let mut reviews = api.reviews(address, number, since).await?;
    reviews.retain(|review| review.verdict != ReviewVerdict::Pending);
    if comments.is_empty() && reviews.is_empty() {
        return Ok(Vec::new());
    }
    let pull = Some(api.pull(address, number).await?);
    let begin =
        |trigger| ForgeEvent { pull: pull.clone(), ..ForgeEvent::new(trigger, repository.clone()) };
    let commented_pull = begin(TriggerKind::PullCommented);
    let mut events: Vec<ForgeEvent> =
        comments.into_iter().map(|comment| commented(&commented_pull, comment)).collect();
    let reviewed_pull = begin(TriggerKind::PullReviewSubmitted);
    events.extend(reviews.into_iter().map(|review| reviewed(&reviewed_pull, review)));
    Ok(events)
}

fn commented(begin: &ForgeEvent, comment: ForgeComment) -> ForgeEvent {
    let (actor, updated_at) = (comment.author.clone(), comment.created_at);
    ForgeEvent { actor, updated_at, comment: Some(comment), ..begin.clone() }
}

fn reviewed(begin: &ForgeEvent, review: ForgeReview) -> ForgeEvent {
    let (actor, updated_at) = (review.author.clone(), review.submitted_at);
    ForgeEvent { actor, updated_at, review: Some(review), ..begin.clone() }
}
