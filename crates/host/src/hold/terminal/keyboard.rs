//! The keyboard protocol that an agent has requested: a stack of flags.

/// The maximum depth of the stack, as in terminals that support the protocol.
const MAX_DEPTH: usize = 16;

/// The flags of one screen. The last entry is in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Keyboard {
    stack: Vec<u16>,
}

impl Default for Keyboard {
    fn default() -> Self {
        Self { stack: vec![0] }
    }
}

impl Keyboard {
    pub(super) fn flags(&self) -> u16 {
        self.stack.last().copied().unwrap_or(0)
    }

    pub(super) fn push(&mut self, flags: u16) {
        if self.stack.len() >= MAX_DEPTH {
            self.stack.remove(0);
        }
        self.stack.push(flags);
    }

    pub(super) fn pop(&mut self, count: u16) {
        let left = self.stack.len().saturating_sub(usize::from(count));
        self.stack.truncate(left);
        if self.stack.is_empty() {
            self.stack.push(0);
        }
    }

    /// Changes the flags in effect: 1 sets them, 2 adds to them, 3 removes from them.
    pub(super) fn change(&mut self, flags: u16, how: u16) {
        let Some(last) = self.stack.last_mut() else {
            return;
        };
        *last = match how {
            2 => *last | flags,
            3 => *last & !flags,
            _ => flags,
        };
    }

    /// Returns the sequence that sets these flags without changing the terminal's own stack.
    pub(super) fn formatted(&self) -> String {
        format!("\x1b[={};1u", self.flags())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_pushed_changed_and_popped() {
        let mut keyboard = Keyboard::default();
        keyboard.push(7);
        keyboard.change(8, 2);
        assert_eq!(keyboard.flags(), 15);
        keyboard.change(1, 3);
        assert_eq!(keyboard.formatted(), "\x1b[=14;1u");
        keyboard.pop(1);
        assert_eq!(keyboard.flags(), 0);
        keyboard.pop(9);
        assert_eq!(keyboard, Keyboard::default());
        (0..100).for_each(|_| keyboard.push(1));
        assert_eq!(keyboard.stack.len(), MAX_DEPTH);
    }
}
