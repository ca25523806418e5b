use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;

use super::shell::Login;
use super::*;
use crate::process::{self, ProcessHandle};

const TIMEOUT: Duration = Duration::from_secs(30);

/// A script in the place of this program. It implements the subcommands `login-shell` and
/// `print-environment`.
const PROGRAM: &str = r#"#!/bin/sh
case $1 in
login-shell) exec setsid "$2" -i -l -c "'$3' print-environment $4" ;;
print-environment) printf '%s\0' "$2"; env -0; printf '%s\0' "$2" ;;
esac
"#;

/// A home folder with a profile, and a program.
struct HomeFixture {
    home: TempDir,
}

impl HomeFixture {
    fn new(profile: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(".profile"), profile).unwrap();
        let scene = Self { home };
        scene.script("segue", PROGRAM);
        scene
    }

    fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        path
    }

    fn environments(&self) -> LocalEnvironments {
        let home = self.home.path().to_str().unwrap().to_owned();
        let own = [("HOME", home.as_str()), ("SECRET_OF_THE_DAEMON", "x"), ("SEGUE_HOME", "/s")];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        LocalEnvironments::new(&Environment::new(own))
    }

    /// Reads the environment of a shell.
    async fn read(&self, shell: &str, timeout: Duration) -> Result<Environment> {
        let login = Login {
            program: self.home.path().join("segue"),
            shell: shell.into(),
            user: "ann".to_owned(),
            home: self.home.path().to_owned(),
        };
        shell::read_from(&login, &self.environments().base, timeout).await
    }

    /// Reads the environment of a shell that is this script.
    async fn read_script(&self, text: &str, timeout: Duration) -> Result<Environment> {
        let shell = self.script("shell", text);
        self.read(shell.to_str().unwrap(), timeout).await
    }
}

#[tokio::test]
async fn variables_of_the_profile_are_read_from_bash_and_dash() {
    let profile =
        "echo Welcome\nexport KEY='two\nlines'\ncase $- in *i*) export INTERACTIVE=1;; esac\n";
    for shell in ["/bin/bash", "/bin/sh"] {
        let scene = HomeFixture::new(profile);
        let environment = scene.read(shell, TIMEOUT).await.unwrap();
        assert_eq!(environment.get("KEY"), Some("two\nlines"), "{shell}");
        assert_eq!(environment.get("INTERACTIVE"), Some("1"), "{shell}");
        assert_eq!(environment.get("USER"), Some("ann"), "{shell}");
        assert_eq!(environment.get("SHELL"), Some(shell));
        assert_eq!(environment.get(READING), Some("1"), "{shell}");
        assert_eq!(environment.get("SECRET_OF_THE_DAEMON"), None, "{shell}");
    }
}

#[tokio::test]
async fn shell_that_hangs_is_ended_with_its_children() {
    let scene = HomeFixture::new("");
    let text = "#!/bin/sh\nsleep 600 &\necho $! > ~/child\nwait\n";
    let error = scene.read_script(text, Duration::from_secs(2)).await.unwrap_err();
    assert_eq!(error.causes, ["it took longer than 2 seconds"]);
    let child = fs::read_to_string(scene.home.path().join("child")).unwrap();
    let child: u32 = child.trim().parse().unwrap();
    // The kernel may end a killed process a short time later.
    if let Some(child) = process::find(child)
        && let Some(child) = ProcessHandle::open(&child).unwrap()
    {
        assert!(child.gone_within(TIMEOUT).await.unwrap(), "it was not killed");
    }
}

#[tokio::test]
async fn shell_that_prints_no_environment_is_an_error_with_the_reason() {
    let scene = HomeFixture::new("");
    let table = [
        ("#!/bin/sh\necho 'This account is not available.'\nexit 1\n", "exit status: 1"),
        ("#!/bin/sh\nkill -9 $$\n", "signal: 9"),
        ("#!/bin/sh\nhead -c 10000000 /dev/zero\n", "it printed more than 8388608 bytes"),
    ];
    for (text, expected) in table {
        let error = scene.read_script(text, TIMEOUT).await.unwrap_err();
        assert!(error.causes[0].contains(expected), "{error:?}");
    }
    let error = scene.read("/no/such/shell", TIMEOUT).await.unwrap_err();
    assert!(error.causes[0].contains("it ended before it printed it"), "{error:?}");
}

#[tokio::test]
async fn background_process_of_a_profile_does_not_delay_the_reading() {
    let scene = HomeFixture::new("sleep 600 &\nexport KEY=1\n");
    let environment = scene.read("/bin/bash", TIMEOUT).await.unwrap();
    assert_eq!(environment.get("KEY"), Some("1"));
}

#[tokio::test]
async fn variables_of_files_replace_others_but_not_segue_home() {
    let scene = HomeFixture::new("");
    let file = scene.home.path().join("agents.env");
    fs::write(&file, "LANG=from-file\nKEY=1\nPWD=/nowhere\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let files = vec![PathBuf::from("~/agents.env")];
    let settings = EnvironmentSettings { shell: false, files, timeout: TIMEOUT };
    let environments = scene.environments();
    assert_eq!(environments.check_files(&settings), []);
    let environment = environments.login_shell(&settings).await.unwrap();
    assert_eq!(environment.names(), ["HOME", "KEY", "LANG", "PATH", "SEGUE_HOME"]);
    assert_eq!(environment.get("LANG"), Some("from-file"));
    assert_eq!(environment.get("SEGUE_HOME"), Some("/s"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(environments.check_files(&settings).len(), 1);
    assert!(environments.login_shell(&settings).await.is_err());
}

#[tokio::test]
async fn concurrent_readings_with_the_same_settings_are_shared() {
    let scene = HomeFixture::new("");
    let settings = EnvironmentSettings { shell: false, files: Vec::new(), timeout: TIMEOUT };
    let other = EnvironmentSettings { shell: true, ..settings.clone() };
    let environments = scene.environments();
    let (first, second) = (environments.reading(&settings), environments.reading(&settings));
    assert!(Arc::ptr_eq(&first, &second));
    assert!(!Arc::ptr_eq(&first, &environments.reading(&other)));
    drop((first, second));
    assert!(environments.current.lock().unwrap().1.upgrade().is_none(), "values stay in memory");
}
