//! Whether a vendor respects a permission.

/// What a session's permission does to an agent of a vendor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionEffect {
    /// The permission limits what the agent may do without asking.
    Limits,
    /// The permission has no effect. An agent with limits could escape them by starting an agent of
    /// this vendor.
    Nothing,
}
