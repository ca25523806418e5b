//! Embeds the built page and the extension for VS Code. `make web` builds both into `dist`. If `dist`
//! is missing or does not belong to the sources, this script builds them into its own output folder,
//! if Node is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};

fn main() {
    let sources = PathBuf::from(env("CARGO_MANIFEST_DIR"));
    let output = PathBuf::from(env("OUT_DIR"));
    for path in ["page", "vscode", "build.mjs", "package.json", "package-lock.json", "dist/stamp"] {
        println!("cargo::rerun-if-changed={}", sources.join(path).display());
    }
    let result = built_page(&sources, &output).and_then(|dist| embed(&dist, &output));
    if let Err(error) = result {
        println!("cargo::error=the web page cannot be built: {error}");
        println!("cargo::error=run `make web`, which installs what is missing and builds the page");
    }
}

/// Returns a value that cargo gives to the script.
#[expect(clippy::disallowed_methods, reason = "cargo passes values in the environment")]
fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Returns a folder with the page that belongs to the sources.
fn built_page(sources: &Path, output: &Path) -> Result<PathBuf, String> {
    let stamp = stamp(sources)?;
    let own = output.join("dist");
    for dist in [sources.join("dist"), own.clone()] {
        let is_fresh = fs::read_to_string(dist.join("stamp")).is_ok_and(|it| it.trim() == stamp);
        if is_fresh {
            return Ok(dist);
        }
    }
    let packages = output.join("packages");
    install_packages(sources, &packages)?;
    run(Command::new("node")
        .arg(sources.join("build.mjs"))
        .arg("--packages")
        .arg(packages.join("node_modules"))
        .arg("--out")
        .arg(&own))?;
    Ok(own)
}

/// Installs the packages of the lock file outside of the sources.
fn install_packages(sources: &Path, place: &Path) -> Result<(), String> {
    fs::create_dir_all(place).map_err(|error| format!("{}: {error}", place.display()))?;
    for name in ["package.json", "package-lock.json"] {
        let copied = fs::copy(sources.join(name), place.join(name));
        copied.map_err(|error| format!("{name}: {error}"))?;
    }
    // Not `npm ci`: the lock file names no registry, and old versions of npm need one there.
    run(Command::new("npm")
        .args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"])
        .args(["--omit-lockfile-registry-resolved", "--prefix"])
        .arg(place))
}

fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("`{program}`: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{program}` failed: {}", text.trim().replace('\n', " ")))
}

/// Returns the digest of the sources. `build.mjs` computes the same one.
fn stamp(sources: &Path) -> Result<String, String> {
    let mut files: Vec<String> =
        ["build.mjs", "package-lock.json", "package.json"].map(str::to_owned).into();
    for folder in ["page", "vscode"] {
        list(sources, folder, &mut files).map_err(|error| format!("{folder}: {error}"))?;
    }
    files.sort();
    let mut hash = Sha256::new();
    for path in files {
        let content = fs::read(sources.join(&path)).map_err(|error| format!("{path}: {error}"))?;
        hash.update(format!("{path}\0{}\0", content.len()));
        hash.update(content);
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn list(sources: &Path, folder: &str, files: &mut Vec<String>) -> std::io::Result<()> {
    for entry in fs::read_dir(sources.join(folder))? {
        let entry = entry?;
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            list(sources, &path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Writes the table of the files as Rust.
fn embed(dist: &Path, output: &Path) -> Result<(), String> {
    let table = fs::read_to_string(dist.join("files.tsv")).map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    let mut index = String::new();
    for line in table.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [path, content_type, file, etag, is_immutable] = columns[..] else {
            return Err(format!("`files.tsv` has a wrong line: {line}"));
        };
        let content = dist.join(file);
        let asset = format!(
            "Asset {{ content_type: {content_type:?}, gzip: include_bytes!({content:?}), etag: \
             {:?}, is_immutable: {is_immutable} }}",
            format!("\"{etag}\"")
        );
        if path == "/index.html" {
            index = asset.clone();
        }
        rows.push(format!("    ({path:?}, {asset}),\n"));
    }
    let rows = rows.concat();
    let extension = dist.join("segue.vsix");
    let code = format!(
        "static INDEX: Asset = {index};\nstatic FILES: &[(&str, Asset)] = &[\n{rows}];\n\
         static VSCODE_EXTENSION: &[u8] = include_bytes!({extension:?});\n"
    );
    fs::write(output.join("files.rs"), code).map_err(|error| error.to_string())
}
