//! Finds the programs of Segue itself and of vendors.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use segue_core::model::Environment;
use segue_core::ports::{Program, ProgramSpec};

use crate::version;

/// Finds a vendor's program.
pub fn find(spec: &ProgramSpec, environment: &Environment) -> Option<Program> {
    match spec {
        ProgramSpec::Segue { subcommand } => Some(Program {
            path: installed().unwrap_or_else(|| PathBuf::from("/proc/self/exe")),
            arguments: vec![(*subcommand).to_owned()],
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
        ProgramSpec::Named { name, native } => {
            let path = in_path(name, environment).or_else(|| in_usual_places(name, environment))?;
            let version = version::of(&path);
            let path = native_beside(&path, native).unwrap_or(path);
            Some(Program { path, arguments: Vec::new(), version })
        }
    }
}

/// Returns the native program that a vendor's script would start, if it is at one of the known
/// paths.
fn native_beside(script: &Path, native: &[&str]) -> Option<PathBuf> {
    let real = fs::canonicalize(script).ok()?;
    let folder = real.parent()?;
    let found = native.iter().map(|place| folder.join(place)).find(|path| is_executable(path))?;
    fs::canonicalize(found).ok()
}

/// Returns a path that starts this program, even if its file was replaced meanwhile. The path is
/// valid in every process for as long as this process lives.
pub fn this_program() -> PathBuf {
    installed().unwrap_or_else(|| PathBuf::from(format!("/proc/{}/exe", std::process::id())))
}

/// Returns a path of this program that stays valid after this process has ended. If the file was
/// replaced by a newer version, returns the path of that version.
pub(crate) fn lasting_path() -> PathBuf {
    let replaced = || {
        let path = std::env::current_exe().ok()?;
        // The kernel appends this word to the path of a file that was replaced or deleted.
        let path = PathBuf::from(path.to_str()?.strip_suffix(" (deleted)")?);
        Some(path).filter(|path| is_executable(path))
    };
    installed().or_else(replaced).unwrap_or_else(this_program)
}

/// Returns whether a program with this name exists: an absolute path, or a name in `PATH`.
pub fn exists(name: &str, environment: &Environment) -> bool {
    in_path(name, environment).is_some()
}

/// Finds an executable in the absolute folders of `PATH`. A name with a slash must be an absolute
/// path.
pub(crate) fn in_path(name: &str, environment: &Environment) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_absolute() && is_executable(path));
    }
    first(std::env::split_paths(environment.get("PATH").unwrap_or_default()), name)
}

/// Returns the file that this program was started from. `None` if it was replaced or deleted.
fn installed() -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?;
    let identity =
        |path: &Path| fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino())).ok();
    (identity(&path)? == identity(Path::new("/proc/self/exe"))?).then_some(path)
}

fn in_usual_places(name: &str, environment: &Environment) -> Option<PathBuf> {
    if name.contains('/') {
        return None;
    }
    let home = environment.get("HOME").map(Path::new);
    let mut folders: Vec<PathBuf> = home
        .map(|home| vec![home.join(".local/bin"), home.join(".npm-global/bin")])
        .unwrap_or_default();
    folders.push(PathBuf::from("/usr/local/bin"));
    let nvm = match environment.get("NVM_DIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => Some(PathBuf::from(folder)),
        None => home.map(|home| home.join(".nvm")),
    };
    folders.extend(nvm.map(|nvm| nvm_folders(&nvm)).unwrap_or_default());
    first(folders, name)
}

/// Returns the program folders of the Node versions that nvm has installed, newest first.
fn nvm_folders(nvm: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(nvm.join("versions/node")) else { return Vec::new() };
    let mut versions: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    versions.sort_by_cached_key(|path| std::cmp::Reverse(version_of(path)));
    versions.into_iter().map(|version| version.join("bin")).collect()
}

/// Parses `v22.4.1` into numbers, so that 9 is older than 10.
fn version_of(path: &Path) -> Vec<u64> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.trim_start_matches('v').split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

fn first(folders: impl IntoIterator<Item = PathBuf>, name: &str) -> Option<PathBuf> {
    // A relative folder would name a different program in each working folder.
    let absolute = folders.into_iter().filter(|folder| folder.is_absolute());
    absolute.map(|folder| folder.join(name)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use tempfile::TempDir;

    use super::*;

    fn put(path: &Path, mode: u32) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    fn named(name: &str) -> ProgramSpec {
        ProgramSpec::Named { name: name.to_owned(), native: &["../native/tool"] }
    }

    fn environment(pairs: &[(&str, String)]) -> Environment {
        Environment::new(pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())))
    }

    #[test]
    fn find_searches_path_first_then_the_usual_folders_and_the_newest_nvm() {
        let temp = TempDir::new().unwrap();
        let home = temp.path();
        let bin = home.join("bin");
        let context = environment(&[
            ("PATH", format!("relative::{}", bin.display())),
            ("HOME", home.display().to_string()),
        ]);
        let look = || find(&named("the-agent"), &context).map(|program| program.path);
        assert_eq!(look(), None);
        let places = [
            home.join(".nvm/versions/node/v9.11.2/bin/the-agent"),
            home.join(".nvm/versions/node/v22.4.1/bin/the-agent"),
            home.join(".npm-global/bin/the-agent"),
            home.join(".local/bin/the-agent"),
            bin.join("the-agent"),
        ];
        for place in places {
            put(&place, 0o644);
            assert_ne!(look().as_ref(), Some(&place), "a file that is not executable was found");
            put(&place, 0o755);
            assert_eq!(look(), Some(place));
        }
    }

    #[test]
    fn name_with_a_slash_must_be_an_absolute_path() {
        let temp = TempDir::new().unwrap();
        let program = temp.path().join("tool");
        put(&program, 0o755);
        let none = Environment::default();
        assert_eq!(find(&named(program.to_str().unwrap()), &none).unwrap().path, program);
        assert_eq!(find(&named("./tool"), &none), None);
        assert_eq!(find(&named("/"), &none), None);
    }

    #[test]
    fn find_prefers_the_native_program_to_its_script() {
        let temp = TempDir::new().unwrap();
        let script = temp.path().join("lib/package/bin/agent.js");
        put(&script, 0o755);
        let link = temp.path().join("bin/the-agent");
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&script, &link).unwrap();
        let look = || find(&named(link.to_str().unwrap()), &Environment::default()).unwrap().path;
        assert_eq!(look(), link);
        let native = temp.path().join("lib/package/native/tool");
        put(&native, 0o755);
        assert_eq!(look(), fs::canonicalize(native).unwrap());
    }

    #[test]
    fn this_program_is_found_with_its_subcommand() {
        let spec = ProgramSpec::Segue { subcommand: "demo" };
        let program = find(&spec, &Environment::default()).unwrap();
        assert_eq!(program.path, std::env::current_exe().unwrap());
        assert_eq!(program.arguments, ["demo"]);
        assert_eq!(this_program(), program.path);
    }
}
