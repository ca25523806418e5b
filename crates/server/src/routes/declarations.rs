//! All routes. Each one is declared here and nowhere else: its right, its name and its summary. The
//! OpenAPI document and the table in `docs/http.md` follow from these lines.

mod network;

use axum::http::Method;
use segue_core::model::TokenScope::{Admin, Read, Send, Work};

use super::table::EnvironmentPlace::{Caller, Top};
use super::table::{RouteTable, does};
use super::{
    attention, conversation, deliveries, doctor, events, git_credential, health, housekeeping, mcp,
    messages, metrics, openapi, plans, rest, sessions, shut_down, tasks, terminal, trust, usage,
    worktrees,
};

/// Returns all routes. Each line has the right that the caller needs, and what the documentation says.
pub(super) fn table() -> RouteTable {
    let table = RouteTable::default();
    let table = add_daemon(table.group("daemon"));
    let table = network::add_tokens(table.group("network"));
    let table = network::add_settings(network::add_web(table.group("web")));
    let table = add_starts(table.group("sessions"));
    let table = add_terminals(add_session_settings(add_sessions(table)));
    let table = add_events(table.group("events"));
    let table = add_messages(table.group("messages"));
    let table = add_tasks(table.group("tasks"));
    let table = add_plans(table.group("plans"));
    let table = add_worktrees(table.group("worktrees"));
    let table = add_deliveries(table.group("dispatch"));
    add_housekeeping(table.group("housekeeping"))
}

fn add_deliveries(table: RouteTable) -> RouteTable {
    let test_summary = "Returns what the rules would do with a delivery";
    table
        .signed(
            "/webhooks/{source}",
            does("receive_delivery", "Receives a delivery of a forge"),
            deliveries::receive,
        )
        .get(
            "/v1/deliveries",
            Read,
            does("list_deliveries", "Lists deliveries in pages, the newest first"),
            rest::list_deliveries,
        )
        .get(
            "/v1/deliveries/{id}",
            Read,
            does("get_delivery", "Returns a delivery with its content by its id"),
            rest::show_delivery,
        )
        .post(
            "/v1/deliveries",
            Read,
            does("filter_deliveries", "Lists the newest deliveries"),
            deliveries::list,
        )
        .post(
            "/v1/deliveries/show",
            Read,
            does("find_delivery", "Returns a delivery with its content"),
            deliveries::show,
        )
        .post(
            "/v1/deliveries/replay",
            Work,
            does("replay_delivery", "Compares a delivery with the rules again"),
            deliveries::replay,
        )
        .post("/v1/dispatch/test", Work, does("test_dispatch", test_summary), deliveries::test)
}

fn add_housekeeping(table: RouteTable) -> RouteTable {
    let reset_summary = "Lets an agent begin anew with an issue";
    table
        .get(
            "/v1/disk",
            Read,
            does("get_disk_use", "Returns what uses disk space"),
            housekeeping::disk,
        )
        .post("/v1/sweep", Admin, does("sweep", "Removes old things"), housekeeping::sweep)
        .post("/v1/reset", Work, does("reset_issue", reset_summary), housekeeping::reset)
}

fn add_daemon(table: RouteTable) -> RouteTable {
    let shut_down_summary = "Stops the daemon; agents go on";
    let doctor_summary = "Compares records, processes and files, and repairs what it can";
    let credential_summary = "Answers git's question for a user name or a token";
    let trust_summary = "Shows what a project file would run, or trusts it";
    let mcp_summary = "Answers a message of the Model Context Protocol";
    table
        .post("/mcp", Read, does("mcp", mcp_summary), mcp::answer)
        .get("/v1/health", Read, does("get_health", "Reports the state of the daemon"), health)
        .get(
            "/v1/openapi.json",
            Read,
            does("get_openapi", "Returns this document"),
            openapi::openapi,
        )
        .local(Method::POST, "/v1/shutdown", does("shut_down", shut_down_summary), shut_down)
        .local(Method::POST, "/v1/doctor", does("doctor", doctor_summary), doctor::doctor)
        .local(
            Method::POST,
            "/v1/git-credential",
            does("answer_git", credential_summary),
            git_credential::answer,
        )
        .post("/v1/trust", Admin, does("trust_project", trust_summary), trust::trust)
        .get(
            "/metrics",
            Read,
            does("get_metrics", "Returns metrics for Prometheus"),
            metrics::metrics,
        )
        .get(
            "/v1/usage",
            Read,
            does("get_usage", "Returns the tokens that sessions have used"),
            rest::usage,
        )
        .post(
            "/v1/usage",
            Read,
            does("sum_usage", "Adds up the tokens that sessions have used"),
            usage::list,
        )
}

