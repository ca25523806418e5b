//! The files of the web page, as they are sent to a browser, and the extension for VS Code. Their
//! sources are in `page` and `vscode`; `build.rs` embeds the files that `build.mjs` makes of them.

/// A file of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asset {
    pub content_type: &'static str,
    /// The content, compressed with gzip.
    pub gzip: &'static [u8],
    /// The entity tag, with its quotation marks.
    pub etag: &'static str,
    /// Whether a file with this name never changes, because its name has a digest of its content.
    pub is_immutable: bool,
}

// `INDEX`, `FILES` with the paths and the contents of all files, and `VSCODE_EXTENSION`.
include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Returns the file with this path, such as `/icon.svg`. `None` if the page has no such file.
pub fn asset(path: &str) -> Option<&'static Asset> {
    FILES.iter().find(|(name, _)| *name == path).map(|(_, asset)| asset)
}

/// Returns the document of the page. It is the same for every path of the page.
pub fn index() -> &'static Asset {
    &INDEX
}

/// Returns the extension for VS Code, as the file that the editor installs.
pub fn vscode_extension() -> &'static [u8] {
    VSCODE_EXTENSION
}

#[cfg(test)]
mod tests {
    use super::{FILES, asset, index, vscode_extension};

    const MAX_COMPRESSED_BYTES: usize = 250_000;

    #[test]
    fn page_is_smaller_than_250_kilobytes_in_all() {
        let total: usize = FILES.iter().map(|(_, it)| it.gzip.len()).sum();
        assert!(total < MAX_COMPRESSED_BYTES, "{total} bytes");
    }

    #[test]
    fn every_file_has_a_type_and_an_entity_tag() {
        for (path, it) in FILES {
            assert!(path.starts_with('/'), "{path}");
            assert!(it.content_type.contains('/'), "{path}");
            assert!(it.etag.starts_with('"') && it.etag.ends_with('"'), "{path}: {}", it.etag);
            assert_eq!(&it.gzip[..2], [0x1f, 0x8b], "{path} is compressed");
            assert!(!it.is_immutable || path.starts_with("/assets/"), "{path}");
        }
    }

    #[test]
    fn document_worker_and_manifest_are_there() {
        for path in ["/index.html", "/service-worker.js", "/manifest.webmanifest", "/icon.svg"] {
            assert!(asset(path).is_some(), "{path}");
        }
        assert_eq!(asset("/index.html"), Some(index()));
        assert_eq!(asset("/assets/missing.js"), None);
    }

    #[test]
    fn extension_is_an_archive_with_the_version_of_the_program() {
        assert_eq!(&vscode_extension()[..4], b"PK\x03\x04");
        let manifest = include_str!("../vscode/package.json");
        let version = concat!("\"version\": \"", env!("CARGO_PKG_VERSION"), "\"");
        assert!(manifest.contains(version), "vscode/package.json must have {version}");
    }
}
