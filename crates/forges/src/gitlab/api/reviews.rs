//! Reviews of merge requests. GitLab has no object for a review: it is made of the approvals, the
//! states of the reviewers, and the comments on lines of each person.

use jiff::Timestamp;
use segue_core::model::{
    ForgeComment, ForgeReview, ForgeSubject, ForgeUser, MAX_LIST_ITEMS, RepositoryAddress,
    ReviewVerdict,
};
use segue_core::ports::ForgeResult;
use serde::Deserialize;

use super::{NoteJson, subject_path};
use crate::client::{ApiClient, ApiRequest};
use crate::gitlab::objects::GitlabUserJson;
use crate::shared::list::FirstItems;
use crate::shared::text;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DiscussionJson {
    id: Option<String>,
    notes: FirstItems<NoteJson>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ApprovalsJson {
    approved_by: FirstItems<ReviewerJson>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ReviewerJson {
    user: Option<GitlabUserJson>,
    state: Option<String>,
}

/// Returns one review for each person who approved, asked for changes, or commented on lines.
pub(super) async fn of_pull(
    client: &ApiClient,
    repository: &RepositoryAddress,
    number: u64,
    since: Option<Timestamp>,
) -> ForgeResult<Vec<ForgeReview>> {
    let subject = ForgeSubject::Pull(number);
    let path = subject_path(repository, subject);
    let object = format!("the reviews of {subject} of {}", repository.full_name);
    let request = |list| ApiRequest::get(&format!("{path}/{list}"), object.clone());
    let discussions: Vec<DiscussionJson> =
        client.all(&request("discussions").with("per_page", "100")).await?;
    let approvals: Option<ApprovalsJson> = client.optional(&request("approvals")).await?;
    let reviewers: Option<Vec<ReviewerJson>> = client.optional(&request("reviewers")).await?;
    let mut reviews = Vec::new();
    let approved = approvals.unwrap_or_default().approved_by.0.into_iter();
    for user in approved.filter_map(|it| it.user?.user()) {
        review_of(&mut reviews, user).verdict = ReviewVerdict::Approved;
    }
    for reviewer in reviewers.unwrap_or_default() {
        let asks_for_changes = reviewer.state.as_deref() == Some("requested_changes");
        if let Some(user) = reviewer.user.and_then(GitlabUserJson::user)
            && asks_for_changes
        {
            review_of(&mut reviews, user).verdict = ReviewVerdict::ChangesRequested;
        }
    }
    for comment in line_comments(discussions, since) {
        let Some(author) = comment.author.clone() else { continue };
        let review = review_of(&mut reviews, author);
        review.submitted_at = review.submitted_at.max(comment.updated_at);
        if review.comments.len() < MAX_LIST_ITEMS {
            review.comments.push(comment);
        }
    }
    reviews.sort_by_key(|review| review.submitted_at);
    Ok(reviews)
}

fn line_comments(
    discussions: Vec<DiscussionJson>,
    since: Option<Timestamp>,
) -> impl Iterator<Item = ForgeComment> {
    let comments = discussions.into_iter().flat_map(|discussion| {
        let thread = text::optional_name(discussion.id);
        discussion.notes.0.into_iter().filter_map(move |note| note.comment(thread.clone()))
    });
    let is_new = move |it: &ForgeComment| since.is_none_or(|since| it.updated_at >= Some(since));
    comments.filter(move |comment| comment.place.is_some() && is_new(comment))
}

/// Returns the review of a person, which is added if there is none.
fn review_of(reviews: &mut Vec<ForgeReview>, user: ForgeUser) -> &mut ForgeReview {
    let is_theirs =
        |it: &ForgeReview| it.author.as_ref().is_some_and(|author| author.is_same(&user));
    let index = reviews.iter().position(is_theirs).unwrap_or(reviews.len());
    if index == reviews.len() {
        reviews.push(ForgeReview {
            id: None,
            verdict: ReviewVerdict::Commented,
            body: String::new(),
            author: Some(user),
            commit: None,
            comments: Vec::new(),
            web_url: String::new(),
            submitted_at: None,
        });
    }
    &mut reviews[index]
}
