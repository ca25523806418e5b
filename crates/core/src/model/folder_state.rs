//! The state of a folder that contains a Git repository.

/// The state of the folder in which the agent works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderState {
    pub path: String,
    pub branch: Option<String>,
    /// Newest first, one line each.
    pub commits: Vec<String>,
    /// Files with uncommitted changes.
    pub dirty: Vec<String>,
    /// Number of further files with uncommitted changes.
    pub more_dirty: usize,
}
