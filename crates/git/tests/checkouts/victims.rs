//! Operations in a process of their own, which a test kills.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::{Signal, getpid, kill_process};
use segue_core::failpoint;
use segue_core::model::{RefName, RepositorySource, RepositoryUrl};
use segue_core::ports::{Checkouts as _, RemovalOrder, RestorationOrder};

use crate::support::{Scene, caller_in, checkouts_in, spec_in};

/// What a victim does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VictimAction {
    EnsureLocal,
    EnsureFromUrl,
    Remove,
    Restore,
}

impl VictimAction {
    const ALL: [Self; 4] = [Self::EnsureLocal, Self::EnsureFromUrl, Self::Remove, Self::Restore];

    fn word(self) -> String {
        format!("{self:?}")
    }

    /// Carries it out for the worktree `x` of a scene.
    pub(crate) async fn carry_out(self, scene: &Path) -> segue_core::Result<()> {
        let checkouts = checkouts_in(scene);
        let app = RepositorySource::Folder(scene.join("app"));
        let url = format!("file://{}", scene.join("remote.git").display());
        let remote = RepositorySource::Url(RepositoryUrl::parse(&url).unwrap());
        let caller = caller_in(scene);
        match self {
            Self::EnsureLocal => {
                let mut spec = spec_in(scene, app, "x");
                spec.provision.from = Some(scene.join("app"));
                spec.provision.include = vec![".env".to_owned()];
                checkouts.ensure(&spec, &caller).await.map(drop)
            }
            Self::EnsureFromUrl => {
                let spec = spec_in(scene, remote, "x");
                checkouts.ensure(&spec, &caller).await.map(drop)
            }
            Self::Remove => {
                let path = scene.join("worktrees/x");
                let place = segue_core::model::WorktreePlace { source: app, path };
                let order = RemovalOrder { place, include: Vec::new(), used_by: None };
                checkouts.remove(&order).await.map(drop)
            }
            Self::Restore => {
                let salvage = fs::read_to_string(scene.join("salvage")).unwrap();
                let salvage = RefName::parse(&salvage).unwrap();
                let order = RestorationOrder { source: app, salvage, branch: None };
                checkouts.restore(&order, &caller).await.map(drop)
            }
        }
    }
}

struct Strike {
    /// The name of a failpoint, or `list`.
    wanted: String,
    left: AtomicUsize,
    log: PathBuf,
}

static STRIKE: OnceLock<Strike> = OnceLock::new();

/// Logs the point. Kills this process at the wanted one.
fn on_hit(name: &str) {
    let Some(strike) = STRIKE.get() else { return };
    let mut log = OpenOptions::new().append(true).create(true).open(&strike.log).unwrap();
    writeln!(log, "{name}").unwrap();
    if name == strike.wanted && strike.left.fetch_sub(1, Ordering::SeqCst) == 1 {
        kill_process(getpid(), Signal::KILL).unwrap();
    }
}

/// Not a test by itself: tests run it in a process of its own.
#[tokio::test]
async fn victim() {
    let variable = |name: &str| std::env::var_os(name).map(|it| it.into_string().unwrap());
    let Some(scene) = variable("VICTIM_SCENE") else { return };
    let action = variable("VICTIM_ACTION").unwrap();
    let action = VictimAction::ALL.into_iter().find(|it| it.word() == action).unwrap();
    let left = AtomicUsize::new(variable("VICTIM_HIT").unwrap().parse().unwrap());
    let wanted = variable("VICTIM_POINT").unwrap();
    let log = PathBuf::from(&scene).join("points");
    assert!(STRIKE.set(Strike { wanted, left, log }).is_ok());
    failpoint::install(on_hit);
    action.carry_out(Path::new(&scene)).await.unwrap();
}

/// Starts a victim that is killed at the n-th hit of a failpoint.
pub(crate) fn start(scene: &Scene, action: VictimAction, point: &str, hit: usize) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "victims::victim", "--nocapture"]);
    command.env("VICTIM_SCENE", scene.path("")).env("VICTIM_ACTION", action.word());
    command.env("VICTIM_POINT", point).env("VICTIM_HIT", hit.to_string());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Runs an action completely, and returns its failpoints with the number of each hit.
pub(crate) fn points(scene: &Scene, action: VictimAction) -> Vec<(String, usize)> {
    assert!(start(scene, action, "list", 0).wait().unwrap().success(), "{action:?}");
    let log = fs::read_to_string(scene.path("points")).unwrap();
    let mut points: Vec<(String, usize)> = Vec::new();
    for name in log.lines() {
        let hit = points.iter().filter(|(known, _)| known == name).count() + 1;
        points.push((name.to_owned(), hit));
    }
    points
}

/// Runs an action until it is killed at a failpoint.
pub(crate) fn kill_at(scene: &Scene, action: VictimAction, point: &str, hit: usize) {
    let status = start(scene, action, point, hit).wait().unwrap();
    assert_eq!(status.signal(), Some(9), "{action:?} {point} {hit}");
}
