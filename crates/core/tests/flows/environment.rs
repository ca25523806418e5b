//! Whether a source has the variables that the last launch had.

use segue_core::flows::environment::check;
use segue_core::model::{Environment, EnvironmentSource, Exit};
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
