//! Finds comments and reviews on a forge that cannot send deliveries.

use jiff::Timestamp;

use crate::error::Result;
use crate::model::{
    ForgeComment, ForgeEvent, ForgeRepository, ForgeReview, ForgeSubject, ReviewVerdict,
    TrackedIssue, TriggerKind,
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
    let mut events = Vec::new();
    if let ForgeSubject::Issue(number) = tracked.subject {
        let comments = api.comments(&tracked.address, tracked.subject, Some(since)).await?;
        if !comments.is_empty() {
            let issue = api.issue(&tracked.address, number).await?;
            let begin = ForgeEvent::new(TriggerKind::IssueCommented, repository.clone());
            let begin = ForgeEvent { issue: Some(issue), ..begin };
            events.extend(comments.into_iter().map(|comment| commented(&begin, comment)));
        }
    }
    let own = match tracked.subject {
        ForgeSubject::Pull(number) => Some(number),
        ForgeSubject::Issue(_) => None,
    };
    let pulls = tracked.pulls.iter().copied().filter(|pull| Some(*pull) != own).chain(own);
    for number in pulls {
        events.extend(of_pull(api, (tracked, &repository), number, since).await?);
    }
    events.retain(|event| event.updated_at.is_none_or(|at| at >= since));
    events.sort_by_key(|event| event.updated_at);
    Ok(events)
}

async fn of_pull(
    api: &dyn ForgeApi,
    (tracked, repository): (&TrackedIssue, &ForgeRepository),
    number: u64,
    since: Timestamp,
) -> Result<Vec<ForgeEvent>> {
    let subject = ForgeSubject::Pull(number);
    let comments = api.comments(&tracked.address, subject, Some(since)).await?;
    let mut reviews = api.reviews(&tracked.address, number, Some(since)).await?;
    reviews.retain(|review| review.verdict != ReviewVerdict::Pending);
    if comments.is_empty() && reviews.is_empty() {
        return Ok(Vec::new());
    }
    let pull = Some(api.pull(&tracked.address, number).await?);
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
