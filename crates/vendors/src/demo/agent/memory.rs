//! What the agent remembers of its conversation, and its answers.

use super::command;

const LONGEST_QUOTE: usize = 200;

/// The parts of the conversation that answers need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Memory {
    heard: usize,
    first: Option<String>,
    word: Option<String>,
    /// The file that the agent was told to read and has not read yet.
    unread: Option<String>,
}

impl Memory {
    /// Records a message of the user.
    pub(super) fn hear(&mut self, text: &str) {
        self.heard += 1;
        if self.first.is_none() {
            self.first = Some(text.chars().take(LONGEST_QUOTE).collect());
        }
        self.note_word(text);
        if let Some(file) = command::file_in(text) {
            self.unread = Some(file.to_owned());
        }
    }

    /// Records the content of a file that the user told the agent to read. It does not count as a
    /// message.
    pub(super) fn learn(&mut self, text: &str) {
        self.unread = None;
        self.note_word(text);
    }

    /// Records the end of the turn. A file that was not read is forgotten.
    pub(super) fn end_turn(&mut self) {
        self.unread = None;
    }

    /// Returns the file that an interrupted turn left unread.
    pub(super) fn unread(&self) -> Option<&str> {
        self.unread.as_deref()
    }

    fn note_word(&mut self, text: &str) {
        if let Some(word) = word_in(text) {
            self.word = Some(word);
        }
    }

    /// Returns how many messages the user has sent.
    pub(super) fn heard(&self) -> usize {
        self.heard
    }

    /// Returns the answer to a message that was recorded.
    pub(super) fn answer(&self, text: &str) -> String {
        let asked = text.to_lowercase();
        if let Some(word) = word_in(text) {
            return format!("I will remember {word}.");
        }
        if asked.contains("what is the word") || asked.contains("which word") {
            return match &self.word {
                Some(word) => format!("The word is {word}."),
                None => "I was told no word in this conversation.".to_owned(),
            };
        }
        if asked.contains("what did i say first") {
            let first = self.first.as_deref().unwrap_or_default();
            return format!("The first thing you said was: {first}");
        }
        let messages = if self.heard == 1 { "message" } else { "messages" };
        format!("This conversation has {} {messages} from you.", self.heard)
    }
}

/// Finds the word that the agent is told to remember.
fn word_in(text: &str) -> Option<String> {
    const TOLD: &str = "remember the word";
    let at = text.to_ascii_lowercase().find(TOLD)?;
    let rest = text.get(at + TOLD.len()..)?;
    let word = rest.split_whitespace().next()?.trim_matches(|c: char| !c.is_alphanumeric());
    (!word.is_empty()).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk(messages: &[&str]) -> String {
        let mut memory = Memory::default();
        messages.iter().for_each(|message| memory.hear(message));
        memory.answer(messages.last().unwrap())
    }

    #[test]
    fn last_word_to_remember_is_returned() {
        assert_eq!(talk(&["Please remember the word \"Zebra\"."]), "I will remember Zebra.");
        let told = ["remember the word one", "hello", "remember the word zwölf!", "Which word?"];
        assert_eq!(talk(&told), "The word is zwölf.");
    }

    #[test]
    fn question_about_an_unknown_word_is_answered_without_one() {
        assert_eq!(talk(&["what is the word?"]), "I was told no word in this conversation.");
        assert_eq!(talk(&["remember the word"]), "This conversation has 1 message from you.");
    }

    #[test]
    fn other_text_is_answered_with_the_number_of_messages() {
        assert_eq!(talk(&["a", "b", "c"]), "This conversation has 3 messages from you.");
        let first = "The first thing you said was: hello there";
        assert_eq!(talk(&["hello there", "x", "What did I say first?"]), first);
    }
}
