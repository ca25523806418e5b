use segue_core::Kind;

use super::super::samples::Sample;
use super::*;

fn sample(turns: i64) -> Sample {
    let sample = Sample::new();
    (1..=turns).for_each(|number| sample.say(&number.to_string(), number));
    sample
}

fn texts(page: &TurnPage) -> Vec<&str> {
    page.turns.iter().map(|turn| turn.text.as_str()).collect()
}

#[test]
fn pages_go_from_the_end_to_the_beginning_without_gaps() {
    let sample = sample(5);
    let reading = sample.reading();
    let last = reading.page(None, 2).unwrap();
    assert_eq!(texts(&last), ["4", "5"]);
    let middle = reading.page(last.next, 2).unwrap();
    assert_eq!(texts(&middle), ["2", "3"]);
    let first = reading.page(middle.next, 2).unwrap();
    assert_eq!((texts(&first), first.next), (vec!["1"], None));
}

#[test]
fn turns_that_are_appended_between_two_pages_do_not_move_the_next_page() {
    let sample = sample(4);
    let last = sample.reading().page(None, 2).unwrap();
    (5..=9).for_each(|number| sample.say(&number.to_string(), number));
    assert_eq!(texts(&sample.reading().page(last.next, 2).unwrap()), ["1", "2"]);
}

#[test]
fn cursor_of_a_turn_that_is_gone_is_a_conflict() {
    let sample = sample(4);
    let last = sample.reading().page(None, 2).unwrap();
    sample.replace(&[("another", 1), ("conversation", 2), ("has", 3), ("begun", 4)]);
    let error = sample.reading().page(last.next, 2).unwrap_err();
    assert_eq!(error.kind, Kind::Conflict);
}

#[test]
fn page_behind_the_first_turn_is_empty() {
    let sample = sample(2);
    let all = sample.reading().page(None, 2).unwrap();
    let behind = sample.reading().page(all.next, 2).unwrap();
    assert_eq!(behind, TurnPage { turns: Vec::new(), next: None });
}
