//! Ids, arguments and environment of a launch.

use std::path::PathBuf;

use segue_core::Result;
use segue_core::model::{
    Environment, Failure, FailureClass, LaunchMode, Permission, Session, VendorSessionId,
};
use segue_core::ports::{
    CommandLine, CommandPlan, HeadlessLaunching, HeadlessQuestions, Launching, Place, ProgramSpec,
};
use uuid::Uuid;

use super::Demo;
use super::paths::{self, CONFIG_DIR_VARIABLE, KEY_REJECTED_MESSAGE, NESTED_VARIABLE};
use crate::shared::launching;

/// The subcommand of `segue` that runs the agent.
const SUBCOMMAND: &str = "demo-agent";

/// If the session's additional arguments contain this flag, the agent chooses the conversation id
/// itself, as some real agents do.
const OWN_ID_FLAG: &str = "--own-id";

impl Launching for Demo {
    fn program(&self) -> ProgramSpec {
        ProgramSpec::Segue { subcommand: SUBCOMMAND }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        paths::config_dir(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        environment.retain(|name| name != NESTED_VARIABLE);
        environment.set(CONFIG_DIR_VARIABLE, place.config_dir.to_string_lossy());
    }

    fn preset_id(&self, session: &Session, unique: Uuid) -> Option<VendorSessionId> {
        let chooses_itself = session.args.iter().any(|argument| argument == OWN_ID_FLAG);
        (!chooses_itself).then(|| VendorSessionId::new(unique.to_string()))
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        let session = plan.session;
        let mut arguments = conversation_arguments(plan)?;
        if session.headless {
            arguments.push("--print".to_owned());
        }
        if let Some(model) = &session.model {
            arguments.push(format!("--model={model}"));
        }
        arguments.extend(["--permission".to_owned(), session.permission.word().to_owned()]);
        if let Some(instructions) = &session.instructions {
            arguments.push(format!("--instructions={instructions}"));
        }
        if session.headless && session.permission != Permission::Auto {
            arguments.push(format!("--ask-with={}", plan.ask));
        }
        arguments.extend(session.args.iter().cloned());
        arguments.extend(message_arguments(plan)?);
        Ok(CommandLine { arguments, files: Vec::new() })
    }

    fn headless(&self) -> Option<&dyn HeadlessLaunching> {
        Some(self)
    }
}

impl HeadlessLaunching for Demo {
    fn questions(&self, _version: Option<&str>) -> Option<&dyn HeadlessQuestions> {
        Some(self)
    }
}

/// Returns the failure that prevented the start of the agent. `None` if standard error contains no
/// known message.
pub(super) fn start_failure(errors: &str) -> Option<Failure> {
    let (class, message) = (FailureClass::Account, KEY_REJECTED_MESSAGE.to_owned());
    errors.contains(KEY_REJECTED_MESSAGE).then_some(Failure { class, message, resets_at: None })
}

fn conversation_arguments(plan: &CommandPlan<'_>) -> Result<Vec<String>> {
    match (plan.mode, plan.id) {
        (LaunchMode::Fresh, None) => Ok(Vec::new()),
        (LaunchMode::Fresh, Some(id)) => Ok(vec!["--session-id".to_owned(), id.to_string()]),
        (LaunchMode::Resume, Some(id)) => Ok(vec!["--resume".to_owned(), id.to_string()]),
        (LaunchMode::Resume, None) => Err(launching::missing_id(plan.session)),
    }
}

/// Returns the message after `--`, so that the agent does not parse it as a flag.
fn message_arguments(plan: &CommandPlan<'_>) -> Result<Vec<String>> {
    match plan.message {
        Some(message) => Ok(vec!["--".to_owned(), message.to_owned()]),
        None if plan.session.headless => Err(launching::missing_prompt(plan.session)),
        None => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CountingFiles, plan, session};

    fn arguments(session: &Session, mode: LaunchMode, message: Option<&str>) -> Vec<String> {
        let id = VendorSessionId::new("an-id");
        let disk = CountingFiles::default();
        Demo.command(&plan(session, &disk, (mode, Some(&id), message))).unwrap().arguments
    }

    #[test]
    fn fresh_launch_sets_the_id_and_keeps_a_message_that_looks_like_a_flag() {
        let found = arguments(&session(), LaunchMode::Fresh, Some("--help"));
        assert_eq!(found, ["--session-id", "an-id", "--permission", "ask", "--", "--help"]);
    }

    #[test]
    fn resume_passes_model_permission_instructions_and_additional_arguments() {
        let mut session = session();
        session.model = Some("m1".into());
        session.instructions = Some("be kind".into());
        session.permission = segue_core::model::Permission::AcceptEdits;
        session.args = vec!["--ask-trust".into()];
        let found = arguments(&session, LaunchMode::Resume, None);
        let wanted = "--resume an-id --model=m1 --permission accept-edits";
        let mut wanted: Vec<&str> = wanted.split(' ').collect();
        wanted.extend(["--instructions=be kind", "--ask-trust"]);
        assert_eq!(found, wanted);
    }

    #[test]
    fn headless_launch_without_a_message_is_a_usage_error() {
        let mut session = session();
        session.headless = true;
        let found = arguments(&session, LaunchMode::Fresh, Some("hi"));
        let ask = "--ask-with='/bin/segue' ask-person";
        assert_eq!(found[2..], ["--print", "--permission", "ask", ask, "--", "hi"]);
        let disk = CountingFiles::default();
        let plan = plan(&session, &disk, (LaunchMode::Fresh, None, None));
        assert_eq!(Demo.command(&plan).unwrap_err().kind, segue_core::Kind::Usage);
    }

    #[test]
    fn resume_without_an_id_is_an_error() {
        let session = session();
        let disk = CountingFiles::default();
        let plan = plan(&session, &disk, (LaunchMode::Resume, None, Some("x")));
        assert!(Demo.command(&plan).is_err());
    }

    #[test]
    fn preset_id_is_none_if_the_agent_chooses_its_own_id() {
        let mut session = session();
        let unique = Uuid::from_u128(7);
        assert_eq!(Demo.preset_id(&session, unique).unwrap().as_str(), unique.to_string());
        session.args = vec![OWN_ID_FLAG.into()];
        assert_eq!(Demo.preset_id(&session, unique), None);
    }

    #[test]
    fn environment_names_the_recorded_config_dir_and_omits_the_outer_session() {
        let mut environment = Environment::new([
            (NESTED_VARIABLE.to_owned(), "outer".to_owned()),
            (CONFIG_DIR_VARIABLE.to_owned(), "/elsewhere".to_owned()),
            ("PATH".to_owned(), "/bin".to_owned()),
        ]);
        let place = Place { config_dir: "/recorded".into(), cwd: "/work".into() };
        Demo.prepare_environment(&place, &mut environment);
        assert_eq!(environment.names(), ["PATH", CONFIG_DIR_VARIABLE]);
        assert_eq!(environment.get(CONFIG_DIR_VARIABLE), Some("/recorded"));
    }
}
