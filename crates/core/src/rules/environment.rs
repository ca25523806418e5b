//! The environment variables of an agent.

mod choice;

pub use choice::{EnvironmentCandidate, EnvironmentChoice, choose, without_shell_internals};

use crate::error::{Error, Result};
use crate::model::{AgentWorktree, Environment, Launch, LaunchId, Session, TaskId};
use crate::rules::askpass::TICKET;
use crate::rules::editor_servers;

/// Variables that every agent gets. A nested Segue recognizes its agent by them.
pub const SESSION: &str = "SEGUE_SESSION";
pub const LAUNCH: &str = "SEGUE_LAUNCH";
const AGENT: &str = "SEGUE_AGENT";
const FLEET: &str = "SEGUE_FLEET";
const TASK: &str = "SEGUE_TASK";
const PORT: &str = "SEGUE_PORT";
const RESERVED_PREFIX: &str = "SEGUE_";

/// The variables with which a process of an agent finds the daemon and its own session. Some
/// vendors' programs give their children only the variables that they are told to.
pub const FOR_OWN_PROCESSES: [&str; 10] = [
    SESSION,
    LAUNCH,
    AGENT,
    FLEET,
    TASK,
    PORT,
    "SEGUE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// This variable is set while Segue reads the environment of the login shell, so that a shell
/// profile can check for it.
pub const READING: &str = "SEGUE_READING_ENVIRONMENT";

/// Variables that agents do not get from a caller: marks of the outer launch, secrets, and settings
/// of tests. A launch adds the servers of an editor itself, if its program can use them.
const NOT_FOR_AGENTS: [&str; 7] =
    ["SEGUE_TOKEN", SESSION, LAUNCH, TASK, PORT, TICKET, editor_servers::VARIABLE];
const NOT_FOR_AGENTS_PREFIX: &str = "SEGUE_FAILPOINT";

/// Variables of the caller whose values would be wrong inside the holder's terminal.
const WRONG_IN_TERMINAL: [&str; 3] = ["STY", "LINES", "COLUMNS"];

/// The facts about a launch that its agent gets as variables.
#[derive(Clone, Copy, Debug)]
pub struct AgentMarks<'a> {
    pub session: &'a Session,
    pub launch: &'a Launch,
    /// The TCP port of the session's worktree.
    pub port: Option<u16>,
    /// The task on which the session works.
    pub task: Option<TaskId>,
}

/// Returns the environment of an agent: the caller's environment, the variables of the project file
/// and the marks of the agent's launch, without variables that are only for Segue.
pub fn for_agent(caller: &Environment, marks: AgentMarks<'_>) -> Environment {
    let AgentMarks { session, launch, port, task } = marks;
    let mut environment = without_internals(caller);
    for (name, value) in &session.env {
        environment.set(name, value);
    }
    environment.set(SESSION, session.id.to_string());
    environment.set(LAUNCH, launch.id.to_string());
    let agent = session.agent.as_ref().map_or(session.name.as_str(), |agent| agent.as_str());
    environment.set(AGENT, agent);
    environment.set(FLEET, session.fleet.as_str());
    // Set even without a task, so that all launches of a session have the same variables.
    environment.set(TASK, task.map(|task| task.to_string()).unwrap_or_default());
    if let Some(port) = port {
        environment.set(PORT, port.to_string());
    }
    environment
}

fn without_internals(caller: &Environment) -> Environment {
    let mut environment = caller.clone();
    environment.retain(|name| {
        let is_internal = NOT_FOR_AGENTS.contains(&name) || name.starts_with(NOT_FOR_AGENTS_PREFIX);
        !is_internal && !name.starts_with("TMUX") && !WRONG_IN_TERMINAL.contains(&name)
    });
    environment
}

/// Returns the environment of the setup and teardown commands of a worktree. `mark` takes the place
/// of a launch, so that all their processes can be found.
pub fn for_worktree_command(
    caller: &Environment,
    worktree: &AgentWorktree,
    mark: LaunchId,
) -> Environment {
    let mut environment = without_internals(caller);
    environment.set(LAUNCH, mark.to_string());
    environment.set(AGENT, worktree.agent.as_str());
    environment.retain(|name| name != FLEET);
    environment.set(PORT, worktree.port.to_string());
    environment
}

