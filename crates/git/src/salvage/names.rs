//! Names in salvages. A tree of git cannot have a file `.git`, so the files of nested repositories
//! have changed names. Metadata is JSON, which cannot have names that are not UTF-8.

/// Returns a path that a tree of git can have.
pub(super) fn stored(path: &[u8]) -> Vec<u8> {
    map_components(path, |name| {
        match name.eq_ignore_ascii_case(b".git") || name.starts_with(b"%") {
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
    let parts: Vec<Vec<u8>> = path.split(|byte| *byte == b'/').map(change).collect();
    parts.join(&b'/')
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
        assert_eq!(stored(b"a/.gitignore"), b"a/.gitignore");
        assert_eq!(text(b"a%\xff\n b"), "a%25%ff%0a b");
    }

    proptest! {
        #[test]
        fn every_name_is_read_back(path in prop::collection::vec(any::<u8>(), 0..20)) {
            prop_assert_eq!(&unstored(&stored(&path)), &path);
            prop_assert_eq!(&bytes(&text(&path)), &path);
        }
    }
}
