//! The only writer of `fleets/<name>.json`. A request is answered after a write that began after
//! the request. Requests that wait at the same time share one write.

use std::collections::BTreeMap;

use segue_core::Result;
use segue_core::flows::view;
use segue_core::model::FleetName;
use segue_core::ports::Ports;
use tokio::sync::{mpsc, oneshot};

type WriteRequest = (FleetName, oneshot::Sender<Result<()>>);

/// Sends requests to the writer.
#[derive(Clone, Debug)]
pub(crate) struct FleetFiles(mpsc::UnboundedSender<WriteRequest>);

impl FleetFiles {
    pub(crate) fn start(ports: Ports) -> Self {
        let (sender, requests) = mpsc::unbounded_channel();
        tokio::spawn(write_all(ports, requests));
        Self(sender)
    }

    /// Returns after the fleet's file has been written with the state of the store at this call, or
    /// a later state.
    pub(crate) async fn write(&self, fleet: &FleetName) -> Result<()> {
        let (reply, answer) = oneshot::channel();
        if self.0.send((fleet.clone(), reply)).is_err() {
            return Ok(());
        }
        answer.await.unwrap_or(Ok(()))
    }
}

async fn write_all(ports: Ports, mut requests: mpsc::UnboundedReceiver<WriteRequest>) {
    while let Some((fleet, reply)) = requests.recv().await {
        let mut waiting = BTreeMap::from([(fleet, vec![reply])]);
        while let Ok((fleet, reply)) = requests.try_recv() {
            waiting.entry(fleet).or_default().push(reply);
        }
        for (fleet, replies) in waiting {
            let result = view::write_fleet(&ports, &fleet).await;
            for reply in replies {
                // The caller may be gone; the file is written anyway.
                let _gone = reply.send(result.clone());
            }
        }
    }
}
