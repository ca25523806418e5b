//! The text of a message as an agent gets it: the message itself, or an instruction to read it from a
//! file.

use std::path::Path;

use crate::error::{Error, Result};
use crate::model::{LaunchId, MessageId};
use crate::ports::Ports;

/// Maximum length of a message on a command line. The kernel's limit for one argument is a little
/// higher. A longer message is written to a file.
const MAX_ARGUMENT_BYTES: usize = 100_000;

/// Returns the text to type for a running agent: the message, or an instruction to read the message
/// from a file. A file is used if the message is too long or cannot be typed. The file is on disk
/// when this returns.
pub(crate) fn typed_text(
    ports: &Ports,
    launch: LaunchId,
    id: MessageId,
    message: &str,
) -> Result<String> {
    let typed = message.replace("\r\n", "\n");
    if !is_long(&typed) && can_be_typed(&typed) {
        return Ok(typed);
    }
    let path = ports.folders.folder(launch).join(format!("message-{id}.md"));
    ports.files.create(&path, message.as_bytes()).map_err(|error| {
        Error::internal(format!("cannot write `{}`", path.display())).caused_by(error)
    })?;
    Ok(read_file_instruction(&path))
}

/// Returns the two possible instructions to read a long message from a file: the instruction that is
/// typed, and the instruction on a command line. They name different files.
pub(crate) fn file_instructions(ports: &Ports, launch: LaunchId, id: MessageId) -> [String; 2] {
    let path = ports.folders.folder(launch).join(format!("message-{id}.md"));
    [read_file_instruction(&path), read_file_instruction(&ports.folders.message(launch))]
}

fn read_file_instruction(path: &Path) -> String {
    format!("Read the file {} and do what it says.", path.display())
}

/// Returns the text for the command line: the message, or, if it is too long, an instruction to
/// read it from the launch's message file.
pub(crate) fn command_line_text(ports: &Ports, launch: LaunchId, message: &str) -> String {
    if !is_long(message) {
        return message.to_owned();
    }
    read_file_instruction(&ports.folders.message(launch))
}

/// Returns whether a message can be pasted. Control characters other than newline and tab act as
/// keys or end the paste.
fn can_be_typed(message: &str) -> bool {
    !message.chars().any(|it| it.is_control() && !matches!(it, '\n' | '\t'))
}

pub(super) fn is_long(message: &str) -> bool {
    message.len() > MAX_ARGUMENT_BYTES
}
