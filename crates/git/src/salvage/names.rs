//! Names in salvages. A tree of git cannot have a file `.git` or a symlink `.gitmodules`, so such
//! files have changed names. Metadata is JSON, which cannot have names that are not UTF-8.

/// Returns whether a tree of git can have a file or a symlink with this path.
pub(super) fn is_storable(path: &[u8], is_symlink: bool) -> bool {
    let is_git = |name: &[u8]| name.eq_ignore_ascii_case(b".git");
    let is_linked_modules = is_symlink && components(path).last() == Some(b".gitmodules");
    !components(path).any(is_git) && !is_linked_modules
}

/// Returns a path that a tree of git can have.
pub(super) fn stored(path: &[u8]) -> Vec<u8> {
    map_components(path, |name| {
        let is_special = name.eq_ignore_ascii_case(b".git") || name == b".gitmodules";
        match is_special || name.starts_with(b"%") {
            true => [b"%", name].concat(),
            false => name.to_vec(),
        }
    })
}

/// Returns the path on disk of a stored path.
pub(super) fn unstored(path: &[u8]) -> Vec<u8> {
    map_components(path, |name| name.strip_prefix(b"%").unwrap_or(name).to_vec())
}

fn map_components(path: &[u8], change: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let parts: Vec<Vec<u8>> = components(path).map(change).collect();
    parts.join(&b'/')
}

fn components(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/')
}

/// Returns a path as text: bytes that are not printable ASCII, and `%`, as `%` and two digits.
pub(super) fn text(path: &[u8]) -> String {
    let escape = |byte: &u8| match byte {
        b'%' => "%25".to_owned(),
        b' '..=b'~' => char::from(*byte).to_string(),
        byte => format!("%{byte:02x}"),
    };
    path.iter().map(escape).collect()
}

/// Returns the path of a text.
pub(super) fn bytes(text: &str) -> Vec<u8> {
    let mut path = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        match (first, digits.and_then(|it| u8::from_str_radix(it, 16).ok())) {
            (b'%', Some(byte)) => {
                path.push(byte);
                rest = &after[2..];
            }
            _ => {
                path.push(*first);
                rest = after;
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_that_git_refuses_are_changed() {
        assert_eq!(stored(b"sub/.git/HEAD"), b"sub/%.git/HEAD");
        assert_eq!(stored(b".GIT"), b"%.GIT");
        assert_eq!(stored(b"a/.gitmodules"), b"a/%.gitmodules");
        assert_eq!(stored(b"a/.gitignore"), b"a/.gitignore");
        assert_eq!(text(b"a%\xff\n b"), "a%25%ff%0a b");
    }

    #[test]
    fn tree_of_git_cannot_have_every_name() {
        for (path, is_symlink, wanted) in [
            (&b"a/.git/b"[..], false, false),
            (b".GIT", true, false),
            (b"a/.gitmodules", true, false),
            (b"a/.gitmodules", false, true),
            (b".gitmodules/a", true, true),
            (b".gitignore", true, true),
        ] {
            assert_eq!(is_storable(path, is_symlink), wanted, "{path:?} {is_symlink}");
        }
    }

    proptest! {
        #[test]
        fn every_name_is_read_back(path in prop::collection::vec(any::<u8>(), 0..20)) {
            prop_assert_eq!(&unstored(&stored(&path)), &path);
            prop_assert_eq!(&bytes(&text(&path)), &path);
        }
    }
}
