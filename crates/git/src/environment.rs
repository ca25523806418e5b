//! The environment variables of git commands.

use segue_core::model::Environment;

/// The variables of the caller that begin with `GIT_` and that a command of the user gets: identity,
/// credentials, transport, and the places of the user's own configuration. Others would lead git to
/// another repository, index or configuration, or make it print what it sends.
const KEPT: [&str; 25] = [
    "GIT_ALLOW_PROTOCOL",
    "GIT_ASKPASS",
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_HTTP_LOW_SPEED_LIMIT",
    "GIT_HTTP_LOW_SPEED_TIME",
    "GIT_HTTP_PROXY_AUTHMETHOD",
    "GIT_HTTP_USER_AGENT",
    "GIT_LFS_SKIP_SMUDGE",
    "GIT_PROTOCOL_FROM_USER",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_CERT",
    "GIT_SSL_KEY",
    "GIT_SSL_NO_VERIFY",
];

/// Variables of the caller that a command of the user does not get. `SSH_ASKPASS` names a program
/// that asks a person, for git and for ssh.
const DROPPED: [&str; 2] = ["LANGUAGE", "SSH_ASKPASS"];

/// Variables of every command. Neither git nor the ssh that it starts may ask a person: the daemon
/// has no terminal, and a dialog on the screen of an absent person would stop the command until its
/// time limit. `LC_ALL` keeps git's messages in English, because this program compares them with
/// known ones.
const ALWAYS: [(&str, &str); 4] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("LC_ALL", "C"),
    ("GIT_PAGER", "cat"),
];

/// Variables that stop git from reading configuration outside the repository, from fetching, from
/// running programs, and from replacing commits (`refs/replace/`, grafts).
const CLOSED: [(&str, &str); 12] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_GRAFT_FILE", "/nonexistent"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ASKPASS", "/bin/false"),
    ("GIT_EDITOR", "/bin/false"),
    ("HOME", "/nonexistent"),
    ("PATH", "/nonexistent"),
];

/// Returns the environment of a command that runs as the user's own git would.
pub(crate) fn of_user(caller: &Environment) -> Environment {
    let mut environment = caller.clone();
    let is_kept = |name: &str| !name.starts_with("GIT_") || KEPT.contains(&name);
    environment.retain(|name| is_kept(name) && !DROPPED.contains(&name));
    set(&mut environment, &ALWAYS);
    environment
}

/// Returns the environment of a command for our own bookkeeping. It has nothing of the caller's.
pub(crate) fn of_bookkeeping() -> Environment {
    let mut environment = Environment::default();
    set(&mut environment, &ALWAYS);
    set(&mut environment, &CLOSED);
    environment
}

fn set(environment: &mut Environment, variables: &[(&str, &str)]) {
    for (name, value) in variables {
        environment.set(*name, *value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_environment_keeps_identity_and_drops_variables_of_other_repositories() {
        let pairs = [
            ("PATH", "/bin"),
            ("HOME", "/home/me"),
            ("GIT_AUTHOR_NAME", "coder"),
            ("GIT_ASKPASS", "/bin/ask"),
            ("GIT_CONFIG_GLOBAL", "/home/me/.gitconfig"),
            ("GIT_DIR", "/elsewhere"),
            ("GIT_INDEX_FILE", "/elsewhere/index"),
            ("GIT_WORK_TREE", "/elsewhere"),
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "core.sshCommand"),
            ("GIT_CONFIG_PARAMETERS", "'a.b'='c'"),
            ("GIT_OBJECT_DIRECTORY", "/elsewhere"),
            ("GIT_TRACE_CURL", "1"),
            ("GIT_EXTERNAL_DIFF", "/bin/diff"),
            ("GIT_SSH_COMMAND", "ssh -i key"),
            ("SSH_AUTH_SOCK", "/run/agent"),
            ("SSH_ASKPASS", "/bin/dialog"),
            ("SSH_ASKPASS_REQUIRE", "force"),
            ("LANGUAGE", "de"),
            ("LC_ALL", "de_DE.UTF-8"),
        ];
        let caller = Environment::new(pairs.map(|(name, value)| (name.into(), value.into())));
        let environment = of_user(&caller);
        let wanted = [
            "GIT_ASKPASS",
            "GIT_AUTHOR_NAME",
            "GIT_CONFIG_GLOBAL",
            "GIT_PAGER",
            "GIT_SSH_COMMAND",
            "GIT_TERMINAL_PROMPT",
            "HOME",
            "LC_ALL",
            "PATH",
            "SSH_ASKPASS_REQUIRE",
            "SSH_AUTH_SOCK",
        ];
        assert_eq!(environment.names(), wanted);
        assert_eq!(environment.get("SSH_ASKPASS_REQUIRE"), Some("never"));
        assert_eq!(environment.get("LC_ALL"), Some("C"));
    }

    #[test]
    fn bookkeeping_environment_finds_no_program_and_no_configuration() {
        let environment = of_bookkeeping();
        assert_eq!(environment.get("PATH"), Some("/nonexistent"));
        assert_eq!(environment.get("GIT_CONFIG_GLOBAL"), Some("/dev/null"));
    }
}
