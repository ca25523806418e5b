//! Ids, arguments and environment of a launch.

use std::path::PathBuf;

use segue_core::Result;
use segue_core::model::{Environment, Failure, FailureClass, LaunchMode, Session, VendorSessionId};
use segue_core::ports::{
    CommandLine, CommandPlan, HeadlessLaunching, Launching, Place, ProgramSpec,
};
use uuid::Uuid;

use super::Demo;
use super::paths::{self, CONFIG_DIR_VARIABLE, KEY_REFUSED, NESTED_VARIABLE};
use crate::shared::launching;

/// The subcommand of `segue` that runs the agent.
const SUBCOMMAND: &str = "demo-agent";

/// If a session's own arguments contain this, the agent chooses its id itself, as some real agents
/// do.
const OWN_ID: &str = "--own-id";

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
        let chooses_itself = session.args.iter().any(|argument| argument == OWN_ID);
        (!chooses_itself).then(|| VendorSessionId::new(unique.to_string()))
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        let session = plan.session;
        let mut arguments = identity(plan)?;
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
        arguments.extend(session.args.iter().cloned());
        arguments.extend(message(plan)?);
        Ok(CommandLine { arguments, files: Vec::new() })
    }

    fn headless(&self) -> Option<&dyn HeadlessLaunching> {
        Some(self)
    }
}

impl HeadlessLaunching for Demo {}

/// Reads why the agent did not start. `None` if the text does not show it.
pub(super) fn last_words(errors: &str) -> Option<Failure> {
    let (class, message) = (FailureClass::Account, KEY_REFUSED.to_owned());
    errors.contains(KEY_REFUSED).then_some(Failure { class, message, resets_at: None })
}

fn identity(plan: &CommandPlan<'_>) -> Result<Vec<String>> {
    match (plan.mode, plan.id) {
        (LaunchMode::Fresh, None) => Ok(Vec::new()),
        (LaunchMode::Fresh, Some(id)) => Ok(vec!["--session-id".to_owned(), id.to_string()]),
        (LaunchMode::Resume, Some(id)) => Ok(vec!["--resume".to_owned(), id.to_string()]),
        (LaunchMode::Resume, None) => Err(launching::missing_id(plan.session)),
    }
}

/// Returns the message after `--`, so that the agent does not parse it as a flag.
fn message(plan: &CommandPlan<'_>) -> Result<Vec<String>> {
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
    fn a_resume_keeps_model_permission_instructions_and_own_arguments() {
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
    fn a_headless_launch_needs_a_message() {
        let mut session = session();
        session.headless = true;
        let found = arguments(&session, LaunchMode::Fresh, Some("hi"));
        assert_eq!(found[2..], ["--print", "--permission", "ask", "--", "hi"]);
        let disk = CountingFiles::default();
        let plan = plan(&session, &disk, (LaunchMode::Fresh, None, None));
        assert_eq!(Demo.command(&plan).unwrap_err().kind, segue_core::Kind::Usage);
    }

    #[test]
    fn a_resume_without_an_id_is_refused_rather_than_started_blank() {
        let session = session();
        let disk = CountingFiles::default();
        let plan = plan(&session, &disk, (LaunchMode::Resume, None, Some("x")));
        assert!(Demo.command(&plan).is_err());
    }

    #[test]
    fn an_id_is_preset_unless_the_agent_chooses_its_own() {
        let mut session = session();
        let random = Uuid::from_u128(7);
        assert_eq!(Demo.preset_id(&session, random).unwrap().as_str(), random.to_string());
        session.args = vec![OWN_ID.into()];
        assert_eq!(Demo.preset_id(&session, random), None);
    }

    #[test]
    fn environment_names_the_recorded_config_dir_and_drops_the_outer_session() {
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
