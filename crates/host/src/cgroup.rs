//! Control groups (cgroups) of agents. The cgroup of a process shows which launch it belongs to.
//!
//! Every process of an agent is in a cgroup that is named after its launch. A process inherits the
//! cgroup of its parent process. It stays there even if it clears its environment, calls `setsid`
//! or loses its holder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::getpid;
use segue_core::model::LaunchId;

use crate::process::read_text;

/// Prefix of the name of an agent's cgroup. The launch id follows.
const PREFIX: &str = "segue-agent-";
/// The cgroup file that lists member processes. A process that writes `0` to it moves itself into
/// the cgroup.
const MEMBERS: &str = "cgroup.procs";
const KILL: &str = "cgroup.kill";

/// Returns the launch whose cgroup contains the process, according to the kernel.
pub(crate) fn launch_of(pid: u32) -> Option<LaunchId> {
    read_text(pid, "cgroup")?.lines().find_map(launch_in)
}

/// Finds the launch in a line of `/proc/<pid>/cgroup`: `hierarchy:controllers:path`. Looks at every
/// component of the path, because an agent may create cgroups inside its own. Returns the outermost
/// match.
fn launch_in(line: &str) -> Option<LaunchId> {
    let path = line.splitn(3, ':').nth(2)?;
    path.split('/').find_map(|name| name.strip_prefix(PREFIX)?.parse().ok())
}

/// The cgroup of one launch's agent. It is a child of the cgroup of the process that creates it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentGroup {
    folder: PathBuf,
}

impl AgentGroup {
    /// Creates the cgroup, or reuses an existing one. Fails if this user cannot create cgroups (v2)
    /// here.
    pub(crate) fn make(launch: LaunchId) -> io::Result<Self> {
        let group = Self::at(&own_folder()?, launch);
        match fs::create_dir(&group.folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(group),
        }
    }

    fn at(parent: &Path, launch: LaunchId) -> Self {
        Self { folder: parent.join(format!("{PREFIX}{launch}")) }
    }

    /// Returns the file that a process writes to in order to enter the cgroup.
    pub(crate) fn entrance(&self) -> PathBuf {
        self.folder.join(MEMBERS)
    }

    /// Kills every process in the cgroup and in its children, at once.
    pub(crate) fn kill(&self) -> io::Result<()> {
        fs::write(self.folder.join(KILL), "1")
    }

    /// Removes the cgroup and its children. A cgroup that still contains a process stays.
    pub(crate) fn remove(&self) {
        remove_tree(&self.folder);
    }
}

/// Moves the calling process into the cgroup with this [`AgentGroup::entrance`].
pub(crate) fn enter(entrance: &Path) -> io::Result<()> {
    // Opened without O_CREAT: writing to a new regular file would not move the process.
    let mut file = fs::OpenOptions::new().write(true).open(entrance)?;
    io::Write::write_all(&mut file, b"0")
}

/// Removes the empty cgroups that killed holders of ended launches left in this process's own
/// cgroup. Keeps the other cgroups: they may belong to another Segue, or an agent may be about to
/// enter them.
pub fn remove_empty(is_over: impl Fn(LaunchId) -> bool) {
    let Ok(entries) = own_folder().and_then(fs::read_dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let launch = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse().ok());
        if launch.is_some_and(&is_over) {
            remove_tree(&entry.path());
        }
    }
}

/// Returns whether a launch has a cgroup inside this process's own cgroup.
pub fn exists(launch: LaunchId) -> bool {
    own_folder().is_ok_and(|parent| AgentGroup::at(&parent, launch).folder.exists())
}

/// Checks whether cgroups can be created here, by creating and removing one.
pub fn check() -> io::Result<()> {
    let probe = own_folder()?.join(format!("segue-probe-{}", getpid().as_raw_nonzero()));
    fs::create_dir(&probe)?;
    fs::remove_dir(&probe)
}

