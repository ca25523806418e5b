//! The objects of GitHub's JSON, which Gitea and Forgejo have copied. The API and the deliveries of
//! all three use them. Every field is optional, and unknown fields are ignored.

mod delivery;
mod objects;

pub(crate) use delivery::{CiJson, CiReport, HubPayload};
pub(crate) use objects::{
    CommentJson, IssueJson, LabelJson, PullJson, RepositoryJson, ReviewJson, UserJson,
};
