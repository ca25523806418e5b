//! A world whose agents get their work from a forge on loopback.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use segue_core::model::{ForgeSubject, RepositoryPermission};
use serde_json::{Value, json};

use crate::forge_server::{
    DeliveredDetail, ForgeDialect, ForgeServer, ServedDelivery, ServedEvent,
};
use crate::network_client::{HttpAnswer, NetworkClient};
use crate::repositories::make_origin;
use crate::{GitServer, World};

/// The secret of the webhook.
pub const SECRET: &str = "hook-secret-of-the-forge";
/// The token for the API and for git.
pub const TOKEN: &str = "t0ken-of-the-forge-account";
/// The repository on the forge.
pub const REPOSITORY: &str = "team/app";
/// The user name with which git uses the token.
const USERNAME: &str = "x-access-token";

/// A forge with one repository, a git server with the same repository, and a daemon that listens.
#[derive(Debug)]
pub struct DispatchScene {
    pub world: World,
    pub forge: ForgeServer,
    pub git: GitServer,
    pub client: NetworkClient,
    dialect: ForgeDialect,
}

impl DispatchScene {
    /// Makes a world with these dispatch rules, and a forge that speaks like GitHub. The world must
    /// have a trusted project with the agents of the rules. `ada` may write to the repository, `eve`
    /// may not.
    pub fn new(world: World, rules: &[&str]) -> Self {
        Self::of(ForgeDialect::Github, world, rules)
    }

    /// Like `new`, with a forge that speaks this dialect.
    pub fn of(dialect: ForgeDialect, world: World, rules: &[&str]) -> Self {
        let origins = world.root().join("origins");
        make_origin(&origins);
        let git = GitServer::start(&origins, USERNAME, TOKEN);
        let forge = ForgeServer::start(TOKEN);
        forge.change(|state| {
            state.add_user("ada");
            state.add_user("eve");
            state.add_repository(REPOSITORY, &git.url("app.git"));
            let permissions = &mut state.repository(REPOSITORY).permissions;
            permissions.insert("ada".to_owned(), RepositoryPermission::Write);
            permissions.insert("eve".to_owned(), RepositoryPermission::Read);
        });
        write_settings(&world, dialect, (&forge, &git), rules);
        let client = NetworkClient::listen(&world);
        Self { world, forge, git, client, dialect }
    }

    /// Sends the delivery of an event that the actor caused, in the dialect of the forge.
    pub fn report(&self, subject: ForgeSubject, event: ServedEvent<'_>, actor: &str) {
        let at = (REPOSITORY, subject);
        let delivery =
            self.forge.change(|state| state.event_delivery(self.dialect, at, (event, actor)));
        let answer = self.send(&delivery);
        assert_eq!(answer.status, 202, "{event:?}: {}", answer.text);
    }

    /// Sends a delivery of an event to the daemon.
    pub fn deliver(
        &self,
        subject: ForgeSubject,
        event: (&str, &str, &str),
        detail: DeliveredDetail<'_>,
    ) -> HttpAnswer {
        self.send(&self.delivery(subject, event, detail))
    }

    /// Returns the delivery of an event: its name, its action and its actor.
    pub fn delivery(
        &self,
        subject: ForgeSubject,
        event: (&str, &str, &str),
        detail: DeliveredDetail<'_>,
    ) -> ServedDelivery {
        self.forge.change(|state| state.delivery((REPOSITORY, subject), event, detail, SECRET))
    }

    /// Sends a delivery to the daemon.
    pub fn send(&self, ServedDelivery { headers, body }: &ServedDelivery) -> HttpAnswer {
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.client.deliver("hub", &headers, body)
    }

    /// Adds an issue and assigns it to the account of Segue. Returns its number.
    pub fn assign(&self, title: &str) -> u64 {
        let number = self.forge.change(|state| {
            let account = state.account.login.clone();
            state.add_issue(REPOSITORY, title, &[&account])
        });
        let answer = self.deliver(
            ForgeSubject::Issue(number),
            ("issues", "assigned", "ada"),
            DeliveredDetail::Assignee("segue-bot"),
        );
        assert_eq!(answer.status, 202, "{}", answer.text);
        number
    }

    /// Waits until every stored delivery is processed, and returns all of them, oldest first.
    pub fn processed(&self) -> Vec<Value> {
        let mut events = crate::events::Events::of(&self.world);
        loop {
            let list = self.world.json(["deliveries", "ls", "--json", "--limit", "10000"]);
            let all = list["deliveries"].as_array().expect("a list").clone();
            if all.iter().all(|it| it["state"] != "received") {
                return all;
            }
            events.wait_for(|event| event["kind"] == "delivery_processed").expect("an event");
        }
    }

    /// Returns the tasks, oldest first.
    pub fn tasks(&self) -> Vec<Value> {
        let list = self.world.json(["task", "ls", "--all", "--json"]);
        list["tasks"].as_array().expect("a list").clone()
    }

    /// Waits until all tasks have ended, and returns them.
    pub fn ended_tasks(&self) -> Vec<Value> {
        self.processed();
        for task in self.tasks() {
            let id = task["id"].as_str().expect("an id").to_owned();
            self.world.segue(["task", "wait", &id]);
        }
        self.tasks()
    }
}

/// Writes the settings: the source `hub`, credentials for git, and the rules, which get `source` and
/// `folder`.
fn write_settings(
    world: &World,
    dialect: ForgeDialect,
    (forge, git): (&ForgeServer, &GitServer),
    rules: &[&str],
) {
    let secret = |name: &str, text: &str| {
        let file = world.root().join(name);
        fs::write(&file, format!("{text}\n")).expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("a closed file");
        file.display().to_string()
    };
    let (hook, token) = (secret("hook-secret", &dialect.secret()), secret("forge-token", TOKEN));
    let path = world.segue_home().join("config.toml");
    let known = fs::read_to_string(&path).unwrap_or_default();
    let name = dialect.forge();
    let (git, api) = (git.host(), forge.api_url(name));
    let source = format!(
        "[credentials.\"{git}\"]\nfile = \"{token}\"\n[[sources]]\nname = \"hub\"\n\
         forge = \"{name}\"\nsecret = {{ file = \"{hook}\" }}\n\
         token = {{ file = \"{token}\" }}\napi = \"{api}\"\n"
    );
    let folder = json!(world.project().display().to_string());
    let rule = |rule: &&str| format!("[[dispatch]]\nsource = \"hub\"\nfolder = {folder}\n{rule}\n");
    let rules: String = rules.iter().map(rule).collect();
    let text = format!("{known}{source}{rules}");
    fs::write(path, text).expect("settings");
}
