//! Classifies failures by the HTTP status of the service, and by texts in the error message.

use segue_core::model::FailureClass;

/// Returns the class of a failure with this HTTP status. `None` if the status is no error.
pub(crate) fn of_status(status: u16) -> Option<FailureClass> {
    match status {
        429 => Some(FailureClass::UsageLimit),
        401..=403 => Some(FailureClass::Account),
        400..=499 => Some(FailureClass::Request),
        500..=599 => Some(FailureClass::Service),
        _ => None,
    }
}

/// Like [`of_status`], for programs that report a timeout of their own as status 408.
pub(crate) fn of_status_or_timeout(status: u16) -> Option<FailureClass> {
    if status == 408 { Some(FailureClass::Connection) } else { of_status(status) }
}

/// Returns the class of the first entry whose text is in the message. The text of an entry must
/// be in lower case. The case of the message does not matter.
pub(crate) fn class_of_text(
    message: &str,
    entries: &[(&str, FailureClass)],
) -> Option<FailureClass> {
    let message = message.to_lowercase();
    entries.iter().find(|(text, _)| message.contains(text)).map(|(_, class)| *class)
}
