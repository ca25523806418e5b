//! Forges: servers with repositories, issues, pull requests and CI. These types are the same for
//! every forge. All text in them was written by other people: it is data, and has a maximum length.

mod ci;
mod comment;
mod delivery;
mod event;
mod issue;
mod limits;
mod listed;
mod pull;
mod repository;
mod review;
mod source;
mod trigger;
mod user;

pub use ci::{CiConclusion, CiLog, CiLogSource, CiRun};
pub use comment::{CommentPlace, DiffSide, ForgeComment, ForgeSubject};
pub use delivery::{DeliveryHeaders, DeliveryReading, DeliveryRefusal, DeliveryRequest};
pub use event::{EventChanges, ForgeEvent, PushedCommits};
pub use issue::ForgeIssue;
pub use limits::{
    LONGEST_BODY_BYTES, LONGEST_NAME_BYTES, LONGEST_TITLE_BYTES, LONGEST_URL_BYTES,
    MAX_DELIVERY_BYTES, MAX_LIST_ITEMS, shortened_text,
};
pub use listed::{ListedIssue, ListedPull, ListedRun, SubjectChange};
pub use pull::{ForgePull, PullState};
pub use repository::{ForgeRepository, RepositoryAddress, RepositoryPermission};
pub use review::{ForgeReview, ReviewVerdict};
pub use source::ForgeSource;
pub use trigger::TriggerKind;
pub use user::{ForgeUser, UserKind};
