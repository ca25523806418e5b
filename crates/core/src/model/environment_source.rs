//! Where the environment of a launch comes from.

use crate::word_enum::word_enum;

word_enum! {
    /// A source of environment variables, in the order in which sources are tried.
    pub enum EnvironmentSource {
        /// The environment of the user's command that requests the launch.
        Given = "given",
        /// The memory of the holder of the session's last launch.
        Holder = "holder",
        /// The user's login shell, read when it is needed, and the files that the user's settings
        /// name.
        LoginShell = "login_shell",
    }
}
