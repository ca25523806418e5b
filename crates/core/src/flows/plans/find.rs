//! Finds a plan by its name or its id.

use crate::api::PlanSelector;
use crate::error::{Error, Result};
use crate::model::{FleetName, Plan, PlanName};
use crate::ports::{PlanQuery, Ports};

/// At least this many characters of an id are needed.
const SHORTEST_PREFIX: usize = 4;

/// Finds a plan. A name means the plan of the project around the folder of the request, if that
/// project has one with this name.
pub async fn find(ports: &Ports, selector: &PlanSelector) -> Result<Plan> {
    let text = selector.plan.as_str();
    if let Some((fleet, name)) = text.split_once('/')
        && let (Ok(fleet), Ok(name)) = (FleetName::parse(fleet), PlanName::parse(name))
    {
        let query = PlanQuery { name: Some(name), ..PlanQuery::default() };
        let found = ports.store.plans(&query).await?;
        return found.into_iter().find(|it| it.fleet == fleet).ok_or_else(|| unknown(text));
    }
    if let Ok(name) = PlanName::parse(text) {
        let query = PlanQuery { name: Some(name), ..PlanQuery::default() };
        let mut found = ports.store.plans(&query).await?;
        let root = selector.folder.as_deref().and_then(|folder| ports.projects.root(folder));
        if let Some(here) = found.iter().find(|it| Some(&it.folder) == root.as_ref()) {
            return Ok(here.clone());
        }
        match (found.pop(), found.pop()) {
            (Some(only), None) => return Ok(only),
            (Some(one), Some(other)) => return Err(ambiguous(text, &one, &other)),
            _ => {}
        }
    }
    by_prefix(ports, text).await
}

async fn by_prefix(ports: &Ports, text: &str) -> Result<Plan> {
    let is_prefix =
        text.len() >= SHORTEST_PREFIX && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    if !is_prefix {
        return Err(unknown(text));
    }
    let id_prefix = Some(text.to_ascii_lowercase());
    let query = PlanQuery { id_prefix, ..PlanQuery::default() };
    let mut found = ports.store.plans(&query).await?;
    match (found.pop(), found.pop()) {
        (Some(only), None) => Ok(only),
        (Some(one), Some(other)) => Err(ambiguous(text, &one, &other)),
        _ => Err(unknown(text)),
    }
}

fn ambiguous(text: &str, one: &Plan, other: &Plan) -> Error {
    Error::usage(format!("`{text}` can mean several plans"))
        .hint(format!("write `{}/{}` or `{}/{}`", one.fleet, one.name, other.fleet, other.name))
}

fn unknown(text: &str) -> Error {
    let shown: String = text.chars().take(60).collect();
    Error::not_found(format!("there is no plan `{}`", shown.escape_debug()))
        .hint("run `segue plan ls --all` to see all plans")
}
