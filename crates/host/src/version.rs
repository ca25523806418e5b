//! Finds the installed version of a program from the files and folders around it. Runs nothing.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// How many levels above a program are searched for its version.
const LEVELS: usize = 5;

/// Returns the version of an installed program. `None` if its location does not show it.
pub(crate) fn of(program: &Path) -> Option<String> {
    let real = fs::canonicalize(program).ok()?;
    let folders = real.ancestors().skip(1).take(LEVELS);
    let described = folders.filter(|folder| in_package(&real, folder)).find_map(of_package);
    described.or_else(|| of_path(&real))
}

/// Returns whether a folder is part of the program's own package, and not of a package that has it
/// as a dependency.
fn in_package(program: &Path, folder: &Path) -> bool {
    let below = program.strip_prefix(folder).unwrap_or(program);
    !below.components().any(|part| part.as_os_str() == "node_modules")
}

fn of_package(folder: &Path) -> Option<String> {
    let text = fs::read(folder.join("package.json")).ok()?;
    let package: Value = serde_json::from_slice(&text).ok()?;
    package["version"].as_str().filter(|it| looks_like_one(it)).map(str::to_owned)
}

/// Finds the version in the path. Installers put each version of a program into a folder or file of
/// that name.
fn of_path(program: &Path) -> Option<String> {
    let names = program.iter().rev().take(LEVELS).filter_map(|name| name.to_str());
    names.map(|name| name.trim_start_matches('v')).find(|it| looks_like_one(it)).map(str::to_owned)
}

fn looks_like_one(text: &str) -> bool {
    let mut parts = text.splitn(3, '.');
    let is_number = |part: Option<&str>| {
        part.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
    };
    is_number(parts.next()) && is_number(parts.next())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;

    fn put(temp: &TempDir, path: &str, text: &str) -> PathBuf {
        let path = temp.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn version_is_read_from_package_json() {
        let temp = TempDir::new().unwrap();
        put(&temp, "node_modules/tool/package.json", r#"{"version": "1.2.3"}"#);
        let script = put(&temp, "node_modules/tool/dist/bin/tool.js", "");
        let link = temp.path().join("tool");
        std::os::unix::fs::symlink(script, &link).unwrap();
        assert_eq!(of(&link).as_deref(), Some("1.2.3"));
    }

    #[test]
    fn package_json_of_a_dependent_package_is_ignored() {
        let temp = TempDir::new().unwrap();
        put(&temp, "package.json", r#"{"version": "9.9.9"}"#);
        let program = put(&temp, "node_modules/tool/tool", "");
        assert_eq!(of(&program), None);
    }

    #[test]
    fn version_is_read_from_the_name_of_a_folder_or_file() {
        let temp = TempDir::new().unwrap();
        let file = put(&temp, "share/tool/versions/2.1.197", "");
        assert_eq!(of(&file).as_deref(), Some("2.1.197"));
        let inside = put(&temp, "share/tool/v3.0/bin/tool", "");
        assert_eq!(of(&inside).as_deref(), Some("3.0"));
        let plain = put(&temp, "bin/tool", "");
        assert_eq!(of(&plain), None);
    }
}
