//! Gives tests and benchmarks the store of a world.

use segue_core::ports::Store;

use crate::World;
use crate::launches::paths;
use crate::runtime::block_on;

/// Opens the store of a world whose daemon does not run.
pub fn with_store(world: &World, work: impl AsyncFnOnce(&dyn Store)) {
    let paths = paths(world);
    paths.ensure().expect("folders");
    block_on(async {
        let store = segue_store::open(&paths.database()).await.expect("a store");
        work(store.as_ref()).await;
    });
}
