//! Tokens that the requests to a model used, and how far they are counted.

use jiff::Timestamp;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{AgentName, FleetName, SessionId, VendorId, VendorSessionId};
use crate::word_enum::word_enum;

/// Number of tokens that requests to a model used, and their cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// All tokens of the input, including the cached ones.
    pub input: u64,
    /// The tokens of the input that were read from the service's cache.
    #[serde(default)]
    pub cached: u64,
    pub output: u64,
    /// The cost that the vendor reported. `None` if the vendor reported none.
    #[serde(default)]
    pub cost_usd: Option<UsdAmount>,
}

impl Usage {
    /// Returns the sum. A cost is the sum of the costs that are known.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached: self.cached.saturating_add(other.cached),
            output: self.output.saturating_add(other.output),
            cost_usd: combined(self.cost_usd, other.cost_usd, u64::saturating_add),
        }
    }

    /// Returns the part of this usage that exceeds another usage.
    #[must_use]
    pub fn beyond(self, counted: Self) -> Self {
        Self {
            input: self.input.saturating_sub(counted.input),
            cached: self.cached.saturating_sub(counted.cached),
            output: self.output.saturating_sub(counted.output),
            cost_usd: self.cost_usd.map(|cost| {
                let counted = counted.cost_usd.map_or(0, |counted| counted.0);
                UsdAmount(cost.0.saturating_sub(counted))
            }),
        }
    }

    /// Returns the sum of several usages. `None` if there are none.
    pub fn sum(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        all.into_iter().reduce(Self::plus)
    }

    /// Returns whether no token was used and nothing was paid.
    pub fn is_zero(self) -> bool {
        let tokens = [self.input, self.cached, self.output];
        tokens == [0; 3] && self.cost_usd.is_none_or(|cost| cost.0 == 0)
    }
}

fn combined(
    one: Option<UsdAmount>,
    other: Option<UsdAmount>,
    combine: fn(u64, u64) -> u64,
) -> Option<UsdAmount> {
    match (one, other) {
        (Some(one), Some(other)) => Some(UsdAmount(combine(one.0, other.0))),
        (one, other) => one.or(other),
    }
}

/// An amount of US dollars, in billionths. It is serialized as a number of dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
#[schemars(with = "f64")]
pub struct UsdAmount(u64);

/// The number of billionths in a dollar.
const BILLIONTHS: f64 = 1e9;

impl UsdAmount {
    pub fn from_billionths(billionths: u64) -> Self {
        Self(billionths)
    }

    pub fn billionths(self) -> u64 {
        self.0
    }

    /// Converts a number of dollars. `None` if it is negative, not finite, or too large.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number is checked first"
    )]
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let is_usable = (0.0..1e9).contains(&dollars);
        is_usable.then(|| Self((dollars * BILLIONTHS).round() as u64))
    }

    #[expect(clippy::cast_precision_loss, reason = "no amount needs more than 52 bits")]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / BILLIONTHS
    }
}

impl Serialize for UsdAmount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.dollars())
    }
}

impl<'de> Deserialize<'de> for UsdAmount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let dollars = f64::deserialize(deserializer)?;
        let invalid = || serde::de::Error::custom(format!("`{dollars}` is not an amount of money"));
        Self::from_dollars(dollars).ok_or_else(invalid)
    }
}

/// The usage that one record of a transcript reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedUsage {
    /// Identifies the request to the model within its source. Several records of one request have
    /// the same key.
    pub key: String,
    pub at: Timestamp,
    /// What the request has used in total.
    pub usage: Usage,
}

/// How far a source of reports was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsagePosition {
    /// Bytes of a file, or entries of a database.
    pub offset: u64,
    /// A checksum of the content right before the offset. If it differs, the source was rewritten.
    pub mark: u64,
}

