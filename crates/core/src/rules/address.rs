//! Which session a person means.

use crate::model::{SessionId, VendorSessionId};

const URL: &str = "segue://session/";
const SHORTEST_PREFIX: usize = 4;

/// What can be addressed, borrowed from wherever it is kept.
#[derive(Clone, Copy, Debug)]
pub struct Addressable<'a> {
    pub id: SessionId,
    pub fleet: &'a str,
    pub name: &'a str,
    pub vendor_session: Option<&'a VendorSessionId>,
}

/// What an address led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    One(SessionId),
    /// The address fits all of these equally well.
    Several(Vec<SessionId>),
    None,
}

/// Finds the session that `text` means. Readings are tried from the exact to the loose: id or URL,
/// `fleet/name`, a name in the fleet `here`, a name anywhere, the vendor's id, a prefix of an id.
pub fn find(sessions: &[Addressable<'_>], text: &str, here: Option<&str>) -> Found {
    let text = text.strip_prefix(URL).unwrap_or(text);
    if let Ok(id) = text.parse::<SessionId>()
        && sessions.iter().any(|session| session.id == id)
    {
        return Found::One(id);
    }
    let readings: [&dyn Fn(&Addressable<'_>) -> bool; 5] = [
        &|it| text.split_once('/') == Some((it.fleet, it.name)),
        &|it| Some(it.fleet) == here && it.name == text,
        &|it| it.name == text,
        &|it| it.vendor_session.is_some_and(|id| id.as_str() == text),
        &|it| text.len() >= SHORTEST_PREFIX && it.id.to_string().starts_with(text),
    ];
    readings
        .iter()
        .map(|reading| matching(sessions, *reading))
        .find(|it| *it != Found::None)
        .unwrap_or(Found::None)
}

fn matching(sessions: &[Addressable<'_>], reading: &dyn Fn(&Addressable<'_>) -> bool) -> Found {
    let ids: Vec<_> = sessions.iter().filter(|it| reading(it)).map(|it| it.id).collect();
    match ids.as_slice() {
        [] => Found::None,
        [only] => Found::One(*only),
        _ => Found::Several(ids),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn session<'a>(
        number: u128,
        fleet: &'a str,
        name: &'a str,
        vendor_session: Option<&'a VendorSessionId>,
    ) -> Addressable<'a> {
        Addressable {
            id: SessionId::new(Uuid::from_u128(number << 96)),
            fleet,
            name,
            vendor_session,
        }
    }

    #[test]
    fn from_the_exact_to_the_loose() {
        let vendor = VendorSessionId::new("ses_1");
        let sessions = [
            session(0x1234_5678, "shop", "coder", None),
            session(0x1234_9999, "blog", "coder", Some(&vendor)),
            session(0xabcd_0000, "blog", "writer", None),
        ];
        let [shop, blog, writer] = sessions.map(|it| it.id);
        let table = [
            ("shop/coder", None, Found::One(shop)),
            ("coder", Some("blog"), Found::One(blog)),
            ("coder", None, Found::Several(vec![shop, blog])),
            ("writer", Some("shop"), Found::One(writer)),
            ("ses_1", None, Found::One(blog)),
            ("abcd", None, Found::One(writer)),
            ("abc", None, Found::None),
            ("1234", None, Found::Several(vec![shop, blog])),
            ("12345678", None, Found::One(shop)),
            ("nobody", None, Found::None),
            ("", None, Found::None),
        ];
        for (text, here, expected) in table {
            assert_eq!(find(&sessions, text, here), expected, "{text} in {here:?}");
        }
        assert_eq!(find(&sessions, &format!("segue://session/{writer}"), None), Found::One(writer));
    }
}
