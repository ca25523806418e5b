//! The keys of a project file as written, and their conversion into a project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use segue_core::flows::projects;
use segue_core::model::{
    AgentName, DescribedVendors, FleetName, FleetScale, Permission, PermissionEffect, Project,
    ProjectAgent, Restart, Timer, TrustClaim, VendorId, WorktreeSettings,
};
use segue_core::ports::{Checkouts, Vendor, Vendors};
use segue_core::rules::address::{self, Unclear};
use segue_core::rules::{environment, scale, secrets, words};
use segue_core::{Error, Result};
use serde::Deserialize;
use toml::Spanned;

use super::source::{ProjectSource, RESERVED_KEYS};
use super::templates;
use super::timers::WrittenTimer;
use super::variables::{PlannedWorktree, VariableValues};
use super::vendors::{self, WrittenVendor};
use super::worktrees::{self, WrittenIdentity, WrittenWorktrees};

/// The largest number of kinds. No real project file has more.
const MAX_KINDS: usize = 500;
/// The longest instructions. They are passed as one command line argument, which cannot be much
/// longer.
const MAX_INSTRUCTIONS_BYTES: usize = 100_000;
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenProject {
    #[serde(default)]
    fleet: WrittenFleet,
    #[serde(default)]
    agents: Vec<WrittenAgent>,
    #[serde(default)]
    worktrees: WrittenWorktrees,
    #[serde(default)]
    vendors: BTreeMap<String, Spanned<WrittenVendor>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFleet {
    name: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAgent {
    name: Spanned<String>,
    vendor: Spanned<String>,
    count: Option<Spanned<u32>>,
    model: Option<Spanned<String>>,
    effort: Option<Spanned<toml::Value>>,
    permission: Option<Permission>,
    instructions: Option<Spanned<PathBuf>>,
    prompt: Option<Spanned<PathBuf>>,
    worktree: Option<Spanned<String>>,
    repo: Option<Spanned<String>>,
    git: Option<Spanned<WrittenIdentity>>,
    fallback: Option<Spanned<toml::Value>>,
    restart: Option<Restart>,
    archive: Option<bool>,
    mcp: Option<Spanned<bool>>,
    env: Option<Spanned<BTreeMap<String, String>>>,
    args: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    timers: Vec<WrittenTimer>,
}

impl WrittenProject {
    /// Checks the file and converts it into a project. An error names the line.
    pub(super) fn into_project(
        self,
        folder: &Path,
        source: &ProjectSource,
        (vendors, checkouts, scaled): (&dyn Vendors, &dyn Checkouts, &FleetScale),
    ) -> Result<Project> {
        let described = vendors::convert(self.vendors, source, vendors)?;
        let fleet = match &self.fleet.name {
            Some(name) => {
                FleetName::parse(name.as_ref()).map_err(|error| source.at(name, error))?
            }
            None => FleetName::parse(&folder_name(folder))?,
        };
        if self.agents.len() > MAX_KINDS {
            let (file, count) = (source.path().display(), self.agents.len());
            return Err(Error::config(format!("`{file}` has {count} kinds of agents"))
                .hint(format!("use at most {MAX_KINDS}; `count` makes several agents of a kind")));
        }
        let mut names = Vec::new();
        for written in &self.agents {
            written.check(source, vendors, &described)?;
            written.take_names((source, scaled), &mut names)?;
        }
        let (mut agents, mut kinds) = (Vec::new(), Vec::new());
        let mut claims: Vec<TrustClaim> = described.iter().map(vendors::claim).collect();
        claims.extend(self.worktrees.claims());
        let worktrees = self.worktrees.settings(folder, source)?;
        for written in self.agents {
            claims.extend(written.claims(source, vendors)?);
            kinds.push(AgentName::parse(written.name.as_ref())?);
            let place = (&fleet, folder, (checkouts, &worktrees));
            agents.extend(written.into_agents((source, scaled), place, &names)?);
        }
        let templates = templates::read(source)?;
        claims.extend(templates::claims(&templates));
        let folder = folder.to_owned();
        let vendors = described;
        Ok(Project { folder, fleet, agents, kinds, vendors, worktrees, templates, claims })
    }
}

/// Converts a folder's name into a fleet name. Returns `project` if no valid character is left.
fn folder_name(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    let trimmed: String = plain.trim_matches(['-', '_']).chars().take(64).collect();
    if trimmed.is_empty() { "project".to_owned() } else { trimmed }
}

/// Adds the names of similar vendors to the error about an unknown vendor.
fn with_similar_vendors(
    unknown: &VendorId,
    vendors: &dyn Vendors,
    described: &DescribedVendors,
    error: Error,
) -> Error {
    let built_in = vendors.all().into_iter().map(|vendor| vendor.id());
    let known: Vec<VendorId> = built_in.chain(described.keys().cloned()).collect();
    let similar = address::nearest(unknown.as_str(), known.iter().map(VendorId::as_str));
    Unclear::Unknown { similar }.explain(unknown.as_str(), error)
}

impl WrittenAgent {
    /// Returns an error for an invalid value. The error names the line.
    fn check(
        &self,
        source: &ProjectSource,
        vendors: &dyn Vendors,
        described: &DescribedVendors,
    ) -> Result<()> {
        self.refuse_reserved(source)?;
        let vendor = VendorId::new(self.vendor.as_ref().clone());
        if !described.contains_key(&vendor) {
            let unknown = |error| {
                source.at(&self.vendor, with_similar_vendors(&vendor, vendors, described, error))
            };
            let known = vendors.get(&vendor).map_err(unknown)?;
            self.check_mcp(source, known.as_ref())?;
        } else {
            self.refuse_for_described(source, &vendor)?;
        }
        if let Some(count) = self.count.as_ref().filter(|it| !scale::is_in_range(*it.as_ref())) {
            let error = Error::config(format!(
                "`count` must be between 1 and {}, got {}",
                scale::MAX_AGENTS_OF_KIND,
                count.as_ref()
            ))
            .hint("write more kinds of agents if you need more");
            return Err(source.at(count, error));
        }
        if let Some(args) = &self.args {
            secrets::refuse_in_arguments(args.as_ref()).map_err(|error| source.at(args, error))?;
        }
        if let Some(model) = &self.model {
            words::check_model(model.as_ref()).map_err(|error| source.at(model, error))?;
        }
        if let Some(env) = &self.env {
            check_variables(env.as_ref()).map_err(|error| source.at(env, error))?;
        }
        if let Some(identity) = &self.git {
            identity.as_ref().check().map_err(|error| source.at(identity, error))?;
        }
        Ok(())
    }

    /// Refuses keys that a vendor of the project file would ignore, because `[vendors.*]` has no
    /// key for their arguments.
    fn refuse_for_described(&self, source: &ProjectSource, vendor: &VendorId) -> Result<()> {
        let refuse = |key: &str| {
            Error::config(format!("vendor `{vendor}` of this file does not support `{key}`"))
                .hint(format!("remove `{key}`, or put the program's own option into `args`"))
        };
        if let Some(model) = &self.model {
            return Err(source.at(model, refuse("model")));
        }
        if let Some(instructions) = &self.instructions {
            return Err(source.at(instructions, refuse("instructions")));
        }
        match self.mcp.as_ref().filter(|_| self.wants_mcp()) {
            Some(mcp) => Err(source.at(mcp, refuse("mcp"))),
            None => Ok(()),
        }
    }

    fn wants_mcp(&self) -> bool {
        self.mcp.as_ref().is_some_and(|it| *it.as_ref())
    }

    /// Refuses `mcp` for a vendor whose program cannot use MCP servers.
    fn check_mcp(&self, source: &ProjectSource, vendor: &dyn Vendor) -> Result<()> {
        match &self.mcp {
            Some(mcp) if *mcp.as_ref() => {
                projects::check_mcp(vendor).map_err(|error| source.at(mcp, error))
            }
            _ => Ok(()),
        }
    }

    fn refuse_reserved(&self, source: &ProjectSource) -> Result<()> {
        let reserved = [&self.effort, &self.fallback];
        for (key, value) in RESERVED_KEYS.into_iter().zip(reserved) {
            if let Some(value) = value {
                return Err(source.not_built(value, key));
            }
        }
        Ok(())
    }

    /// Adds the names of these agents to `taken`. Fails if one of the names is in it already.
    fn take_names(
        &self,
        (source, scaled): (&ProjectSource, &FleetScale),
        taken: &mut Vec<AgentName>,
    ) -> Result<()> {
        for name in self.names(source, scaled)? {
            if taken.contains(&name) {
                let error = Error::config(format!("a second agent is called `{name}`"));
                let error = error.hint("give each agent a name of its own");
                return Err(source.at(&self.name, error));
            }
            taken.push(name);
        }
        Ok(())
    }

    fn names(&self, source: &ProjectSource, scaled: &FleetScale) -> Result<Vec<AgentName>> {
        let parse =
            |name: &str| AgentName::parse(name).map_err(|error| source.at(&self.name, error));
        let kind = parse(self.name.as_ref())?;
        let written = self.count.as_ref().map_or(1, |count| *count.as_ref());
        let counts = (written, scaled.counts.get(&kind).copied());
        let exists = |name: &str| scaled.sessions.contains(name);
        scale::names(kind.as_str(), counts, exists).iter().map(|name| parse(name)).collect()
    }

    /// Returns a text that describes for the user which program the agent runs, what it may do, and
    /// with which arguments.
    fn explanation(&self, vendors: &dyn Vendors) -> String {
        let vendor = self.vendor.as_ref();
        let known = vendors.get(&VendorId::new(vendor.clone())).ok();
        let effect = known.map_or(PermissionEffect::Nothing, |it| it.capabilities().permission);
        let may = match (effect, self.permission.unwrap_or(Permission::Ask)) {
            (PermissionEffect::Nothing, _) => "Segue cannot limit what it does",
            (PermissionEffect::Limits, Permission::Ask) => "asks before acting",
            (PermissionEffect::Limits, Permission::AcceptEdits) => "may edit files without asking",
            (PermissionEffect::Limits, Permission::Auto) => "may act without asking",
        };
        let model = self.model.as_ref().map(|it| format!(", model {:?}", it.as_ref()));
        let mcp = if self.wants_mcp() { ", may start other agents" } else { "" };
        let args: &[String] = self.args.as_ref().map_or(&[], |it| it.as_ref());
        let args: Vec<String> = args.iter().map(|it| format!("{it:?}")).collect();
        let args = (!args.is_empty()).then(|| format!(", with arguments {}", args.join(" ")));
        let (model, args) = (model.unwrap_or_default(), args.unwrap_or_default());
        format!("runs {vendor}, {may}{mcp}{model}{args}")
    }

    /// Returns the claims that the user has to trust. A claim has the text of a file before its
    /// variables are replaced. The values of the variables are only the names of the fleet, its
    /// agents, its folder and its branch.
    fn claims(&self, source: &ProjectSource, vendors: &dyn Vendors) -> Result<Vec<TrustClaim>> {
        let name = self.name.as_ref();
        let agent = format!("agent {name}");
        let permission = self.permission.unwrap_or(Permission::Ask).word();
        let args = self.args.as_ref().map(|it| it.as_ref().clone()).unwrap_or_default();
        let vendor = self.vendor.as_ref();
        let mut value = format!("{vendor} with permission {permission}, arguments {args:?}");
        if let Some(model) = &self.model {
            value = format!("{value}, model {:?}", model.as_ref());
        }
        if self.wants_mcp() {
            value.push_str(", with the tools of Segue");
        }
        let claim = TrustClaim::setting(&agent, value).in_words(self.explanation(vendors));
        let mut claims = vec![claim];
        claims.extend(self.variables().iter().map(|(name, value)| {
            TrustClaim::setting(format!("{agent}: environment {name}"), format!("{value:?}"))
        }));
        claims.extend(worktrees::claims(&agent, self.worktree.as_ref(), self.repo.as_ref()));
        for (key, file) in [("instructions", &self.instructions), ("prompt", &self.prompt)] {
            if let Some(file) = file {
                let (_, text) = source.text_file(key, file)?;
                let what = format!("{agent}: {key} of `{}`", file.as_ref().display());
                claims.push(TrustClaim::text(what, text));
            }
        }
        for (number, timer) in (1..).zip(&self.timers) {
            let (_, text) = timer.message(source)?;
            let how = if timer.interrupt { ", interrupting it" } else { "" };
            let every = timer.every(source)?;
            let timer = format!("{agent}: timer {number}");
            claims.push(TrustClaim::setting(&timer, format!("every {every:?}{how}")));
            claims.push(TrustClaim::text(format!("{timer} says"), text));
        }
        Ok(claims)
    }

    /// Returns the variables of `env` and of `git`. A variable of `env` has precedence.
    fn variables(&self) -> BTreeMap<String, String> {
        let identity = self.git.as_ref().map(|it| it.as_ref().variables());
        let own = self.env.as_ref().map(|it| it.as_ref().clone());
        let mut variables = identity.unwrap_or_default();
        variables.extend(own.unwrap_or_default());
        variables
    }

    /// Converts the table into its agents. `agents` are the names of all agents of the fleet.
    fn into_agents(
        self,
        (source, scaled): (&ProjectSource, &FleetScale),
        (fleet, folder, (checkouts, worktrees)): AgentFolders<'_>,
        agents: &[AgentName],
    ) -> Result<Vec<ProjectAgent>> {
        let names = self.names(source, scaled)?;
        let agent = |name: AgentName| {
            let variables = VariableValues { agent: &name, fleet, agents, folder, worktree: None };
            let (worktree, repo) = (self.worktree.as_ref(), self.repo.as_ref());
            let order = worktrees::order(worktree, repo, (source, &variables))?;
            let root = worktrees.root.as_deref();
            let branches = &scaled.branches;
            let planned = |order| PlannedWorktree { order, root, checkouts, branches };
            let worktree = order.as_ref().map(planned);
            let texts = Texts { variables: VariableValues { worktree, ..variables }, source };
            Ok(ProjectAgent {
                vendor: VendorId::new(self.vendor.as_ref().clone()),
                model: self.model.as_ref().map(|it| it.as_ref().clone()),
                permission: self.permission.unwrap_or(Permission::Ask),
                instructions: texts.read("instructions", self.instructions.as_ref())?,
                prompt: texts.read("prompt", self.prompt.as_ref())?,
                restart: self.restart.unwrap_or(Restart::OnCrash),
                archive: self.archive.unwrap_or(true),
                mcp: self.wants_mcp(),
                env: self.variables(),
                args: self.args.as_ref().map(|it| it.as_ref().clone()).unwrap_or_default(),
                timers: texts.timers(&self.timers)?,
                worktree: order.clone(),
                name,
            })
        };
        names.into_iter().map(agent).collect()
    }
}

/// The fleet, the folder of the project, and where and how worktrees are made.
type AgentFolders<'a> = (&'a FleetName, &'a Path, (&'a dyn Checkouts, &'a WorktreeSettings));

fn check_variables(variables: &BTreeMap<String, String>) -> Result<()> {
    variables.iter().try_for_each(|(name, value)| {
        environment::check_variable(name, value)?;
        secrets::refuse_in_variable(name, value)
    })
}

/// Reads the texts of one agent.
struct Texts<'a> {
    variables: VariableValues<'a>,
    source: &'a ProjectSource,
}

impl Texts<'_> {
    /// Reads a text file and replaces its variables. `None` if the file is not set.
    fn read(&self, key: &str, file: Option<&Spanned<PathBuf>>) -> Result<Option<String>> {
        let Some(file) = file else { return Ok(None) };
        let (path, text) = self.source.text_file(key, file)?;
        if key == "instructions" && text.len() > MAX_INSTRUCTIONS_BYTES {
            let error = Error::config(format!("the instructions have {} bytes", text.len()));
            let error = error.hint(format!("shorten them to {MAX_INSTRUCTIONS_BYTES} bytes"));
            return Err(self.source.at(file, error));
        }
        self.variables.fill(&path, &text).map(Some)
    }

    /// Reads the messages of the timers.
    fn timers(&self, written: &[WrittenTimer]) -> Result<Vec<Timer>> {
        let timer = |written: &WrittenTimer| {
            let every = written.every(self.source)?;
            let (path, text) = written.message(self.source)?;
            let prompt = self.variables.fill(&path, &text)?;
            Ok(Timer { every, prompt, interrupt: written.interrupt })
        };
        written.iter().map(timer).collect()
    }
}
