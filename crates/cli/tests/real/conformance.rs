//! The most important behaviours, tested with every vendor's real program. `make conformance` runs the
//! whole list.

use segue_testkit::vendors::{exemptions, show};

/// Declares one test of each behaviour for each vendor.
macro_rules! behaviours {
    ($vendors:tt $($test:ident: $behaviour:literal;)*) => {
        $(behaviours!(@vendors $vendors $test $behaviour);)*
    };
    (@vendors ($($vendor:ident)*) $test:ident $behaviour:literal) => {
        mod $test {
            $(#[test]
            fn $vendor() {
                super::show(env!("CARGO_BIN_EXE_segue"), stringify!($vendor), $behaviour);
            })*
        }
    };
}

behaviours! {
    (claude codex copilot gemini pi)
    start: "start";
    two_at_once: "two-at-once";
    unknown_id: "unknown-id";
    new_inside: "new-inside";
    mid_stream: "mid-stream";
    mid_tool: "mid-tool";
    deleted: "deleted";
    messages: "messages";
    permission: "permission";
    headless: "headless";
    failures: "failures";
}

/// Fewer behaviours for `OpenCode`, which takes longer to start than all others together.
mod slow {
    use super::show;

    behaviours! {
        (opencode)
        two_at_once: "two-at-once";
        mid_tool: "mid-tool";
        messages: "messages";
        permission: "permission";
    }
}

/// Earlier releases of programs whose newer release behaves differently.
mod previous {
    use segue_testkit::vendors::show_previous as show;

    behaviours! {
        (claude)
        permission: "permission";
        headless_killed: "headless-killed";
        open_elsewhere: "open-elsewhere";
        mid_stream: "mid-stream";
    }
}

mod more {
    use super::show;

    behaviours! {
        (claude codex)
        headless_killed: "headless-killed";
        open_elsewhere: "open-elsewhere";
        long_message: "long-message";
        while_down: "while-down";
        draft: "draft";
    }
}

#[test]
fn every_exemption_of_a_vendor_names_a_known_behaviour_and_a_reason() {
    for (vendor, behaviour, reason) in exemptions() {
        assert!(is_known(behaviour), "{vendor} is exempt from the unknown `{behaviour}`");
        assert!(reason.len() > 10, "{vendor} is exempt from `{behaviour}` without a reason");
    }
}

fn is_known(behaviour: &str) -> bool {
    segue_testkit::vendors::behaviours().contains(&behaviour)
}
