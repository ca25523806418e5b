//! The words of the product as types; one file per word.

mod binding;
mod event;
mod fleet;
mod ids;
mod launch;
mod process;
mod record;
mod session;
mod status;

pub use binding::{Binding, Evidence};
pub use event::{Event, EventKind, NewEvent};
pub use fleet::{Fleet, FleetMember, FleetRecord, Trust};
pub use ids::{AgentName, FleetName, LaunchId, SessionId, SessionName, VendorId, VendorSessionId};
pub use launch::{Exit, Launch, LaunchEnd, LaunchMode};
pub use process::{Environment, ProcessRef};
pub use record::LaunchRecord;
pub use session::{Permission, Restart, Session};
pub use status::{How, Status, WaitingFor};
