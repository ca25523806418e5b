//! Reviews of pull requests.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{ForgeComment, ForgeUser};
use crate::model::CommitId;
use crate::word_enum::word_enum;

/// A review of a pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgeReview {
    /// `None` if the forge has no reviews of their own, or if the delivery does not name the
    /// review.
    pub id: Option<u64>,
    pub verdict: ReviewVerdict,
    pub body: String,
    pub author: Option<ForgeUser>,
    /// The reviewed commit.
    pub commit: Option<CommitId>,
    /// The comments on lines. Deliveries do not have them; the API does.
    pub comments: Vec<ForgeComment>,
    pub web_url: String,
    pub submitted_at: Option<Timestamp>,
}

word_enum! {
    /// The result of a review.
    pub enum ReviewVerdict {
        Approved = "approved",
        ChangesRequested = "changes_requested",
        Commented = "commented",
        /// The review no longer counts.
        Dismissed = "dismissed",
        /// The reviewer has not submitted the review yet.
        Pending = "pending",
    }
}
