use uuid::Uuid;

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn tokens(input: u64, output: u64) -> Usage {
    Usage { input, output, ..Usage::default() }
}

fn report(key: &str, second: i64, input: u64, output: u64) -> ReportedUsage {
    ReportedUsage { key: key.to_owned(), at: at(second), usage: tokens(input, output) }
}

fn reading(is_from_start: bool, reports: &[ReportedUsage]) -> UsageReading {
    let position = UsagePosition { offset: 9, mark: 1 };
    UsageReading { reports: reports.to_vec(), position, is_from_start }
}

/// The session began at second 100.
const START: CountingStart =
    CountingStart { session_began: Timestamp::UNIX_EPOCH, counted_elsewhere: None };

fn start(counted_elsewhere: Option<i64>) -> CountingStart {
    CountingStart { session_began: at(100), counted_elsewhere: counted_elsewhere.map(at) }
}

fn total(counted: &[CountedUsage]) -> (u64, u64) {
    let sum = Usage::sum(counted.iter().map(|it| it.usage)).unwrap_or_default();
    (sum.input, sum.output)
}

#[test]
fn reports_from_before_the_session_and_copies_of_other_conversations_are_not_counted() {
    let reports = [report("a", 99, 1, 1), report("b", 100, 10, 10), report("c", 200, 100, 100)];
    let table = [
        ("a new session", start(None), (110, 110)),
        (
            "a fork of a conversation that was counted until second 100",
            start(Some(100)),
            (100, 100),
        ),
        ("a fork without new turns", start(Some(200)), (0, 0)),
        ("a session that is older than its reports", START, (111, 111)),
    ];
    for (case, start, expected) in table {
        let (cursor, counted) = count(None, reading(true, &reports), start);
        assert_eq!(total(&counted), expected, "{case}");
        assert_eq!(cursor.position.offset, 9, "{case}");
    }
}

#[test]
fn several_records_of_a_request_are_counted_once_even_if_they_are_read_apart() {
    let partial = report("m", 100, 50, 1);
    let (cursor, counted) = count(None, reading(true, &[partial.clone(), partial]), start(None));
    assert_eq!(total(&counted), (50, 1));
    let whole = report("m", 101, 50, 20);
    let whole = reading(false, &[whole]);
    let (cursor, counted) = count(Some(&cursor), whole.clone(), start(None));
    assert_eq!(total(&counted), (0, 19), "the later record has more output");
    let (_, counted) = count(Some(&cursor), whole, start(None));
    assert_eq!(counted, []);
}

#[test]
fn rewritten_source_adds_only_reports_that_are_newer_than_all_counted_ones() {
    let old = [report("a", 100, 1, 1), report("b", 110, 2, 2)];
    let (cursor, _) = count(None, reading(true, &old), start(None));
    let rewritten = [report("x", 100, 1, 1), report("y", 110, 2, 2), report("z", 120, 4, 4)];
    let (cursor, counted) = count(Some(&cursor), reading(true, &rewritten), start(None));
    assert_eq!(counted, [CountedUsage { at: at(120), usage: tokens(4, 4) }]);
    assert_eq!(cursor.newest, Some(at(120)));
}

#[test]
fn continued_source_is_counted_whatever_its_timestamps_are() {
    let (cursor, _) = count(None, reading(true, &[report("a", 200, 1, 1)]), start(None));
    let set_back = reading(false, &[report("b", 150, 2, 2)]);
    let (cursor, counted) = count(Some(&cursor), set_back, start(Some(190)));
    assert_eq!(total(&counted), (2, 2), "the clock was set back");
    assert_eq!(cursor.newest, Some(at(200)));
}

#[test]
fn usage_is_split_by_day_and_the_memory_of_requests_is_limited() {
    let midnight = 2 * 86400;
    let mut reports: Vec<_> =
        (0..100).map(|n| report(&format!("k{n}"), midnight - 100 + n, 1, 0)).collect();
    reports.push(report("last", midnight, 5, 5));
    let (cursor, counted) = count(None, reading(true, &reports), START);
    let expected = [
        CountedUsage { at: at(midnight - 1), usage: tokens(100, 0) },
        CountedUsage { at: at(midnight), usage: tokens(5, 5) },
    ];
    assert_eq!(counted, expected);
    assert_eq!(cursor.recent.len(), MAX_RECENT_REQUESTS);
    assert_eq!(cursor.recent.last().unwrap().key, "last");
}

fn entry(session: u128, agent: Option<&str>, vendor: &str, day: i8, output: u64) -> DailyUsage {
    DailyUsage {
        session: SessionId::new(Uuid::from_u128(session)),
        fleet: FleetName::parse("shop").unwrap(),
        agent: agent.map(|agent| AgentName::parse(agent).unwrap()),
        vendor: VendorId::new(vendor),
        day: Date::constant(2026, 11, day),
        usage: tokens(1, output),
    }
}

#[test]
fn usage_is_added_up_by_agent_vendor_or_day_and_sessions_are_counted_once() {
    let paid = Usage { cost_usd: UsdAmount::from_dollars(0.5), ..tokens(1, 2) };
    let entries = [
        entry(1, Some("coder"), "one", 1, 10),
        DailyUsage { usage: paid, ..entry(1, Some("coder"), "one", 2, 0) },
        entry(2, Some("coder"), "two", 2, 30),
        entry(3, None, "two", 2, 40),
    ];
    let name = |row: &UsageRow| match (&row.day, &row.vendor) {
        (Some(day), Some(vendor)) => format!("{day} {vendor}"),
        (Some(day), _) => day.to_string(),
        (_, Some(vendor)) => vendor.to_string(),
        _ => row.agent.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
    };
    let table = [
        (UsageGrouping::Agent, vec![("-", 1, 40), ("coder", 2, 42)]),
        (UsageGrouping::Vendor, vec![("one", 1, 12), ("two", 2, 70)]),
        (UsageGrouping::Day, vec![("2026-11-01", 1, 10), ("2026-11-02", 3, 72)]),
        (
            UsageGrouping::DayAndVendor,
            vec![("2026-11-01 one", 1, 10), ("2026-11-02 one", 1, 2), ("2026-11-02 two", 2, 70)],
        ),
    ];
    for (by, expected) in table {
        let UsageList { usage, total } = grouped(&entries, by);
        let found: Vec<_> =
            usage.iter().map(|it| (name(it), it.sessions, it.usage.output)).collect();
        let found: Vec<_> = found.iter().map(|it| (it.0.as_str(), it.1, it.2)).collect();
        assert_eq!(found, expected, "{by:?}");
        assert_eq!((total.sessions, total.usage.output), (3, 82));
        assert_eq!(total.usage.cost_usd, UsdAmount::from_dollars(0.5));
    }
    assert_eq!(grouped(&[], UsageGrouping::Day).usage, []);
}
