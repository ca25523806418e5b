//! Settings that a person changes while a session exists.

use crate::api::SettingsRequest;
use crate::error::{Error, Result};
use crate::flows::select;
use crate::model::{Permission, PermissionEffect, Principal, SessionId, SessionSettings};
use crate::ports::Ports;
use crate::rules::scope::RestrictedAction;
use crate::rules::words;

/// The settings that change. A setting that is `None` stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsChange {
    /// `Some(None)` is the vendor's default.
    pub model: Option<Option<String>>,
    pub permission: Option<Permission>,
}

/// Settings that a session gets.
#[derive(Clone, Debug)]
pub enum NewSettings {
    /// All settings, as the project file has them.
    OfProject(Box<SessionSettings>),
    OfPerson(SettingsChange),
}

impl NewSettings {
    /// Returns the settings of a session that has had `settings` until now.
    pub fn replace(self, settings: SessionSettings) -> SessionSettings {
        match self {
            Self::OfProject(all) => *all,
            Self::OfPerson(SettingsChange { model, permission }) => SessionSettings {
                model: model.unwrap_or_else(|| settings.model.clone()),
                permission: permission.unwrap_or(settings.permission),
                ..settings
            },
        }
    }
}

/// Finds the session whose settings a request changes, and checks the values.
pub async fn plan(
    ports: &Ports,
    principal: &Principal,
    request: &SettingsRequest,
) -> Result<(SessionId, SettingsChange)> {
    principal.allow(RestrictedAction::Configure)?;
    let SettingsRequest { cwd, session, model, permission } = request;
    if model.is_none() && permission.is_none() {
        return Err(Error::usage("no setting is given").hint("give a model or a permission"));
    }
    let model = model.as_deref().map(str::trim);
    model.filter(|model| !model.is_empty()).map_or(Ok(()), words::check_model)?;
    let found = select::find(ports, principal, session, cwd).await?.session;
    let vendor = ports.vendors.of(&found)?;
    if permission.is_some() && vendor.capabilities().permission == PermissionEffect::Nothing {
        let error = Error::usage(format!("agents of `{}` have no permissions", found.vendor));
        return Err(error.caused_by("its program does everything without asking"));
    }
    if permission.is_some() {
        // As for a new session: a token may need a further right for a loose permission.
        principal.permission(*permission)?;
    }
    let is_stricter = permission.is_some_and(|it| it < found.permission);
    let keeps_auto = found.permission == Permission::Auto && found.has_content;
    if is_stricter && keeps_auto && vendor.launching().keeps_auto_permission() {
        let what =
            format!("the program of `{}` keeps `auto` in this conversation", found.address());
        return Err(Error::conflict(what)
            .caused_by("a conversation that is resumed has the permission that it had before")
            .hint("change it in the terminal (`segue attach`), or start another session"));
    }
    if permission.is_some() && vendor.launching().has_own_permission(&found) {
        let error =
            Error::usage(format!("the arguments of `{}` set its permission", found.address()));
        return Err(error.hint("change `args` in segue.toml, or start another session"));
    }
    let model = model.map(|model| (!model.is_empty()).then(|| model.to_owned()));
    Ok((found.id, SettingsChange { model, permission: *permission }))
}
