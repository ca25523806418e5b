//! Records a session's settings and its name.

use segue_core::Result;
use segue_core::flows::rename;
use segue_core::flows::settings::NewSettings;
use segue_core::model::{EventPayload, SessionName};
use segue_core::ports::{Change, Commit};
use segue_core::rules::naming;

use super::{Actor, SessionRenamer};

impl Actor {
    /// Records settings of the session. Returns the keys that change
    /// the next launch.
    pub(super) async fn configure(&mut self, settings: NewSettings) -> Result<Vec<&'static str>> {
        let known = self.state.session.settings();
        let settings = settings.replace(known.clone());
        if known == settings {
            return Ok(Vec::new());
        }
        let changed = settings.differences(&known);
        let mut events = Vec::new();
        if !changed.is_empty() {
            let keys = changed.iter().map(|key| (*key).to_owned()).collect();
            events.push(self.state.event(&self.ports, EventPayload::SettingsChanged { keys }));
        }
        let begins_archive = settings.archive && !known.archive;
        let session = self.id();
        let changed_at = (!changed.is_empty()).then(|| self.ports.clock.now());
        let settings = Box::new(settings);
        let changes = vec![Change::Configure { session, settings, changed_at }];
        self.state.commit(&self.ports, Commit { changes, events }).await?;
        if begins_archive {
            self.archive();
        }
        if !self.state.launches.is_empty() {
            // A lost store is rebuilt from this file, so it needs the new settings.
            self.state.write_record(&self.ports)?;
        }
        Ok(changed)
    }

    /// Renames the session. Its id stays the same.
    pub(super) async fn rename(&mut self, name: SessionName, by: SessionRenamer) -> Result<()> {
        let session = &self.state.session;
        let (names, request) = match by {
            SessionRenamer::Person(request) => (naming::renamed_by_person(session, name), request),
            SessionRenamer::Up => (naming::renamed_by_up(session, name), None),
        };
        rename::record(&self.ports, &mut self.state, names, request).await?;
        self.supervisor.fleet_files.write(&self.state.session.fleet).await
    }
}
