//! Filesystems on which a database is not safe: network filesystems.

use std::path::Path;

use rustix::fs::{major, minor};
use segue_core::{Error, Result};

use crate::sqlite::fault;

/// Network and cluster filesystems, by the magic number that `statfs` returns.
const NETWORK: &[(u32, &str)] = &[
    (0x0000_6969, "NFS"),
    (0x0000_517B, "SMB"),
    (0xFE53_4D42, "SMB"),
    (0xFF53_4D42, "CIFS"),
    (0x0102_1997, "9p"),
    (0x5346_414F, "AFS"),
    (0x6B41_4653, "AFS"),
    (0x7375_7245, "Coda"),
    (0x0000_564C, "NCP"),
    (0x00C3_6400, "Ceph"),
    (0x0BD0_0BD0, "Lustre"),
    (0x4750_4653, "GPFS"),
    (0x0116_1970, "GFS2"),
    (0x7461_636F, "OCFS2"),
    (0x1983_0326, "BeeGFS"),
    (0x2003_0528, "OrangeFS"),
];

/// The magic number that all FUSE filesystems share. Only the mount table distinguishes them.
const FUSE: u32 = 0x6573_5546;

/// FUSE network filesystems, by their type in the mount table.
const NETWORK_FUSE: &[&str] = &[
    "fuse.sshfs",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.gcsfuse",
    "fuse.blobfuse",
    "fuse.blobfuse2",
    "fuse.glusterfs",
    "fuse.ceph-fuse",
    "fuse.curlftpfs",
    "fuse.davfs",
    "fuse.gvfsd-fuse",
    "fuse.juicefs",
    "fuse.moosefs",
    "fuse.mfs",
    "fuse.seaweedfs",
];

const MOUNT_TABLE: &str = "/proc/self/mountinfo";

/// Returns an error for a folder on a filesystem where locks and memory maps are not reliable.
pub(crate) fn check(folder: &Path) -> Result<()> {
    let failed = |error| fault::system("check the filesystem of", folder, &error);
    let found = rustix::fs::statfs(folder).map_err(|errno| failed(errno.into()))?;
    let magic = u32::try_from(found.f_type).unwrap_or_default();
    let name = match network_name(magic) {
        Some(name) => Some(name.to_owned()),
        None if magic == FUSE => network_fuse(folder),
        None => None,
    };
    name.map_or(Ok(()), |name| Err(refusal(folder, &name)))
}

/// Returns the name of a network filesystem with this magic number.
fn network_name(magic: u32) -> Option<&'static str> {
    NETWORK.iter().find(|(number, _)| *number == magic).map(|(_, name)| *name)
}

/// Returns the type of a FUSE mount, if it is a network filesystem.
fn network_fuse(folder: &Path) -> Option<String> {
    let device = rustix::fs::stat(folder).ok()?.st_dev;
    let table = std::fs::read_to_string(MOUNT_TABLE).ok()?;
    let kind = mount_kind(&table, &format!("{}:{}", major(device), minor(device)))?;
    NETWORK_FUSE.contains(&kind).then(|| kind.to_owned())
}

/// Finds a device's filesystem type in a mount table: the word after the lone dash.
fn mount_kind<'table>(table: &'table str, device: &str) -> Option<&'table str> {
    let line = table.lines().find(|line| line.split(' ').nth(2) == Some(device))?;
    line.split_once(" - ")?.1.split(' ').next()
}

fn refusal(folder: &Path, name: &str) -> Error {
    Error::config(format!("the store cannot be in `{}`", folder.display()))
        .caused_by(format!("it is on a network filesystem ({name}), which could lose stored data"))
        .hint("set `SEGUE_HOME` to a folder on a local disk, such as `export SEGUE_HOME=/var/tmp/segue`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_filesystems_are_recognized_and_local_filesystems_are_not() {
        let network = [
            (0x6969, Some("NFS")),
            (0x517B, Some("SMB")),
            (0xFF53_4D42, Some("CIFS")),
            (0x0102_1997, Some("9p")),
        ];
        let ext4_btrfs_xfs_tmpfs_overlay =
            [0xEF53, 0x9123_683E, 0x5846_5342, 0x0102_1994, 0x794C_7630];
        for (magic, name) in network {
            assert_eq!(network_name(magic), name, "{magic:#x}");
        }
        for magic in ext4_btrfs_xfs_tmpfs_overlay {
            assert_eq!(network_name(magic), None, "{magic:#x}");
        }
    }

    #[test]
    fn fuse_mounts_are_distinguished_by_the_mount_table() {
        let table = "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n\
                     90 22 0:51 / /mnt/far rw,nosuid shared:9 master:2 - fuse.sshfs me@far:/ rw\n\
                     91 22 0:52 / /mnt/near\\040disk rw - fuseblk /dev/sdb1 rw\n";
        assert_eq!(mount_kind(table, "0:51"), Some("fuse.sshfs"));
        assert_eq!(mount_kind(table, "0:52"), Some("fuseblk"));
        assert_eq!(mount_kind(table, "254:0"), Some("ext4"));
        assert_eq!(mount_kind(table, "0:5"), None);
        assert!(NETWORK_FUSE.contains(&"fuse.sshfs") && !NETWORK_FUSE.contains(&"fuseblk"));
    }

    #[test]
    fn refusal_names_the_folder_the_reason_and_a_solution() {
        let error = refusal(Path::new("/mnt/far"), "NFS");
        assert_eq!(error.kind, segue_core::Kind::Config);
        assert!(error.message.contains("`/mnt/far`"));
        assert!(error.causes[0].contains("NFS"));
        assert!(error.hints[0].contains("SEGUE_HOME"));
    }

    #[test]
    fn local_folder_is_accepted() {
        check(tempfile::tempdir().unwrap().path()).unwrap();
    }
}
