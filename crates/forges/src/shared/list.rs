//! Lists with a maximum length.

use std::fmt;
use std::marker::PhantomData;

use segue_core::model::MAX_LIST_ITEMS;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The first items of a JSON list. The rest is read over.
#[derive(Clone, Debug)]
pub(crate) struct FirstItems<T>(pub(crate) Vec<T>);

impl<T> Default for FirstItems<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for FirstItems<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FirstItemsVisitor(PhantomData))
    }
}

struct FirstItemsVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FirstItemsVisitor<T> {
    type Value = FirstItems<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list or null")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(FirstItems::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while items.len() < MAX_LIST_ITEMS {
            match list.next_element()? {
                Some(item) => items.push(item),
                None => return Ok(FirstItems(items)),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(FirstItems(items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_keeps_at_most_its_first_items() {
        let json = |count: usize| serde_json::to_string(&(0..count).collect::<Vec<_>>()).unwrap();
        for (count, kept) in [(0, 0), (3, 3), (100, 100), (101, 100), (5000, 100)] {
            let list: FirstItems<usize> = serde_json::from_str(&json(count)).unwrap();
            assert_eq!(list.0, (0..kept).collect::<Vec<_>>(), "{count}");
        }
        assert!(serde_json::from_str::<FirstItems<u8>>("null").unwrap().0.is_empty());
        assert!(serde_json::from_str::<FirstItems<u8>>("{}").is_err());
        assert!(serde_json::from_str::<FirstItems<u8>>("[1,\"x\"]").is_err());
    }
}
