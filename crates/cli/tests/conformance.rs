//! Every vendor's real program, and what hurts most when it is missing. `make conformance` has the
//! whole list.

use segue_testkit::vendors::show;

/// Makes a test of each behaviour for each vendor.
macro_rules! shown {
    ($vendors:tt $($test:ident: $behaviour:literal;)*) => {
        $(shown!(@vendors $vendors $test $behaviour);)*
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

shown! {
    (claude codex copilot pi)
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

/// Its program takes longer to start than all others together.
mod slow {
    use super::show;

    shown! {
        (opencode)
        two_at_once: "two-at-once";
        mid_tool: "mid-tool";
        messages: "messages";
        permission: "permission";
    }
}

mod more {
    use super::show;

    shown! {
        (claude codex)
        long_message: "long-message";
        while_down: "while-down";
        draft: "draft";
    }
}
