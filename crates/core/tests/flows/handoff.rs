//! Handing a conversation over, from the vendor `tool` to the vendor `other`.

mod digest;
mod earlier;
mod gather;
mod plan;
mod preview;
mod record;
mod retry;
mod source;
mod target;
mod undo;
mod write;

use segue_core::flows::handoff::{
    HandoffOptions, HandoffPlan, HandoffSource, HandoffTarget, SourceConversation, TargetSession,
    TransferSummary, WrittenConversation,
};
use segue_core::model::{Session, VendorId};
use segue_fakes::{FakeConversion, FakeVendor, samples, transcript_line};

use crate::scene::FlowScene;

/// A session of `tool` that has said a word to its agent. Both vendors take over conversations.
async fn talked() -> FlowScene {
    talked_beside(FakeVendor::taking_over("other")).await
}

/// The same, with another second vendor.
async fn talked_beside(other: FakeVendor) -> FlowScene {
    let mut scene = FlowScene::with(FakeVendor::taking_over("tool"), samples::session(1, "fox"));
    scene.world.vendors.put(other);
    scene.talk().await;
    scene
}

/// The vendor `other` with this conversion.
fn converting(conversion: FakeConversion) -> FakeVendor {
    FakeVendor { conversion: Some(conversion), ..FakeVendor::taking_over("other") }
}

/// Replaces the transcript of the scene's conversation.
fn rewrite(scene: &FlowScene, lines: &[(&str, &str)]) {
    let lines: String = lines.iter().map(|(who, text)| transcript_line(who, text)).collect();
    scene.world.disk.write(scene.transcript(), lines);
}

async fn source(scene: &FlowScene) -> HandoffSource {
    source_of(scene, &scene.state.session).await
}

async fn source_of(scene: &FlowScene, session: &Session) -> HandoffSource {
    HandoffSource::of_session(&scene.ports, session.clone()).await.unwrap()
}

async fn conversation(scene: &FlowScene) -> SourceConversation {
    source(scene).await.conversation.unwrap()
}

fn target(scene: &FlowScene, vendor: &str) -> HandoffTarget {
    let vendor = (VendorId::new(vendor), None);
    HandoffTarget::new(&scene.ports, vendor, None, samples::environment()).unwrap()
}

async fn plan(scene: &FlowScene) -> HandoffPlan {
    plan_with(scene, HandoffOptions::default()).await
}

async fn plan_with(scene: &FlowScene, options: HandoffOptions) -> HandoffPlan {
    let (source, target) = (source(scene).await, target(scene, "other"));
    HandoffPlan::new(&scene.ports, source, target, options).await.unwrap()
}

/// Plans to hand the conversation of a session over to a vendor.
async fn plan_from(scene: &FlowScene, session: &Session, vendor: &str) -> HandoffPlan {
    let (source, target) = (source_of(scene, session).await, target(scene, vendor));
    HandoffPlan::new(&scene.ports, source, target, HandoffOptions::default()).await.unwrap()
}

/// Writes the conversation of a plan in the target's format.
fn write(
    scene: &FlowScene,
    plan: &HandoffPlan,
    target: &TargetSession,
) -> (WrittenConversation, TransferSummary) {
    let content = plan.native_content(&scene.ports).unwrap().unwrap();
    plan.write(&scene.ports, target, &content).unwrap().unwrap()
}

/// Carries a plan out, as far as the target need not be started. Returns the session that goes on.
async fn carry_out(scene: &FlowScene, plan: &HandoffPlan) -> Session {
    let mut target = plan.target_session(&scene.ports).await.unwrap();
    let (_, summary) = write(scene, plan, &target);
    plan.record(&scene.ports, &mut target, &summary).await.unwrap();
    target.session
}

/// Returns the texts of the turns in a session's transcript.
async fn texts(scene: &FlowScene, session: &Session) -> Vec<String> {
    let Some(conversation) = source_of(scene, session).await.conversation else {
        return Vec::new();
    };
    let lines = scene.world.disk.text(conversation.transcript).unwrap();
    let text = |line: &str| {
        let (who, text) = line.split_once(": ")?;
        let (who, _) = who.split_once('@').unwrap_or((who, ""));
        matches!(who, "user" | "agent").then(|| text.to_owned())
    };
    lines.lines().filter_map(text).collect()
}
