//! Maximum sizes of text and lists that come from a forge.

/// The most bytes of a delivery. No supported forge sends more.
pub const MAX_DELIVERY_BYTES: usize = 25 * 1024 * 1024;

/// The most bytes of the text of an issue, a pull request, a comment or a review.
pub const LONGEST_BODY_BYTES: usize = 256 * 1024;

/// The most bytes of a title.
pub const LONGEST_TITLE_BYTES: usize = 1024;

/// The most bytes of the name of a user, a label, a branch or a repository, and of a path.
pub const LONGEST_NAME_BYTES: usize = 512;

/// The most bytes of a URL.
pub const LONGEST_URL_BYTES: usize = 2048;

/// The most items of a list, such as the labels of an issue or the comments of a review.
pub const MAX_LIST_ITEMS: usize = 100;

/// Returns the beginning of a text, with at most this many bytes. No character is cut in two.
pub fn shortened_text(mut text: String, bytes: usize) -> String {
    if text.len() > bytes {
        text.truncate(text.floor_char_boundary(bytes));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_shortened_at_the_start_of_a_character() {
        let table =
            [("", 3, ""), ("abc", 3, "abc"), ("abcd", 3, "abc"), ("aüb", 2, "a"), ("ü", 1, "")];
        for (text, bytes, expected) in table {
            assert_eq!(shortened_text(text.to_owned(), bytes), expected, "{text} {bytes}");
        }
    }
}
