//! Records a session's settings and its name.

use segue_core::flows::rename;
use segue_core::flows::settings::NewSettings;
use segue_core::model::{EventPayload, SessionName};
use segue_core::ports::{Change, Commit};
use segue_core::rules::naming;
use segue_core::{Result, failpoint};

use super::{Actor, SessionRenamer};

impl Actor {
    /// Records settings of the session. Returns the keys that change the next launch.
    pub(super) async fn configure(&mut self, settings: NewSettings) -> Result<Vec<&'static str>> {
        let known = self.state.session.settings();
        let is_of_person = matches!(settings, NewSettings::OfPerson(_));
        let settings = settings.replace(known.clone());
        if known == settings {
            // The daemon may have been killed after an earlier attempt had recorded them.
            if is_of_person {
                self.write_settings()?;
            }
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
        let is_for_next_message = is_of_person && !changed.is_empty();
        let changed_at = is_for_next_message.then(|| self.ports.clock.now());
        let settings = Box::new(settings);
        let changes = vec![Change::Configure { session, settings, changed_at }];
        failpoint::hit("settings.commit.before");
        self.state.commit(&self.ports, Commit { changes, events }).await?;
        failpoint::hit("settings.commit.after");
        if begins_archive {
            self.archive();
        }
        self.write_settings()?;
        Ok(changed)
    }

    /// Writes the settings to the file from which a lost store is rebuilt.
    fn write_settings(&self) -> Result<()> {
        if self.state.launches.is_empty() {
            return Ok(());
        }
        self.state.write_record(&self.ports)
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