fn add_starts(table: RouteTable) -> RouteTable {
    let count_summary = "Counts the sessions that a resume would bring back";
    let strangers_summary = "Lists conversations of a folder that belong to no session";
    table
        .start("/v1/run", (Work, Caller), does("run", "Starts a session"), sessions::run)
        .start("/v1/up", (Work, Caller), does("up", "Starts the agents of a project"), sessions::up)
        .start(
            "/v1/scale",
            (Work, Caller),
            does("scale", "Changes the number of agents of a kind"),
            sessions::scale,
        )
        .start(
            "/v1/resume",
            (Work, Caller),
            does("resume", "Brings sessions back"),
            sessions::resume,
        )
        .start(
            "/v1/resume/count",
            (Read, Caller),
            does("count_resumable", count_summary),
            sessions::count,
        )
        .post("/v1/stop", Work, does("stop", "Ends the agents of sessions"), sessions::stop)
        .post(
            "/v1/interrupt",
            Send,
            does("interrupt", "Interrupts the turn of an agent"),
            sessions::interrupt,
        )
        .start(
            "/v1/adopt",
            (Admin, Caller),
            does("adopt", "Makes sessions of conversations that were started without Segue"),
            sessions::adopt,
        )
        .start(
            "/v1/handoff",
            (Work, Caller),
            does("hand_off", "Carries a conversation over to another vendor"),
            sessions::handoff,
        )
        .start(
            "/v1/strangers",
            (Work, Top),
            does("list_unknown_conversations", strangers_summary),
            sessions::unknown_conversations,
        )
}

/// Adds the routes about the name and the settings of a session.
fn add_session_settings(table: RouteTable) -> RouteTable {
    table
        .get(
            "/v1/session/options",
            Read,
            does(
                "session_options",
                "Lists the permissions, models and commands that a session accepts",
            ),
            sessions::options,
        )
        .post(
            "/v1/rename",
            Work,
            does("rename_session", "Gives a session another name"),
            sessions::rename,
        )
        .post(
            "/v1/settings",
            Work,
            does("change_settings", "Changes the model or the permission of a session"),
            sessions::change_settings,
        )
}

fn add_sessions(table: RouteTable) -> RouteTable {
    let attach_summary = "Returns the socket of a session's terminal";
    table
        .get("/v1/sessions", Read, does("list_sessions", "Lists sessions in pages"), rest::list)
        .get("/v1/sessions/{id}", Read, does("get_session", "Returns a session"), rest::show)
        .shareable()
        .get(
            "/v1/sessions/{id}/transcript",
            Read,
            does("get_transcript", "Returns turns of a conversation, from its end"),
            rest::transcript,
        )
        .shareable()
        .get(
            "/v1/sessions/{id}/turn",
            Read,
            does("wait_for_turn", "Waits for the end of a headless turn"),
            sessions::turn,
        )
        .post(
            "/v1/list",
            Read,
            does("filter_sessions", "Lists the sessions that match filters"),
            sessions::filtered,
        )
        .post(
            "/v1/select",
            Read,
            does("select_sessions", "Finds the sessions that names mean"),
            sessions::select,
        )
        .get(
            "/v1/session",
            Read,
            does("find_session", "Finds a session by its address"),
            sessions::show,
        )
        .delete("/v1/session", Admin, does("remove_session", "Forgets a session"), sessions::remove)
        .start(
            "/v1/conversation",
            (Read, Caller),
            does("find_conversation", "Returns where a conversation is stored"),
            conversation::find,
        )
        .local(Method::GET, "/v1/attach", does("attach", attach_summary), sessions::attach)
}

fn add_terminals(table: RouteTable) -> RouteTable {
    table
        .get(
            "/v1/sessions/{id}/screen",
            Read,
            does("get_screen", "Returns the text on the screen of an agent"),
            terminal::screen,
        )
        .shareable()
        .get(
            "/v1/sessions/{id}/terminal",
            Read,
            does("open_terminal", "Opens the terminal of an agent as a WebSocket"),
            terminal::open,
        )
        .shareable()
        .get(
            "/v1/attention",
            Read,
            does("list_attention", "Lists the sessions and plans that need a person"),
            attention::list,
        )
}

fn add_events(table: RouteTable) -> RouteTable {
    table
        .get("/v1/events", Read, does("list_events", "Lists recorded events"), events::list)
        .shareable()
        .get(
            "/v1/events/follow",
            Read,
            does("follow_events", "Streams events as lines of JSON"),
            events::follow,
        )
        .shareable()
        .get(
            "/v1/events/stream",
            Read,
            does("stream_events", "Streams events as server-sent events"),
            events::stream,
        )
        .shareable()
}

fn add_messages(table: RouteTable) -> RouteTable {
    table
        .get(
            "/v1/sessions/{id}/messages",
            Read,
            does("list_messages", "Lists the messages to a session in pages"),
            rest::messages,
        )
        .start(
            "/v1/sessions/{id}/messages",
            (Send, Caller),
            does("send_message", "Sends a message to the agent of a session"),
            rest::send,
        )
        .start(
            "/v1/send",
            (Send, Caller),
            does("send", "Sends a message to an agent"),
            messages::send,
        )
        .post(
            "/v1/messages",
            Read,
            does("filter_messages", "Lists the messages of sessions and fleets"),
            messages::list,
        )
        .post(
            "/v1/messages/wait",
            Read,
            does(
                "wait_for_message",
                "Waits until the turn of a message is over, or the agent asks a question",
            ),
            messages::wait_for_message,
        )
        .post(
            "/v1/cancel",
            Send,
            does("cancel_message", "Cancels a queued message"),
            messages::cancel,
        )
        .post(
            "/v1/answer",
            Send,
            does("answer", "Answers the question of an agent"),
            messages::answer,
        )
        .post("/v1/wait", Read, does("wait", "Waits for the status of a session"), messages::wait)
}

