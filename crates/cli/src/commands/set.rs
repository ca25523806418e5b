//! `segue set`: changes the settings of a session.

use clap::Args;
use segue_core::Result;
use segue_core::api::{SettingsReport, SettingsRequest};
use segue_core::model::Permission;

use super::run::PermissionArgument;
use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress;
use crate::render::sessions::address;

/// Change the model or the permission of a session
#[derive(Debug, Args)]
#[command(
    after_help = "An agent that runs gets the settings with its next message: it is started again in \
    its conversation before the message is typed. For the agent of a segue.toml, `segue up` sets \
    them as the file has them.\n\n\
    Examples:\n  segue set fox --permission auto\n  segue set fox --model large\n  \
    segue set fox --model \"\""
)]
pub(crate) struct SetArguments {
    /// The session
    #[arg(value_name = "SESSION", add = complete::sessions())]
    pub(crate) session: String,

    /// The model, as the vendor names it; an empty name is the vendor's default
    #[arg(long, value_name = "MODEL", required_unless_present = "permission")]
    pub(crate) model: Option<String>,

    /// What the agent may do without asking
    #[arg(long, value_name = "PERMISSION")]
    pub(crate) permission: Option<PermissionArgument>,
}

pub(crate) async fn run(arguments: SetArguments, context: &mut Context) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    let SetArguments { session, model, permission } = arguments;
    let permission = permission.map(Permission::from);
    let request = SettingsRequest { cwd: context.cwd().to_owned(), session, model, permission };
    let report = client.change_settings(&request).await?;
    if context.wants_json() {
        context.output.json(&report)?;
    } else {
        context.output.text(&summary(&report))?;
        if report.session.settings_outdated {
            context.output.note("the agent gets them with its next message");
        }
    }
    Ok(CommandEnding::Done)
}

fn summary(report: &SettingsReport) -> String {
    let SettingsReport { session, changed } = report;
    let model = session.model.as_deref().unwrap_or("the vendor's default");
    let permission =
        session.permission.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    let change = if changed.is_empty() { "unchanged" } else { "changed" };
    format!("{}: model {model}, permission {permission} ({change})\n", address(session))
}
