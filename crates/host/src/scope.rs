//! A systemd scope for each holder, so that the holder outlives the login session that requested
//! it.

use std::path::Path;

use segue_core::model::{Environment, LaunchId};

use crate::programs::in_path;

/// Returns the words that precede a holder's command line to run it in its own scope. Empty if the
/// user has no systemd manager or `systemd-run` is missing.
pub fn prefix(environment: &Environment, launch: LaunchId) -> Vec<String> {
    if !has_user_manager(environment) {
        return Vec::new();
    }
    let Some(program) = in_path("systemd-run", environment) else { return Vec::new() };
    let Some(program) = program.to_str() else { return Vec::new() };
    let unit = format!("--unit=segue-{launch}");
    // Delegation lets the holder create a cgroup for its agent inside the scope.
    let delegate = "--property=Delegate=yes";
    let words = [program, "--user", "--scope", "--quiet", "--collect", delegate, &unit, "--"];
    words.map(str::to_owned).to_vec()
}

/// Returns whether a user's processes survive the end of the user's last login session.
pub fn linger_enabled(user: &str) -> bool {
    !user.is_empty()
        && !user.contains('/')
        && Path::new("/var/lib/systemd/linger").join(user).exists()
}

fn has_user_manager(environment: &Environment) -> bool {
    environment
        .get("XDG_RUNTIME_DIR")
        .map(Path::new)
        .is_some_and(|folder| folder.is_absolute() && folder.join("systemd/private").exists())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use tempfile::TempDir;

    use super::*;

    fn environment(runtime: &Path, path: &Path) -> Environment {
        Environment::new([
            ("XDG_RUNTIME_DIR".to_owned(), runtime.to_str().unwrap().to_owned()),
            ("PATH".to_owned(), path.to_str().unwrap().to_owned()),
        ])
    }

    #[test]
    fn prefix_is_empty_without_the_user_manager_or_systemd_run() {
        let launch: LaunchId = "0198c0de-0000-7000-8000-000000000001".parse().unwrap();
        let temp = TempDir::new().unwrap();
        let environment = environment(temp.path(), temp.path());
        assert_eq!(prefix(&environment, launch), Vec::<String>::new());
        fs::create_dir(temp.path().join("systemd")).unwrap();
        fs::write(temp.path().join("systemd/private"), "").unwrap();
        assert_eq!(prefix(&environment, launch), Vec::<String>::new());
        let program = temp.path().join("systemd-run");
        fs::write(&program, "").unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o700)).unwrap();
        let words = prefix(&environment, launch);
        assert_eq!(words[0], program.to_str().unwrap());
        assert_eq!(
            words[1..].join(" "),
            "--user --scope --quiet --collect --property=Delegate=yes \
             --unit=segue-0198c0de-0000-7000-8000-000000000001 --"
        );
        assert_eq!(prefix(&Environment::default(), launch), Vec::<String>::new());
    }

    #[test]
    fn linger_enabled_refuses_a_user_name_that_is_a_path() {
        assert!(!linger_enabled("../../.."));
        assert!(!linger_enabled(""));
    }
}
