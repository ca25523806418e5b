//! Sample values for tests.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use uuid::Uuid;

use crate::model::{
    AccountKey, AgentName, AgentWorktree, BranchName, BranchStart, FleetName, Handoff, HandoffForm,
    Permission, Project, ProjectAgent, RepositorySource, Restart, Session, SessionId, SessionName,
    Status, Task, TaskId, TaskMode, TaskOrder, TaskPriority, TaskProgress, TaskState,
    TaskTemplates, VendorId, WorktreeCommands, WorktreeId, WorktreeSettings,
};

pub(crate) fn session(number: u128, name: &str) -> Session {
    Session {
        id: SessionId::new(Uuid::from_u128(number)),
        name: SessionName::parse(name).unwrap(),
        up_name: None,
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
        mcp: false,
        args: Vec::new(),
        env: BTreeMap::new(),
        parent: None,
        status: Status::Starting,
        has_content: false,
        repetition: None,
        settings_changed_at: None,
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
    }
}

/// Returns a project with these agents: a name and a vendor each.
pub(crate) fn project(kinds: &[&str], agents: &[(&str, &str)]) -> Project {
    let agent = |(name, vendor): &(&str, &str)| ProjectAgent {
        name: AgentName::parse(name).unwrap(),
        vendor: VendorId::new(*vendor),
        model: None,
        permission: Permission::Ask,
        instructions: None,
        prompt: None,
        restart: Restart::OnCrash,
        archive: true,
        mcp: false,
        env: BTreeMap::new(),
        args: Vec::new(),
        timers: Vec::new(),
        worktree: None,
    };
    Project {
        folder: PathBuf::from("/src/shop"),
        fleet: FleetName::parse("shop").unwrap(),
        agents: agents.iter().map(agent).collect(),
        kinds: kinds.iter().map(|name| AgentName::parse(name).unwrap()).collect(),
        vendors: BTreeMap::new(),
        worktrees: WorktreeSettings::default(),
        templates: TaskTemplates::default(),
        claims: Vec::new(),
    }
}

/// Returns a queued task of an agent.
pub(crate) fn task(number: u128, agent: &str) -> Task {
    let account = AccountKey { vendor: VendorId::new("tool"), config_dir: "/home/tool".into() };
    Task {
        id: TaskId::new(Uuid::from_u128(number)),
        key: None,
        order: TaskOrder {
            fleet: FleetName::parse("shop").unwrap(),
            agent: AgentName::parse(agent).unwrap(),
            account,
            folder: "/src/shop".into(),
            repository: None,
            issue: None,
            branch: None,
            worktree: None,
            prompt: "fix it".to_owned(),
            parent: None,
            priority: TaskPriority::default(),
            verify: None,
            mode: TaskMode::Headless,
            continues: None,
            reply: None,
            vendor: None,
            spawner: None,
            plan: None,
        },
        state: TaskState::Queued,
        attempts: 0,
        progress: TaskProgress::default(),
        session: None,
        result: None,
        created_at: Timestamp::UNIX_EPOCH,
        started_at: None,
        ended_at: None,
    }
}

/// Returns a worktree of the agent `coder`.
pub(crate) fn worktree(branch: &str, port: u16) -> AgentWorktree {
    AgentWorktree {
        id: WorktreeId::new(Uuid::from_u128(port.into())),
        source: RepositorySource::Folder("/src/shop".into()),
        remote_host: None,
        agent: AgentName::parse("coder").unwrap(),
        branch: BranchName::parse(branch).unwrap(),
        start: BranchStart::DefaultBranch,
        path: PathBuf::from("/worktrees").join(branch),
        port,
        session: None,
        removal: None,
        commands: WorktreeCommands::default(),
        is_set_up: false,
        created_at: Timestamp::UNIX_EPOCH,
    }
}

/// Returns a handoff between the sessions with these numbers, at this second.
pub(crate) fn handoff(from: u128, to: u128, second: i64) -> Handoff {
    Handoff {
        from: SessionId::new(Uuid::from_u128(from)),
        to: SessionId::new(Uuid::from_u128(to)),
        from_conversation: None,
        to_conversation: None,
        form: HandoffForm::Native,
        turns_carried: 1,
        turns_left_out: None,
        at: Timestamp::from_second(second).unwrap(),
    }
}
