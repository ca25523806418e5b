//! The files of the web page, as they are sent to a browser.

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

static INDEX: Asset = Asset {
    content_type: "text/html; charset=utf-8",
    gzip: include_bytes!("index.html.gz"),
    etag: "\"0\"",
    is_immutable: false,
};

/// Returns the file with this path, such as `/icon.svg`. `None` if the page has no such file.
pub fn asset(path: &str) -> Option<&'static Asset> {
    (path == "/index.html").then_some(&INDEX)
}

/// Returns the document of the page.
pub fn index() -> &'static Asset {
    &INDEX
}
