//! What may be shown of a text that somebody else wrote.

/// Tells whether a character makes a text read as something else than it is: it moves the cursor or
/// starts a sequence, turns the direction of text around, breaks a line, or cannot be seen. Joiners
/// stay: scripts and emoji need them.
pub fn is_misleading(character: char) -> bool {
    let turns_around = matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    let breaks = matches!(character, '\u{2028}' | '\u{2029}');
    let is_invisible = matches!(
        character,
        '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    );
    character.is_control() || turns_around || breaks || is_invisible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_reads_as_it_is_may_be_shown() {
        let misleading =
            "\u{1b}\n\u{7f}\u{9b}\u{202e}\u{2066}\u{200f}\u{2028}\u{200b}\u{ad}\u{feff}\u{e0041}";
        for character in misleading.chars() {
            assert!(is_misleading(character), "{character:?}");
        }
        for character in "aé中 👩\u{200d}\u{200c}\u{fe0f}".chars() {
            assert!(!is_misleading(character), "{character:?}");
        }
    }
}
