//! Users of a forge.

use serde::{Deserialize, Serialize};

use crate::word_enum::word_enum;

/// A user of a forge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgeUser {
    /// Stays the same if the user is renamed. Some forges have negative ids for their own accounts.
    /// Zero if the forge does not send it.
    pub id: i64,
    pub login: String,
    pub kind: UserKind,
}

word_enum! {
    /// Whether a person or a program uses an account.
    pub enum UserKind {
        Person = "person",
        Bot = "bot",
    }
}

impl ForgeUser {
    /// Returns whether the forge says that a program uses the account.
    pub fn is_bot(&self) -> bool {
        self.kind == UserKind::Bot
    }

    /// Returns whether both are the same account. Compares the ids, or the logins if an id is
    /// missing.
    pub fn is_same(&self, other: &Self) -> bool {
        match self.id != 0 && other.id != 0 {
            true => self.id == other.id,
            false => self.login.eq_ignore_ascii_case(&other.login),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_compared_by_id_and_without_an_id_by_login() {
        let user = |id, login: &str| ForgeUser { id, login: login.into(), kind: UserKind::Person };
        let table = [
            (user(7, "old"), user(7, "new"), true),
            (user(7, "same"), user(8, "same"), false),
            (user(0, "Same"), user(8, "same"), true),
            (user(0, "one"), user(8, "other"), false),
        ];
        for (one, other, expected) in table {
            assert_eq!(one.is_same(&other), expected, "{one:?} {other:?}");
        }
    }
}
