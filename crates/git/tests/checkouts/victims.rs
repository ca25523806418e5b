//! Operations in a process of their own, which a test kills or disturbs.

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

use crate::support::{Scene, branch, caller_in, checkouts_in, spec_in};

/// What a victim does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VictimAction {
    EnsureLocal,
    EnsureFromUrl,
    Remove,
    Restore,
    /// Restores the worktree on the new branch `y`.
    RestoreAs,
}

impl VictimAction {
    const ALL: [Self; 5] =
        [Self::EnsureLocal, Self::EnsureFromUrl, Self::Remove, Self::Restore, Self::RestoreAs];

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
            Self::Restore | Self::RestoreAs => {
                let salvage = fs::read_to_string(scene.join("salvage")).unwrap();
                let salvage = RefName::parse(&salvage).unwrap();
                let branch = (self == Self::RestoreAs).then(|| branch("y"));
                let order = RestorationOrder { source: app, salvage, branch };
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
    /// The file to write at the failpoint. `None` if the process is killed there.
    written: Option<PathBuf>,
}

static STRIKE: OnceLock<Strike> = OnceLock::new();

/// Logs the point. At the wanted one, writes a file or kills this process.
fn on_hit(name: &str) {
    let Some(strike) = STRIKE.get() else { return };
    let mut log = OpenOptions::new().append(true).create(true).open(&strike.log).unwrap();
    writeln!(log, "{name}").unwrap();
    if name == strike.wanted && strike.left.fetch_sub(1, Ordering::SeqCst) == 1 {
        match &strike.written {
            Some(path) => fs::write(path, "written meanwhile").unwrap(),
            None => kill_process(getpid(), Signal::KILL).unwrap(),
        }
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
    let written = variable("VICTIM_WRITES").map(PathBuf::from);
    assert!(STRIKE.set(Strike { wanted, left, log, written }).is_ok());
    failpoint::install(on_hit);
    action.carry_out(Path::new(&scene)).await.unwrap();
}

fn command(scene: &Scene, action: VictimAction, point: &str, hit: usize) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "victims::victim", "--nocapture"]);
    command.env("VICTIM_SCENE", scene.path("")).env("VICTIM_ACTION", action.word());
    command.env("VICTIM_POINT", point).env("VICTIM_HIT", hit.to_string());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Starts a victim that is killed at the n-th hit of a failpoint.
pub(crate) fn start(scene: &Scene, action: VictimAction, point: &str, hit: usize) -> Child {
    command(scene, action, point, hit).spawn().unwrap()
}

/// Runs an action while another program writes a file at a failpoint. Returns whether it succeeds.
pub(crate) fn succeeds_while_written(
    scene: &Scene,
    action: VictimAction,
    point: &str,
    file: &str,
) -> bool {
    let file = scene.path(file);
    let status = command(scene, action, point, 1).env("VICTIM_WRITES", &file).status().unwrap();
    assert!(fs::read_to_string(scene.path("points")).unwrap().contains(point));
    status.success()
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