/// Returns an error for a variable that is invalid, or that only Segue may set.
pub fn check_variable(name: &str, value: &str) -> Result<()> {
    if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
        return Err(Error::usage(format!("`{}` cannot be a variable", name.escape_debug()))
            .caused_by("a variable has a name without `=`, and no zero bytes")
            .hint("use a name such as `EXAMPLE`"));
    }
    if name.starts_with(RESERVED_PREFIX) {
        return Err(Error::usage(format!("`{name}` is reserved for Segue"))
            .hint(format!("use a name that does not begin with `{RESERVED_PREFIX}`")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::samples;
    use crate::rules::lifecycle::samples::launch;

    #[test]
    fn agent_gets_the_callers_environment_with_the_marks_of_its_own_launch() {
        let caller = [
            ("PATH", "/bin"),
            ("SEGUE_HOME", "/s"),
            ("SEGUE_SESSION", "outer"),
            ("SEGUE_LAUNCH", "outer"),
            ("SEGUE_TOKEN", "secret"),
            ("SEGUE_GIT_TICKET", "secret"),
            ("SEGUE_EDITOR_SERVERS", "secret"),
            ("SEGUE_FAILPOINT", "x"),
            ("TMUX", "1"),
            ("TMUX_PANE", "%1"),
            ("STY", "1"),
        ];
        let caller = Environment::new(caller.map(|(name, value)| (name.into(), value.into())));
        let mut session = samples::session(1, "coder");
        session.env.insert("EXAMPLE".into(), "1".into());
        let launch = &launch(7);
        let marks = AgentMarks { session: &session, launch, port: None, task: None };
        let environment = for_agent(&caller, marks);
        let names = environment.names();
        let expected = ["EXAMPLE", "PATH", AGENT, FLEET, "SEGUE_HOME", LAUNCH, SESSION, TASK];
        assert_eq!(names, expected);
        assert_eq!(environment.get(SESSION), Some(session.id.to_string().as_str()));
        assert_eq!(environment.get(LAUNCH), Some(launch.id.to_string().as_str()));
        assert_eq!(environment.get(TASK), Some(""));
        let task: TaskId = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        let marks = AgentMarks { port: Some(20123), task: Some(task), ..marks };
        let in_worktree = for_agent(&caller, marks);
        assert_eq!(in_worktree.get(PORT), Some("20123"));
        assert_eq!(in_worktree.get(TASK), Some(task.to_string().as_str()));
    }

    #[test]
    fn command_of_a_worktree_gets_its_port_and_the_marks_of_no_session() {
        let caller = [
            ("PATH", "/bin"),
            ("SEGUE_SESSION", "outer"),
            ("SEGUE_LAUNCH", "outer"),
            ("SEGUE_FLEET", "outer"),
            ("SEGUE_TOKEN", "secret"),
            ("SEGUE_EDITOR_SERVERS", "secret"),
        ];
        let caller = Environment::new(caller.map(|(name, value)| (name.into(), value.into())));
        let worktree = samples::worktree("fix", 20123);
        let environment = for_worktree_command(&caller, &worktree, launch(7).id);
        assert_eq!(environment.names(), ["PATH", AGENT, LAUNCH, PORT]);
        assert_eq!(environment.get(LAUNCH), Some(launch(7).id.to_string().as_str()));
        assert_eq!(environment.get(AGENT), Some("coder"));
        assert_eq!(environment.get(PORT), Some("20123"));
    }

    #[test]
    fn invalid_and_reserved_variables_are_rejected() {
        for (name, value) in [("", "1"), ("A=B", "1"), ("A\0", "1"), ("A", "1\0"), ("SEGUE_X", "1")]
        {
            assert!(check_variable(name, value).is_err(), "{name:?} {value:?}");
        }
        assert!(check_variable("EXAMPLE", "a=b").is_ok());
    }
}
