//! Sample values for tests.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use uuid::Uuid;

use crate::model::{
    FleetName, Permission, Restart, Session, SessionId, SessionName, Status, VendorId,
};

pub(crate) fn session(number: u128, name: &str) -> Session {
    Session {
        id: SessionId::new(Uuid::from_u128(number)),
        name: SessionName::parse(name).unwrap(),
        fleet: FleetName::parse("default").unwrap(),
        agent: None,
        vendor: VendorId::new("tool"),
        description: None,
        cwd: PathBuf::from("/work"),
        config_dir: PathBuf::from("/home/tool"),
        model: None,
        permission: Permission::Ask,
        instructions: None,
        headless: false,
        restart: Restart::OnCrash,
        archive: true,
        args: Vec::new(),
        env: BTreeMap::new(),
        parent: None,
        status: Status::Starting,
        spoke: false,
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
    }
}
