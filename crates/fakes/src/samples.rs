//! Sample values.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::model::{
    AgentName, Environment, FleetName, Launch, LaunchId, LaunchMode, MachineId, Permission,
    ProcessRef, Project, ProjectAgent, Restart, Session, SessionId, SessionName, Status,
    TaskTemplates, TrustClaim, VendorId, VendorSessionId, WorktreeSettings,
};
use uuid::Uuid;

/// The folder in which sample sessions work.
pub const CWD: &str = "/work";
/// The config dir of the sample vendor.
pub const CONFIG_DIR: &str = "/home/tool";

/// Returns the time at which a world begins.
pub fn start() -> Timestamp {
    "2030-01-02T03:04:05Z".parse().unwrap()
}

/// Returns the id of the machine.
pub fn machine() -> MachineId {
    MachineId::new(Uuid::from_u128(0xbeef))
}

/// Returns a process of this boot.
pub fn process(pid: u32) -> ProcessRef {
    ProcessRef { pid, started: u64::from(pid) * 10, boot: "boot".to_owned() }
}

/// Returns an environment like that of a user's shell.
pub fn environment() -> Environment {
    Environment::new([("PATH".to_owned(), "/usr/bin".to_owned())])
}

/// Returns the path of a conversation's transcript.
pub fn transcript(id: &VendorSessionId) -> PathBuf {
    Path::new(CONFIG_DIR).join(format!("{id}.txt"))
}

/// Returns a session of the fleet `default` that is not stored yet.
pub fn session(number: u128, name: &str) -> Session {
    Session {
        id: SessionId::new(Uuid::from_u128(number)),
        name: SessionName::parse(name).unwrap(),
        up_name: None,
        fleet: FleetName::parse("default").unwrap(),
        agent: None,
        vendor: VendorId::new("tool"),
        description: None,
        cwd: CWD.into(),
        config_dir: CONFIG_DIR.into(),
        model: None,
        permission: Permission::Ask,
        instructions: None,
        headless: false,
        restart: Restart::OnCrash,
        archive: true,
        mcp: false,
        args: Vec::new(),
        env: BTreeMap::new(),
        parent: None,
        status: Status::Starting,
        has_content: false,
        repetition: None,
        settings_changed_at: None,
        created_at: start(),
        updated_at: start(),
    }
}

/// Returns the first launch of a session, before its processes are started.
pub fn launch(session: &Session) -> Launch {
    Launch {
        id: LaunchId::new(Uuid::from_u128(1)),
        session: session.id,
        number: 1,
        mode: LaunchMode::Fresh,
        planned: None,
        message: None,
        program: PathBuf::from("/bin/tool"),
        argv: vec!["tool".to_owned()],
        cwd: session.cwd.clone(),
        vendor_version: None,
        git_commit: None,
        environment: Vec::new(),
        created_at: start(),
        machine: None,
        holder: None,
        agent: None,
        end: None,
    }
}

/// Returns a project in [`CWD`] with these agents of the sample vendor.
pub fn project(agents: &[&str]) -> Project {
    Project {
        folder: CWD.into(),
        fleet: FleetName::parse("shop").unwrap(),
        agents: agents.iter().map(|name| agent(name)).collect(),
        kinds: agents.iter().map(|name| AgentName::parse(name).unwrap()).collect(),
        vendors: BTreeMap::new(),
        worktrees: WorktreeSettings::default(),
        templates: TaskTemplates::default(),
        claims: agents.iter().map(|name| TrustClaim::setting(*name, "runs tool")).collect(),
    }
}

fn agent(name: &str) -> ProjectAgent {
    ProjectAgent {
        name: AgentName::parse(name).unwrap(),
        vendor: VendorId::new("tool"),
        model: None,
        permission: Permission::Ask,
        instructions: None,
        prompt: Some("begin".to_owned()),
        restart: Restart::OnCrash,
        archive: true,
        mcp: false,
        env: BTreeMap::new(),
        args: Vec::new(),
        timers: Vec::new(),
        worktree: None,
    }
}
