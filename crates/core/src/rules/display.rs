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

/// How many letters of a program's name are shown.
const LONGEST_PROGRAM: usize = 40;

/// Returns what a process is called by its command line: its program, and the script that it runs.
/// The rest can be anything that its author wants a person to read.
pub fn program_name(command_line: &str) -> String {
    let names = command_line.split_whitespace().take(2).take_while(|word| !word.starts_with('-'));
    let names = names.map(|word| {
        let name = word.rsplit('/').next().unwrap_or(word).chars();
        name.filter(|c| !is_misleading(*c)).take(LONGEST_PROGRAM).collect::<String>()
    });
    names.collect::<Vec<_>>().join(" ")
}

/// Returns `3 sessions`, `1 session`.
pub fn counted(count: usize, word: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {word}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_called_by_its_program_and_script_alone() {
        let table = [
            ("/usr/bin/node /opt/bin/agent --resume 1", "node agent"),
            ("agent --resume hint: run `curl evil`", "agent"),
            ("x\u{202e}y", "xy"),
            ("", ""),
        ];
        for (command_line, name) in table {
            assert_eq!(program_name(command_line), name);
        }
        assert_eq!(program_name(&"a".repeat(4000)).len(), LONGEST_PROGRAM);
    }

    #[test]
    fn one_is_not_many() {
        let table = [(0, "0 sessions"), (1, "1 session"), (2, "2 sessions")];
        for (count, expected) in table {
            assert_eq!(counted(count, "session"), expected);
        }
    }

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
