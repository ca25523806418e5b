//! Finds holders that do not answer and agents that were stopped by a signal.

use super::{Mode, curable};
use crate::api::Finding;
use crate::error::{Kind, Result};
use crate::flows::machines;
use crate::ports::{Fault, OpenLaunch, Ports, SessionActivity, SessionQuery};

/// Checks the processes of every open launch of this machine.
pub(super) async fn examine(ports: &Ports, mode: Mode) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let query = SessionQuery::activity(SessionActivity::Open);
    for summary in ports.store.sessions(&query).await? {
        let Some(open) = summary.open else { continue };
        if machines::other_machine(ports, Some(&open)).is_some() {
            continue;
        }
        let Some(fault) = fault(ports, &open).await else { continue };
        let name = summary.session.address();
        let what = format!("`{name}` does not work: {fault}");
        let mut finding = curable(what, &cure(&name, fault));
        if mode == Mode::Fix {
            match ports.holders.cure(open.id, fault).await {
                Ok(()) => finding.fixed = true,
                // If one launch cannot be fixed, the others still are.
                Err(error) => finding.what = format!("{}: {error}", finding.what),
            }
        }
        findings.push(finding);
    }
    Ok(findings)
}

async fn fault(ports: &Ports, open: &OpenLaunch) -> Option<Fault> {
    if let Some(fault) = ports.holders.fault(open) {
        return Some(fault);
    }
    let pid = open.holder.as_ref()?.pid;
    match ports.holders.find(open.id).await {
        Err(error) if error.kind == Kind::Unavailable => Some(Fault::HolderSilent { pid }),
        // A missing holder is no finding: it means that the launch has ended, and the session's
        // status shows that.
        _ => None,
    }
}

fn cure(name: &str, fault: Fault) -> String {
    match fault {
        Fault::HolderStopped { pid } | Fault::AgentStopped { pid } => {
            format!("continue it: `kill -CONT {pid}`")
        }
        Fault::SocketMissing { .. } => "create the socket again: `segue doctor --fix`".to_owned(),
        Fault::HolderSilent { .. } => {
            format!("end it with `segue stop {name}`; the conversation is kept")
        }
    }
}
