use jiff::Timestamp;

use super::super::Window;
use super::super::samples::{Sample, all_of, told};
use super::*;

fn sample(turns: i64) -> Sample {
    let sample = Sample::new();
    (1..=turns).for_each(|number| sample.say(&number.to_string(), number));
    sample
}

#[test]
fn last_turns_of_a_short_conversation_have_numbers() {
    let reading = sample(5).reading();
    assert_eq!(told(&all_of(|each| reading.last(2, each))), []);
    let sample = sample(5);
    let reading = sample.reading();
    let last = |count| all_of(|each| reading.last(count, each));
    assert_eq!(told(&last(2)), [(Some(4), "4"), (Some(5), "5")]);
    assert_eq!(last(9).len(), 5);
    assert_eq!(last(0), []);
}

#[test]
fn reading_backwards_numbers_turns_only_if_the_start_was_reached() {
    let sample = sample(5);
    let reading = sample.reading();
    let last = |count| backwards(&reading, count, MOST_HELD).unwrap().unwrap();
    assert_eq!(told(&last(2)), [(None, "4"), (None, "5")]);
    assert_eq!(last(5)[0].index, None);
    assert_eq!(last(6), all_of(|each| reading.forwards(each)));
    assert_eq!(last(6)[0].index, Some(1));
}

#[test]
fn turns_over_the_memory_limit_are_read_from_the_start() {
    let sample = sample(5);
    let reading = sample.reading();
    assert_eq!(backwards(&reading, 5, 2).unwrap(), None);
    let turns = all_of(|each| from_the_beginning(&reading, 2, each));
    assert_eq!(told(&turns), [(Some(4), "4"), (Some(5), "5")]);
    assert_eq!(all_of(|each| from_the_beginning(&reading, 99, each)).len(), 5);
}

#[test]
fn part_of_a_story_has_only_its_own_turns_with_their_own_numbers() {
    let sample = sample(6);
    let at = |second| Some(Timestamp::from_second(second).unwrap());
    let reading = sample.part_of(Window { after: at(2), until: at(5) });
    let expected = [(Some(3), "3"), (Some(4), "4"), (Some(5), "5")];
    assert_eq!(told(&all_of(|each| reading.forwards(each))), expected);
    assert_eq!(told(&all_of(|each| reading.last(2, each))), expected[1..]);
    let back = backwards(&reading, 9, MOST_HELD).unwrap().unwrap();
    assert_eq!(told(&back), expected);
    assert_eq!(backwards(&reading, 2, MOST_HELD).unwrap().unwrap().len(), 2);
}