/// Kills the remaining processes of dead launches whose cgroups are inside this process's own
/// cgroup.
pub(crate) fn kill_all(launches: impl IntoIterator<Item = LaunchId>) {
    let Ok(parent) = own_folder() else { return };
    for launch in launches {
        let group = AgentGroup::at(&parent, launch);
        // Most launches have no cgroup here. The error does not matter, because the caller also
        // kills the processes one by one.
        let _killed = group.kill();
    }
}

/// Removes the cgroups of dead launches inside this process's own cgroup, if they are empty.
pub(crate) fn remove_all(launches: impl IntoIterator<Item = LaunchId>) {
    let Ok(parent) = own_folder() else { return };
    launches.into_iter().for_each(|launch| AgentGroup::at(&parent, launch).remove());
}

fn remove_tree(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_tree(&entry.path());
        }
    }
    // The kernel refuses to remove a cgroup that contains a process.
    let _busy = fs::remove_dir(folder);
}

/// Returns the folder of this process's own cgroup.
fn own_folder() -> io::Result<PathBuf> {
    let missing = || io::Error::new(io::ErrorKind::NotFound, "no cgroup v2 is mounted here");
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    let groups = fs::read_to_string("/proc/self/cgroup")?;
    folder_of(&mounts, &groups).ok_or_else(missing)
}

/// Joins the mount point of cgroup v2 with the cgroup path of a process.
fn folder_of(mounts: &str, groups: &str) -> Option<PathBuf> {
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let (root, place) = mounts.lines().find_map(cgroup_mount)?;
    let inside = Path::new(path).strip_prefix(root).ok()?;
    // A path above the root of this process's cgroup namespace cannot be reached from here.
    let has_parent = inside.components().any(|part| part == std::path::Component::ParentDir);
    (!has_parent).then(|| Path::new(place).join(inside))
}

/// Parses a line of `mountinfo`. Returns the root and the mount point, or `None` if it is not a
/// cgroup v2 mount.
fn cgroup_mount(line: &str) -> Option<(&str, &str)> {
    let (mount, kind) = line.split_once(" - ")?;
    kind.starts_with("cgroup2 ").then_some(())?;
    let mut fields = mount.split(' ').skip(3);
    Some((fields.next()?, fields.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAUNCH: &str = "0198c0de-0000-7000-8000-000000000001";

    #[test]
    fn cgroup_path_names_the_launch_in_any_hierarchy_and_depth() {
        let launch: LaunchId = LAUNCH.parse().unwrap();
        let table = [
            (format!("0::/segue-agent-{LAUNCH}"), Some(launch)),
            (format!("0::/user.slice/segue-x.scope/segue-agent-{LAUNCH}/podman"), Some(launch)),
            (format!("1:name=systemd:/a/segue-agent-{LAUNCH}"), Some(launch)),
            (format!("0::/a:b/segue-agent-{LAUNCH}"), Some(launch)),
            (format!("0::/x-segue-agent-{LAUNCH}"), None),
            ("0::/segue-agent-".to_owned(), None),
            ("0::/".to_owned(), None),
            (String::new(), None),
        ];
        for (line, expected) in table {
            assert_eq!(launch_in(&line), expected, "{line}");
        }
    }

    #[test]
    fn own_folder_is_found_in_unified_hybrid_and_container_layouts() {
        let unified = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw";
        let hybrid = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw";
        let container = "41 31 0:38 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup ro";
        let table = [
            (unified, "0::/user.slice/a.scope", Some("/sys/fs/cgroup/user.slice/a.scope")),
            (hybrid, "4:memory:/x\n0::/", Some("/sys/fs/cgroup/unified/")),
            (container, "0::/docker/abc/inner", Some("/sys/fs/cgroup/inner")),
            (container, "0::/elsewhere", None),
            (unified, "0::/../other", None),
            (unified, "4:memory:/x", None),
            ("32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu", "0::/", None),
        ];
        for (mounts, groups, expected) in table {
            assert_eq!(folder_of(mounts, groups), expected.map(PathBuf::from), "{groups}");
        }
    }

    #[test]
    fn process_without_an_agent_cgroup_has_no_launch() {
        assert_eq!(launch_of(std::process::id()), None);
        assert_eq!(launch_of(u32::MAX), None);
    }
}
