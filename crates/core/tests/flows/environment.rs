//! Whether a source has the variables that the last launch had, and the environment of a request.

use segue_core::Kind;
use segue_core::flows::caller_environment::environment;
use segue_core::flows::environment::{check, listed, missing_variables_error};
use segue_core::model::{Environment, EnvironmentSource, Exit, Principal};
use segue_core::rules::editor_servers;
use segue_core::rules::environment::EnvironmentChoice;
use segue_fakes::samples;

use crate::scene::FlowScene;

#[tokio::test]
async fn source_without_a_variable_of_the_last_launch_names_it() {
    let mut scene = FlowScene::new();
    scene.start("hi").await;
    scene.end(Exit::Signal(9)).await;
    let source = EnvironmentSource::LoginShell;
    let checked = check(&scene.ports, &scene.state, source, samples::environment()).unwrap();
    assert!(matches!(checked, EnvironmentChoice::Use { .. }), "{checked:?}");
    let empty = Environment::default();
    let checked = check(&scene.ports, &scene.state, source, empty).unwrap();
    assert_eq!(checked, EnvironmentChoice::Missing(vec!["PATH".to_owned()]));
}

#[tokio::test]
async fn first_launch_can_use_any_environment() {
    let scene = FlowScene::new();
    let source = EnvironmentSource::LoginShell;
    let checked = check(&scene.ports, &scene.state, source, Environment::default()).unwrap();
    assert!(matches!(checked, EnvironmentChoice::Use { .. }), "{checked:?}");
}

#[tokio::test]
async fn agent_gets_its_own_environment_whatever_it_sends() {
    let mut scene = FlowScene::new();
    let launch = scene.start("hi").await;
    let sent = || Environment::new([("PATH".to_owned(), "/evil".to_owned())]);
    let agent = Principal::Agent(Box::new(scene.state.session.clone()));
    let of = async |principal: &Principal| environment(&scene.ports, principal, sent()).await;
    assert_eq!(of(&Principal::User).await.unwrap(), sent());
    assert_eq!(of(&agent).await.unwrap().get("PATH"), Some("/usr/bin"));
    let servers = Environment::new([(editor_servers::VARIABLE.to_owned(), "5b5d".to_owned())]);
    let given = environment(&scene.ports, &agent, servers.clone()).await.unwrap();
    assert_eq!(given.get(editor_servers::VARIABLE), None, "servers that an agent sends");
    let given = environment(&scene.ports, &Principal::User, servers.clone()).await.unwrap();
    assert_eq!(given, servers);
    scene.world.calls.fail("holders.environment", 1);
    assert_eq!(of(&agent).await.unwrap_err().causes.len(), 2, "the holder does not answer");
    scene.world.holders.kill(launch);
    let error = of(&agent).await.unwrap_err();
    assert_eq!((error.kind, error.causes[1].as_str()), (Kind::Unavailable, "its holder is gone"));
}

#[tokio::test]
async fn agent_that_does_not_run_has_no_environment() {
    let mut scene = FlowScene::new();
    scene.start("hi").await;
    scene.end(Exit::Code(0)).await;
    let agent = Principal::Agent(Box::new(scene.state.session.clone()));
    let found = environment(&scene.ports, &agent, Environment::default()).await;
    assert_eq!(found.unwrap_err().causes[1], "it does not run any more");
}

#[test]
fn missing_variables_are_listed_up_to_a_limit() {
    let names: Vec<String> = (1..=7).map(|number| format!("V{number}")).collect();
    assert_eq!(listed(&names[..1]), "`V1` is");
    assert_eq!(listed(&names[..2]), "`V1`, `V2` are");
    assert_eq!(listed(&names), "`V1`, `V2`, `V3`, `V4`, `V5` and 2 more are");
    let error = missing_variables_error("default/fox", &names[..1]);
    assert_eq!(error.message, "cannot restart `default/fox`: `V1` is missing");
    assert!(error.hints[0].contains("segue resume default/fox"), "{error:?}");
}
