//! Sample values for the tests of the rules.

use std::path::PathBuf;

use jiff::Timestamp;
use uuid::Uuid;

use crate::model::{Launch, LaunchId, LaunchMode, SessionId};

pub(crate) fn launch_id(number: u128) -> LaunchId {
    LaunchId::new(Uuid::from_u128(number))
}

pub(crate) fn launch(number: u32) -> Launch {
    Launch {
        id: launch_id(u128::from(number)),
        session: SessionId::new(Uuid::from_u128(1)),
        number,
        mode: LaunchMode::Fresh,
        planned: None,
        message: None,
        program: PathBuf::from("/bin/agent"),
        argv: vec!["/bin/agent".into()],
        cwd: PathBuf::from("/work"),
        vendor_version: None,
        git_commit: None,
        environment: Vec::new(),
        created_at: Timestamp::UNIX_EPOCH,
        machine: None,
        holder: None,
        agent: None,
        end: None,
    }
}
