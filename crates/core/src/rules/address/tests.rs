use uuid::Uuid;

use super::*;

fn session<'a>(
    number: u128,
    fleet: &'a str,
    name: &'a str,
    vendor_session: Option<&'a VendorSessionId>,
) -> Addressable<'a> {
    let id = SessionId::new(Uuid::from_u128(number << 96));
    Addressable { id, fleet, name, vendor_session, is_child: false }
}

fn sessions(ids: &[SessionId]) -> ResolvedAddress {
    ResolvedAddress::Several(ids.iter().copied().map(AddressMatch::Session).collect())
}

fn nothing(similar: &[&str]) -> ResolvedAddress {
    ResolvedAddress::Nothing { similar: similar.iter().map(|&it| it.to_owned()).collect() }
}

fn loosely(here: Option<&str>) -> AddressReading<'_> {
    AddressReading {
        here,
        precision: Precision::Beginning,
        targets: AddressTargets::SessionsAndFleets,
    }
}

#[test]
fn exact_matches_are_preferred_to_prefix_matches() {
    let vendor = VendorSessionId::new("ses_1");
    let all = [
        session(0x1234_5678, "shop", "coder", None),
        session(0x1234_9999, "blog", "coder", Some(&vendor)),
        session(0xabcd_0000, "blog", "writer", None),
        session(0xffff_0000, "blog", "write", None),
        session(0xeeee_0000, "shop", "blog-2", None),
    ];
    let [shop, blog, writer, write, blog_2] = all.map(|it| it.id);
    let fleet = |name: &str| ResolvedAddress::Fleet(name.to_owned());
    let table = [
        ("shop/coder", None, ResolvedAddress::Session(shop)),
        ("coder", Some("blog"), ResolvedAddress::Session(blog)),
        ("coder", None, sessions(&[shop, blog])),
        ("writer", Some("shop"), ResolvedAddress::Session(writer)),
        ("ses_1", None, ResolvedAddress::Session(blog)),
        ("abcd", None, ResolvedAddress::Session(writer)),
        ("abc", None, nothing(&[])),
        ("1234", None, sessions(&[shop, blog])),
        ("12345678", None, ResolvedAddress::Session(shop)),
        ("nobody", None, nothing(&[])),
        ("", None, nothing(&[])),
        ("shop", None, fleet("shop")),
        // The complete name is preferred to names that begin with it.
        ("write", None, ResolvedAddress::Session(write)),
        ("blog", None, fleet("blog")),
        ("blog/write", None, ResolvedAddress::Session(write)),
        // A prefix of a name; the fleet of this folder is preferred.
        ("cod", Some("shop"), ResolvedAddress::Session(shop)),
        ("cod", None, sessions(&[shop, blog])),
        ("wri", None, sessions(&[writer, write])),
        ("writ", Some("shop"), sessions(&[writer, write])),
        ("shop/c", None, ResolvedAddress::Session(shop)),
        ("sh/c", None, ResolvedAddress::Session(shop)),
        ("sho", None, fleet("shop")),
        ("blo", Some("shop"), ResolvedAddress::Session(blog_2)),
        (
            "blo",
            None,
            ResolvedAddress::Several(vec![
                AddressMatch::Session(blog_2),
                AddressMatch::Fleet("blog".to_owned()),
            ]),
        ),
        // Similar names.
        ("wirter", None, nothing(&["blog/writer"])),
        ("shop/codr", None, nothing(&["shop/coder"])),
        ("shpo", None, nothing(&["shop"])),
        // The same name in another fleet comes first.
        ("shop/writer", None, nothing(&["blog/writer"])),
        ("blgg/coder", None, nothing(&["shop/coder", "blog/coder"])),
    ];
    for (text, here, expected) in table {
        assert_eq!(find(&all, text, loosely(here)), expected, "{text} in {here:?}");
    }
    let url = format!("segue://session/{writer}");
    assert_eq!(find(&all, &url, loosely(None)), ResolvedAddress::Session(writer));
}

#[test]
fn whole_precision_requires_a_complete_name_or_a_prefix_of_an_id() {
    let all =
        [session(0x1234_5678, "shop", "coder", None), session(0xabcd_0000, "shop", "c", None)];
    let [coder, c] = all.map(|it| it.id);
    let reading =
        |targets| AddressReading { here: Some("shop"), precision: Precision::Whole, targets };
    let table = [
        ("coder", ResolvedAddress::Session(coder)),
        ("c", ResolvedAddress::Session(c)),
        ("1234", ResolvedAddress::Session(coder)),
        ("co", nothing(&["shop/coder"])),
        ("code", nothing(&["shop/coder"])),
        ("sho", nothing(&["shop"])),
        ("shop", ResolvedAddress::Fleet("shop".to_owned())),
    ];
    for (text, expected) in table {
        assert_eq!(
            find(&all, text, reading(AddressTargets::SessionsAndFleets)),
            expected,
            "{text}"
        );
    }
    assert_eq!(find(&all, "shop", reading(AddressTargets::Sessions)), nothing(&[]));
}

#[test]
fn text_that_is_a_prefix_of_an_id_and_of_a_name_is_ambiguous() {
    let all = [session(0xabcd_0000, "shop", "one", None), session(0x1111, "shop", "abcdef", None)];
    let [by_id, by_name] = all.map(|it| it.id);
    assert_eq!(find(&all, "abcd", loosely(Some("shop"))), sessions(&[by_name, by_id]));
    assert_eq!(find(&all, "abcde", loosely(Some("shop"))), ResolvedAddress::Session(by_name));
}

#[test]
fn find_name_accepts_a_unique_prefix() {
    let names = ["coder", "coder-2", "reviewer", "reader"];
    let table = [
        ("coder", Ok("coder")),
        ("coder-", Ok("coder-2")),
        ("rev", Ok("reviewer")),
        ("re", Err(Unclear::Several(vec!["reader".to_owned(), "reviewer".to_owned()]))),
        ("codre", Err(Unclear::Unknown { similar: vec!["coder".to_owned()] })),
        ("", Err(Unclear::Unknown { similar: Vec::new() })),
        ("zzz", Err(Unclear::Unknown { similar: Vec::new() })),
    ];
    for (word, expected) in table {
        assert_eq!(find_name(&names, word), expected, "{word:?}");
    }
}

#[test]
fn child_name_that_is_a_prefix_of_another_session_is_ambiguous() {
    let fox = session(0x1111_0000, "shop", "fox", None);
    let child = Addressable { is_child: true, ..session(0x2222_0000, "shop", "fo", None) };
    let (fox_id, child_id) = (fox.id, child.id);
    let found = |text: &str| find(&[fox, child], text, loosely(None));
    assert_eq!(found("fo"), sessions(&[fox_id, child_id]));
    assert_eq!(found("fox"), ResolvedAddress::Session(fox_id));
    assert_eq!(found("shop/fo"), ResolvedAddress::Session(child_id));
    let own = Addressable { is_child: false, ..child };
    assert_eq!(find(&[fox, own], "fo", loosely(None)), ResolvedAddress::Session(child_id));
    let alone = find(&[child], "fo", loosely(None));
    assert_eq!(alone, ResolvedAddress::Session(child_id));
}
