//! Sessions that a command leaves alone: those that were stopped, left by a person, handed over or
//! never ran.

use segue_core::api::LeftAlone;
use segue_core::rules::bringing_back::LeftAloneReason;

use crate::context::Context;
use crate::render::sessions::NAMED_SESSIONS;

/// Prints which sessions were left alone and why, and the command that starts them. `command` is the
/// command that the user typed.
pub(super) fn print(sessions: &[LeftAlone], command: &str, context: &mut Context) {
    if let Some(text) = note(sessions) {
        context.output.note(&text);
    }
    if let Some(text) = hint(sessions, command) {
        context.output.hint(&text);
    }
}

/// Returns the note about sessions that were left alone, with the reasons. It names at most
/// [`NAMED_SESSIONS`] sessions. `None` if there are none.
pub(crate) fn note(sessions: &[LeftAlone]) -> Option<String> {
    let describe = |it: &LeftAlone| match &it.goes_on_as {
        Some(next) => format!("{} (goes on as {next})", it.address),
        None => format!("{} ({})", it.address, it.why.as_str().replace('_', " ")),
    };
    let mut named: Vec<String> = sessions.iter().take(NAMED_SESSIONS).map(describe).collect();
    if sessions.len() > NAMED_SESSIONS {
        named.push(format!("and {} more", sessions.len() - NAMED_SESSIONS));
    }
    (!named.is_empty()).then(|| format!("left alone: {}", named.join(", ")))
}

/// Returns a hint with the command that starts the sessions that were left alone. `None` if there
/// are none, or if all of them continue in other sessions or run on other machines.
fn hint(sessions: &[LeftAlone], command: &str) -> Option<String> {
    let is_startable = |it: &&LeftAlone| {
        it.goes_on_as.is_none() && it.why.known() != Some(LeftAloneReason::OtherMachine)
    };
    let ended: Vec<&LeftAlone> = sessions.iter().filter(is_startable).collect();
    // `--stopped` does not start sessions that never ran here. The user has to name them.
    let never_ran = |it: &&&LeftAlone| it.why.known() == Some(LeftAloneReason::NeverRan);
    let must_be_named = ended.iter().all(|it| never_ran(&it));
    let first = ended.iter().find(|it| !never_ran(it)).or(ended.first())?;
    let one = if command.starts_with("up") {
        format!("segue {command} {}", first.name)
    } else {
        format!("segue resume {}", first.address)
    };
    Some(match ended.len() {
        1 => format!("run `{one}` to start it anyway"),
        _ if must_be_named => format!("name the sessions to start, such as `{one}`"),
        _ => {
            format!("run `segue {command} --stopped` to start those as well, or name one: `{one}`")
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn resting(name: &str, why: &str, goes_on_as: Option<&str>) -> LeftAlone {
        serde_json::from_value(json!({
            "session": "0198f9d2-0000-7000-8000-000000000001", "name": name, "fleet": "shop",
            "address": format!("shop/{name}"), "vendor": "demo", "why": why,
            "goes_on_as": goes_on_as,
        }))
        .unwrap()
    }

    #[test]
    fn left_alone_sessions_are_named_with_the_command_that_starts_them() {
        assert_eq!((note(&[]), hint(&[], "up")), (None, None));
        let one = [resting("coder", "stopped", None)];
        assert_eq!(note(&one).unwrap(), "left alone: shop/coder (stopped)");
        assert_eq!(hint(&one, "up").unwrap(), "run `segue up coder` to start it anyway");
        let resumed = "run `segue resume shop/coder` to start it anyway";
        assert_eq!(hint(&one, "resume --all").unwrap(), resumed);
        let two = [resting("coder", "stopped", None), resting("tester", "quit", None)];
        let expected = "run `segue resume --all --stopped` to start those as well, or name one: \
                        `segue resume shop/coder`";
        assert_eq!(hint(&two, "resume --all").unwrap(), expected);
        let adopted = [resting("a", "never_ran", None), resting("b", "never_ran", None)];
        assert_eq!(note(&adopted[..1]).unwrap(), "left alone: shop/a (never ran)");
        let expected = "name the sessions to start, such as `segue resume shop/a`";
        assert_eq!(hint(&adopted, "resume").unwrap(), expected);
        let gone_on = [resting("old", "handed_over", Some("shop/new"))];
        assert_eq!(note(&gone_on).unwrap(), "left alone: shop/old (goes on as shop/new)");
        assert_eq!(hint(&gone_on, "up"), None);
        let many: Vec<LeftAlone> =
            (0..7).map(|number| resting(&format!("a{number}"), "stopped", None)).collect();
        assert!(note(&many).unwrap().ends_with("shop/a4 (stopped), and 2 more"));
    }
}
