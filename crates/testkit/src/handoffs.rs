//! Writes handoffs directly into a world's store.

use segue_core::model::Handoff;
use segue_core::ports::{Change, Commit};

use crate::World;
use crate::world_store::with_store;

/// Stores a handoff that never took place. Stops the world's daemon first.
pub fn insert(world: &World, handoff: &Handoff) {
    world.ok(["daemon", "stop"]);
    with_store(world, async |store| {
        let changes = vec![Change::AddHandoff(Box::new(handoff.clone()))];
        store.commit(Commit { changes, events: Vec::new() }).await.expect("a commit");
    });
}