/// Reports that were read from a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageReading {
    /// The reports in the order of the source.
    pub reports: Vec<ReportedUsage>,
    /// The position behind the last complete record.
    pub position: UsagePosition,
    /// Whether the source was read from its beginning, so that reports may be known already.
    pub is_from_start: bool,
}

/// How far the reports of a source are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageCursor {
    pub position: UsagePosition,
    /// The time of the newest report that was counted.
    pub newest: Option<Timestamp>,
    /// The newest requests, with the usage that was counted for each, oldest first.
    pub recent: Vec<CountedRequest>,
}

/// A request to a model, with the usage that was counted for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedRequest {
    pub key: String,
    pub usage: Usage,
}

/// A source of reports about a session's usage.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsageSource {
    pub conversation: VendorSessionId,
    /// The name of the file. It is unique within the conversation.
    pub name: String,
}

/// The cursor of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredUsageCursor {
    pub session: SessionId,
    pub source: UsageSource,
    pub cursor: UsageCursor,
}

/// Usage that was counted from one source, to be added to what a session has used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageIncrement {
    pub session: SessionId,
    pub source: UsageSource,
    /// The cursor from which the source was read. `None` if it was read for the first time.
    pub from: Option<UsageCursor>,
    pub to: UsageCursor,
    pub counted: Vec<CountedUsage>,
}

/// What was used until a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedUsage {
    /// The time of the newest report of this usage.
    pub at: Timestamp,
    pub usage: Usage,
}

word_enum! {
    /// How usage is added up.
    pub enum UsageGrouping {
        Agent = "agent",
        Vendor = "vendor",
        Day = "day",
        /// For each day, by vendor.
        DayAndVendor = "day_and_vendor",
    }
}

/// What a session has used on one day in UTC. The session may have been removed meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DailyUsage {
    pub session: SessionId,
    pub fleet: FleetName,
    pub agent: Option<AgentName>,
    pub vendor: VendorId,
    pub day: Date,
    pub usage: Usage,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, cached: u64, output: u64, cost: Option<f64>) -> Usage {
        Usage {
            input,
            cached,
            output,
            cost_usd: cost.map(|it| UsdAmount::from_dollars(it).unwrap()),
        }
    }

    #[test]
    fn sum_of_usages_has_the_known_costs() {
        let all = [usage(1, 0, 2, None), usage(3, 1, 4, Some(0.25)), usage(0, 0, 1, Some(0.5))];
        assert_eq!(Usage::sum(all), Some(usage(4, 1, 7, Some(0.75))));
        assert_eq!(Usage::sum([usage(1, 0, 2, None)]), Some(usage(1, 0, 2, None)));
        assert_eq!(Usage::sum([]), None);
    }

    #[test]
    fn usage_beyond_a_counted_one_is_never_negative() {
        let counted = usage(10, 4, 5, Some(0.5));
        assert!(counted.beyond(counted).is_zero());
        assert_eq!(usage(10, 4, 9, Some(0.75)).beyond(counted), usage(0, 0, 4, Some(0.25)));
        assert!(usage(1, 1, 1, None).beyond(counted).is_zero());
    }

    #[test]
    fn amount_is_serialized_as_a_number_of_dollars() {
        for (dollars, json) in [(0.000_35, "0.00035"), (1.5, "1.5"), (0.0, "0.0")] {
            let amount = UsdAmount::from_dollars(dollars).unwrap();
            assert_eq!(serde_json::to_string(&amount).unwrap(), json);
            assert_eq!(serde_json::from_str::<UsdAmount>(json).unwrap(), amount);
        }
        for bad in [-1.0, f64::NAN, f64::INFINITY, 1e12] {
            assert_eq!(UsdAmount::from_dollars(bad), None, "{bad}");
        }
    }

    #[test]
    fn usage_of_earlier_versions_has_neither_cached_tokens_nor_a_cost() {
        let read: Usage = serde_json::from_str(r#"{"input":3,"output":4}"#).unwrap();
        assert_eq!(read, usage(3, 0, 4, None));
    }
}
