//! Writes handoffs directly into a world's store.

use segue_core::model::Handoff;
use segue_core::ports::{Change, Commit};

use crate::World;
use crate::runtime::block_on;

/// Stores a handoff that never took place. Stops the world's daemon first.
pub fn insert(world: &World, handoff: &Handoff) {
    world.ok(["daemon", "stop"]);
    block_on(async {
        let store = segue_store::open(&world.database()).await.expect("a store");
        let changes = vec![Change::AddHandoff(Box::new(handoff.clone()))];
        store.commit(Commit { changes, events: Vec::new() }).await.expect("a commit");
    });
}
