//! Limits of what agents start: an agent that starts agents that start agents must not run away.

use std::fmt;

use crate::model::{Usage, UsdAmount};

/// The limits of the agents and tasks that one agent starts, directly and indirectly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeLimits {
    /// How many agents may be above an agent: 3 allows a child, its child, and the child of that.
    pub depth: u32,
    /// How many children of a session may be queued or run at the same time.
    pub children: u32,
    /// How many children a session may start within a minute.
    pub starts_per_minute: u32,
    /// How many tokens all agents of a tree may use. `None` for no limit.
    pub tokens: Option<u64>,
    /// What all agents of a tree may cost. `None` for no limit.
    pub cost: Option<UsdAmount>,
}

impl Default for TreeLimits {
    fn default() -> Self {
        Self { depth: 3, children: 8, starts_per_minute: 10, tokens: None, cost: None }
    }
}

/// The facts about a session whose agent wants to start a child.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeFacts {
    /// How many agents are above it.
    pub depth: u32,
    pub open_children: u32,
    /// How many children it has started within the last minute.
    pub recent_starts: u32,
    /// What its tree has used. `None` if it is unknown.
    pub usage: Option<Usage>,
}

/// Why an agent may not start a child now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeRefusal {
    TooDeep { limit: u32 },
    TooManyChildren { limit: u32 },
    TooManyStarts { limit: u32 },
    TokensUsedUp { limit: u64 },
    CostUsedUp { limit: UsdAmount },
}

/// Returns why an agent may not start a child now. `None` if it may.
pub fn refusal(limits: &TreeLimits, facts: &TreeFacts) -> Option<TreeRefusal> {
    let tokens = facts.usage.map_or(0, |usage| usage.input.saturating_add(usage.output));
    let cost = facts.usage.and_then(|usage| usage.cost_usd);
    if facts.depth >= limits.depth {
        return Some(TreeRefusal::TooDeep { limit: limits.depth });
    }
    if facts.open_children >= limits.children {
        return Some(TreeRefusal::TooManyChildren { limit: limits.children });
    }
    if facts.recent_starts >= limits.starts_per_minute {
        return Some(TreeRefusal::TooManyStarts { limit: limits.starts_per_minute });
    }
    match (limits.tokens, limits.cost) {
        (Some(limit), _) if tokens >= limit => Some(TreeRefusal::TokensUsedUp { limit }),
        (_, Some(limit)) if cost.is_some_and(|cost| cost.billionths() >= limit.billionths()) => {
            Some(TreeRefusal::CostUsedUp { limit })
        }
        _ => None,
    }
}

impl fmt::Display for TreeRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooDeep { limit } => {
                write!(f, "there are {limit} agents above it already (`depth` under `[tasks]`)")
            }
            Self::TooManyChildren { limit } => {
                write!(f, "{limit} of its children are queued or run (`children` under `[tasks]`)")
            }
            Self::TooManyStarts { limit } => write!(
                f,
                "it has started {limit} children within a minute (`starts_per_minute` under \
                 `[tasks]`)"
            ),
            Self::TokensUsedUp { limit } => write!(
                f,
                "it and its children have used {limit} tokens (`tree_tokens` under `[tasks]`)"
            ),
            Self::CostUsedUp { limit } => write!(
                f,
                "it and its children have cost {:.2} USD (`tree_cost` under `[tasks]`)",
                limit.dollars()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn child_is_refused_at_each_limit_and_allowed_below_all_of_them() {
        let dollars = |dollars| UsdAmount::from_dollars(dollars).unwrap();
        let cost = Some(dollars(5.0));
        let limits = TreeLimits { tokens: Some(1000), cost, ..TreeLimits::default() };
        let used = |input, output, cost| {
            Some(Usage { input, cached: 0, output, cost_usd: Some(dollars(cost)) })
        };
        let below =
            TreeFacts { depth: 2, open_children: 7, recent_starts: 9, usage: used(500, 499, 4.99) };
        let table = [
            (below, None),
            (TreeFacts { usage: None, ..below }, None),
            (TreeFacts { depth: 3, ..below }, Some(TreeRefusal::TooDeep { limit: 3 })),
            (
                TreeFacts { open_children: 8, ..below },
                Some(TreeRefusal::TooManyChildren { limit: 8 }),
            ),
            (
                TreeFacts { recent_starts: 10, ..below },
                Some(TreeRefusal::TooManyStarts { limit: 10 }),
            ),
            (
                TreeFacts { usage: used(500, 500, 1.0), ..below },
                Some(TreeRefusal::TokensUsedUp { limit: 1000 }),
            ),
            (
                TreeFacts { usage: used(1, 1, 5.0), ..below },
                Some(TreeRefusal::CostUsedUp { limit: dollars(5.0) }),
            ),
        ];
        for (facts, expected) in table {
            assert_eq!(refusal(&limits, &facts), expected, "{facts:?}");
        }
        let expensive = TreeFacts { usage: used(u64::MAX, 1, 1000.0), ..below };
        assert_eq!(refusal(&TreeLimits::default(), &expensive), None);
    }
}
