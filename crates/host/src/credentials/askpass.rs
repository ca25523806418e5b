//! The program that git runs to ask for credentials. Git passes its question as the only argument,
//! so the program has a name of its own: a symlink to this program.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use segue_core::rules::askpass::PROGRAM;
use segue_core::{Result, failpoint};

use crate::atomic::temporary_name;
use crate::failure::cannot;
use crate::own_folder::{Openness, ensure_folder};
use crate::programs::lasting_path;

/// Returns the program that git runs, in this folder. Makes it if it is missing or leads to another
/// program.
pub fn link_askpass(folder: &Path) -> Result<PathBuf> {
    let (link, program) = (folder.join(PROGRAM), lasting_path());
    if fs::read_link(&link).is_ok_and(|target| target == program) {
        return Ok(link);
    }
    ensure_folder(folder, Openness::Private)?;
    let temporary = temporary_name(&link);
    failpoint::hit("askpass.link.before");
    let replaced = symlink(&program, &temporary).and_then(|()| fs::rename(&temporary, &link));
    if let Err(error) = replaced {
        // Report why the link cannot be made, not a failure of this cleanup.
        let _tidied = fs::remove_file(&temporary);
        return Err(cannot("make the link", &link, &error));
    }
    failpoint::hit("askpass.link.after");
    Ok(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_leads_to_this_program_and_a_wrong_one_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        let own = std::env::current_exe().unwrap();
        for wrong in [None, Some("/bin/false")] {
            if let Some(wrong) = wrong {
                fs::remove_file(bin.join(PROGRAM)).unwrap();
                symlink(wrong, bin.join(PROGRAM)).unwrap();
            }
            let link = link_askpass(&bin).unwrap();
            assert_eq!(fs::read_link(&link).unwrap(), own);
            assert_eq!(link_askpass(&bin).unwrap(), link);
            assert_eq!(fs::read_dir(&bin).unwrap().count(), 1);
        }
    }
}
