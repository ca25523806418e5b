//! The agent's memory of its conversation, and its answers.

use super::command;

const QUOTE_LIMIT_CHARS: usize = 200;

/// The parts of the conversation that answers need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Memory {
    message_count: usize,
    first_message: Option<String>,
    word: Option<String>,
    /// The file that the current turn must read and has not read yet.
    unread_file: Option<String>,
}

impl Memory {
    /// Records a message of the user.
    pub(super) fn record_message(&mut self, text: &str) {
        self.message_count += 1;
        if self.first_message.is_none() {
            self.first_message = Some(text.chars().take(QUOTE_LIMIT_CHARS).collect());
        }
        self.remember_word(text);
        if let Some(file) = command::file_to_read(text) {
            self.unread_file = Some(file.to_owned());
        }
    }

    /// Records the content of a file that a message named. The content does not count as a message.
    pub(super) fn record_file(&mut self, text: &str) {
        self.unread_file = None;
        self.remember_word(text);
    }

    /// Records the end of the turn, and forgets an unread file.
    pub(super) fn end_turn(&mut self) {
        self.unread_file = None;
    }

    /// Returns the file that an interrupted turn left unread.
    pub(super) fn unread_file(&self) -> Option<&str> {
        self.unread_file.as_deref()
    }

    fn remember_word(&mut self, text: &str) {
        if let Some(word) = word_to_remember(text) {
            self.word = Some(word);
        }
    }

    /// Returns how many messages the user has sent.
    pub(super) fn message_count(&self) -> usize {
        self.message_count
    }

    /// Returns the answer to a message. The message must have been recorded before.
    pub(super) fn answer(&self, text: &str) -> String {
        let question = text.to_lowercase();
        if let Some(word) = word_to_remember(text) {
            return format!("I will remember {word}.");
        }
        if question.contains("what is the word") || question.contains("which word") {
            return match &self.word {
                Some(word) => format!("The word is {word}."),
                None => "I was told no word in this conversation.".to_owned(),
            };
        }
        if question.contains("what did i say first") {
            let first_message = self.first_message.as_deref().unwrap_or_default();
            return format!("The first thing you said was: {first_message}");
        }
        let messages = if self.message_count == 1 { "message" } else { "messages" };
        format!("This conversation has {} {messages} from you.", self.message_count)
    }
}

/// Returns the word that a message tells the agent to remember.
fn word_to_remember(text: &str) -> Option<String> {
    const REQUEST: &str = "remember the word";
    let start = text.to_ascii_lowercase().find(REQUEST)?;
    let rest = text.get(start + REQUEST.len()..)?;
    let word = rest.split_whitespace().next()?.trim_matches(|c: char| !c.is_alphanumeric());
    (!word.is_empty()).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer_to_last(messages: &[&str]) -> String {
        let mut memory = Memory::default();
        messages.iter().for_each(|message| memory.record_message(message));
        memory.answer(messages.last().unwrap())
    }

    #[test]
    fn answer_contains_the_last_word_to_remember() {
        assert_eq!(
            answer_to_last(&["Please remember the word \"Zebra\"."]),
            "I will remember Zebra."
        );
        let messages =
            ["remember the word one", "hello", "remember the word zwölf!", "Which word?"];
        assert_eq!(answer_to_last(&messages), "The word is zwölf.");
    }

    #[test]
    fn question_about_a_missing_word_is_answered_without_a_word() {
        assert_eq!(
            answer_to_last(&["what is the word?"]),
            "I was told no word in this conversation."
        );
        assert_eq!(
            answer_to_last(&["remember the word"]),
            "This conversation has 1 message from you."
        );
    }

    #[test]
    fn other_text_is_answered_with_the_number_of_messages() {
        assert_eq!(answer_to_last(&["a", "b", "c"]), "This conversation has 3 messages from you.");
        let first_message = "The first thing you said was: hello there";
        assert_eq!(answer_to_last(&["hello there", "x", "What did I say first?"]), first_message);
    }
}
