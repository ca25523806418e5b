//! Characters that mislead the readers of a text.

/// Returns whether a character makes a text look different from its content: it moves the cursor,
/// starts an escape sequence, changes the direction of the text, breaks a line, or is invisible.
/// Joiners are allowed, because some scripts and emoji need them.
pub fn is_misleading(character: char) -> bool {
    let changes_direction = matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    let breaks_line = matches!(character, '\u{2028}' | '\u{2029}');
    let is_invisible = matches!(
        character,
        '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    );
    character.is_control() || changes_direction || breaks_line || is_invisible
}
