use jiff::Timestamp;

use super::super::Window;
use super::super::samples::{Sample, all_of, numbers_and_texts};
use super::*;

fn sample(turns: i64) -> Sample {
    let sample = Sample::new();
    (1..=turns).for_each(|number| sample.say(&number.to_string(), number));
    sample
}

#[test]
fn last_turns_of_a_short_conversation_have_numbers() {
    let reading = sample(5).reading();
    assert_eq!(numbers_and_texts(&all_of(|each| reading.last(2, each))), []);
    let sample = sample(5);
    let reading = sample.reading();
    let last = |count| all_of(|each| reading.last(count, each));
    assert_eq!(numbers_and_texts(&last(2)), [(Some(4), "4"), (Some(5), "5")]);
    assert_eq!(last(9).len(), 5);
    assert_eq!(last(0), []);
}

#[test]
fn reading_backwards_numbers_turns_only_if_the_start_was_reached() {
    let sample = sample(5);
    let reading = sample.reading();
    let last = |count| backwards(&reading, count, MAX_HELD_BYTES).unwrap().unwrap();
    assert_eq!(numbers_and_texts(&last(2)), [(None, "4"), (None, "5")]);
    assert_eq!(last(5)[0].index, None);
    assert_eq!(last(6), all_of(|each| reading.forwards(each)));
    assert_eq!(last(6)[0].index, Some(1));
}

#[test]
fn turns_over_the_memory_limit_are_read_from_the_start() {
    let sample = sample(5);
    let reading = sample.reading();
    assert_eq!(backwards(&reading, 5, 2).unwrap(), None);
    let turns = all_of(|each| from_the_start(&reading, 2, each));
    assert_eq!(numbers_and_texts(&turns), [(Some(4), "4"), (Some(5), "5")]);
    assert_eq!(all_of(|each| from_the_start(&reading, 99, each)).len(), 5);
}

#[test]
fn reading_with_a_window_returns_only_the_turns_in_it_with_their_numbers() {
    let sample = sample(6);
    let at = |second| Some(Timestamp::from_second(second).unwrap());
    let reading = sample.part_of(Window { after: at(2), until: at(5) });
    let expected = [(Some(3), "3"), (Some(4), "4"), (Some(5), "5")];
    assert_eq!(numbers_and_texts(&all_of(|each| reading.forwards(each))), expected);
    assert_eq!(numbers_and_texts(&all_of(|each| reading.last(2, each))), expected[1..]);
    let back = backwards(&reading, 9, MAX_HELD_BYTES).unwrap().unwrap();
    assert_eq!(numbers_and_texts(&back), expected);
    assert_eq!(backwards(&reading, 2, MAX_HELD_BYTES).unwrap().unwrap().len(), 2);
}
