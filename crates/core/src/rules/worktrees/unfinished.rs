//! Steps that take several commands of git. While such a step is in progress, the worktree is locked
//! with a reason that names the step. So a later process knows what a killed one was doing, and no
//! other git prunes or removes the worktree meanwhile.

use crate::model::RefName;

const MAKING: &str = "segue: being made";
const REMOVING: &str = "segue: being removed";
const RESTORING: &str = "segue: being restored from";
const SALVAGED_IN: &str = ", salvaged in";

/// A step that was begun and not finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnfinishedStep {
    /// The worktree was never used.
    Making,
    /// Everything was salvaged and verified before. `None` if there was nothing to salvage.
    Removing { salvage: Option<RefName> },
    /// Everything in the worktree comes from the salvage.
    Restoring { salvage: RefName },
}

impl UnfinishedStep {
    /// Returns the reason for `git worktree lock`.
    pub fn reason(&self) -> String {
        match self {
            Self::Making => MAKING.to_owned(),
            Self::Removing { salvage: None } => REMOVING.to_owned(),
            Self::Removing { salvage: Some(salvage) } => {
                format!("{REMOVING}{SALVAGED_IN} {salvage}")
            }
            Self::Restoring { salvage } => format!("{RESTORING} {salvage}"),
        }
    }

    /// Reads a reason. `None` if the worktree was locked without Segue.
    pub fn from_reason(reason: &str) -> Option<Self> {
        let reason = reason.trim();
        let salvage = |text: &str| RefName::parse(text.trim()).ok();
        if reason == MAKING {
            return Some(Self::Making);
        }
        if let Some(reference) = reason.strip_prefix(RESTORING) {
            return Some(Self::Restoring { salvage: salvage(reference)? });
        }
        match reason.strip_prefix(REMOVING)? {
            "" => Some(Self::Removing { salvage: None }),
            rest => {
                let salvage = salvage(rest.strip_prefix(SALVAGED_IN)?)?;
                Some(Self::Removing { salvage: Some(salvage) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_steps_are_read_back_and_reasons_of_others_are_not() {
        let salvage = RefName::parse("refs/segue/salvage/x-1/20260101T000000Z").unwrap();
        for step in [
            UnfinishedStep::Making,
            UnfinishedStep::Removing { salvage: None },
            UnfinishedStep::Removing { salvage: Some(salvage.clone()) },
            UnfinishedStep::Restoring { salvage },
        ] {
            assert_eq!(UnfinishedStep::from_reason(&format!("{}\n", step.reason())), Some(step));
        }
        for other in ["", "on a USB stick", "initializing", "segue", "segue: being removed by me"] {
            assert_eq!(UnfinishedStep::from_reason(other), None, "{other}");
        }
    }
}
