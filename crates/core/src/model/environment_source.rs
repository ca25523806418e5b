//! Where the environment of a launch comes from.

use crate::word_enum::word_enum;

word_enum! {
    /// A source of environment variables, in the order in which sources are tried.
    pub enum EnvironmentSource {
        /// The command of the user that asks for the launch.
        Given = "given",
        /// The memory of the holder of the session's last launch.
        Holder = "holder",
        /// The user's login shell, read now, and the files of the user's settings.
        LoginShell = "login_shell",
    }
}
