//! How far a vendor respects a permission.

/// What a session's permission does to an agent of a vendor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionEffect {
    /// It limits what the agent may do without asking.
    Limits,
    /// It has none. An agent with limits could escape them by starting an agent of this vendor.
    Nothing,
}