fn add_tasks(table: RouteTable) -> RouteTable {
    table
        .get("/v1/tasks", Read, does("list_tasks", "Lists tasks in pages"), rest::list_tasks)
        .get("/v1/tasks/{id}", Read, does("get_task", "Returns a task"), rest::show_task)
        .post(
            "/v1/tasks/{id}/cancel",
            Work,
            does("cancel_task", "Cancels the task with this id"),
            rest::cancel_task,
        )
        .post(
            "/v1/tasks/{id}/priority",
            Work,
            does("set_task_priority", "Changes the priority of a queued task"),
            rest::set_priority,
        )
        .start(
            "/v1/tasks/{id}/retry",
            (Work, Caller),
            does("retry_task", "Starts the ended task with this id again"),
            rest::retry_task,
        )
        .start("/v1/tasks", (Work, Caller), does("add_task", "Adds a task"), tasks::add)
        .post(
            "/v1/tasks/list",
            Read,
            does("filter_tasks", "Lists the tasks that match filters"),
            tasks::list,
        )
        .post(
            "/v1/tasks/summaries",
            Read,
            does("summarize_tasks", "Lists the short parts of tasks"),
            tasks::summaries,
        )
        .post(
            "/v1/tasks/show",
            Read,
            does("find_task", "Finds a task by its id, the beginning of its id, or its key"),
            tasks::show,
        )
        .post(
            "/v1/tasks/wait",
            Read,
            does("wait_for_task", "Waits for the end of a task"),
            tasks::wait,
        )
        .post(
            "/v1/tasks/report",
            Work,
            does("report_work", "Reports the work of an agent to its parent"),
            tasks::report,
        )
        .post("/v1/tasks/cancel", Work, does("cancel_found_task", "Cancels a task"), tasks::cancel)
        .start(
            "/v1/tasks/retry",
            (Work, Caller),
            does("retry_found_task", "Starts an ended task again"),
            tasks::retry,
        )
}

fn add_plans(table: RouteTable) -> RouteTable {
    table
        .start(
            "/v1/plans/apply",
            (Work, Caller),
            does("apply_plan", "Adds a plan, or changes what differs from its file"),
            plans::apply,
        )
        .post("/v1/plans/list", Read, does("list_plans", "Lists plans"), plans::list)
        .post(
            "/v1/plans/show",
            Read,
            does("find_plan", "Finds a plan, and returns it with its tasks"),
            plans::show,
        )
        .post(
            "/v1/plans/pause",
            Work,
            does("pause_plan", "Starts no further task of a plan"),
            plans::pause,
        )
        .post(
            "/v1/plans/resume",
            Work,
            does("resume_plan", "Lets a paused or cancelled plan go on"),
            plans::resume,
        )
        .post("/v1/plans/cancel", Work, does("cancel_plan", "Cancels a plan"), plans::cancel)
        .post(
            "/v1/plans/retry",
            Work,
            does("retry_plan_task", "Starts a failed task of a plan again"),
            plans::retry,
        )
        .post(
            "/v1/plans/approve",
            Work,
            does("approve_plan_gate", "Approves a task that waits for a person"),
            plans::approve,
        )
}

fn add_worktrees(table: RouteTable) -> RouteTable {
    table
        .get(
            "/v1/worktrees",
            Read,
            does("list_worktrees", "Lists worktrees in pages"),
            rest::list_worktrees,
        )
        .get(
            "/v1/worktrees/{id}/diff",
            Read,
            does("diff_worktree", "Compares the worktree with this id with its base"),
            rest::diff_worktree,
        )
        .post(
            "/v1/worktrees",
            Read,
            does("filter_worktrees", "Lists the worktrees that names mean"),
            worktrees::list,
        )
        .start(
            "/v1/worktrees/diff",
            (Read, Top),
            does("diff_found_worktree", "Compares a worktree with its base"),
            worktrees::diff,
        )
        .start(
            "/v1/worktrees/salvage",
            (Work, Top),
            does("salvage_worktree", "Stores what a worktree has in a git ref"),
            worktrees::salvage,
        )
        .start(
            "/v1/worktrees/remove",
            (Work, Top),
            does("remove_worktree", "Removes a worktree after salvaging it"),
            worktrees::remove,
        )
        .start(
            "/v1/worktrees/restore",
            (Work, Top),
            does("restore_worktree", "Restores a removed worktree"),
            worktrees::restore,
        )
        .start(
            "/v1/worktrees/gc",
            (Work, Top),
            does("collect_worktrees", "Removes the worktrees that no session uses"),
            worktrees::collect_garbage,
        )
}
