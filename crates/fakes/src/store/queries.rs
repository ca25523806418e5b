//! Reads of the tables.

use std::collections::BTreeMap;

use jiff::civil::Date;
use segue_core::model::{
    DailyUsage, Event, IssueKey, Launch, LaunchIndexEntry, RepositoryId, Session, SessionId, Task,
    Usage,
};
use segue_core::ports::{
    EventQuery, LeasedWorktree, OpenLaunch, Place, PlacedTask, SessionActivity, SessionQuery,
    SessionSummary, TASK_BEGINNING_CHARACTERS, TaskQuery, TaskSummary, UsageQuery, VendorPlace,
};

use super::{Tables, UsedBySession};

impl Tables {
    pub(super) fn session(&self, id: SessionId) -> Option<&Session> {
        self.sessions.iter().find(|it| it.id == id)
    }

    pub(super) fn has_open_launch(&self, id: SessionId) -> bool {
        self.launches.iter().any(|it| it.session == id && it.is_open())
    }

    pub(super) fn launch_index(&self) -> Vec<LaunchIndexEntry> {
        let mut all: Vec<_> = self.launches.iter().collect();
        all.sort_by_key(|it| (it.session, it.number, it.created_at, it.id));
        let entry = |it: &Launch| LaunchIndexEntry {
            id: it.id,
            session: it.session,
            number: it.number,
            ended_at: it.end.map(|end| end.at),
        };
        all.into_iter().map(entry).collect()
    }

    pub(super) fn summaries(&self, query: &SessionQuery) -> Vec<SessionSummary> {
        let mut sessions: Vec<&Session> =
            self.sessions.iter().filter(|it| self.is_meant(it, query)).collect();
        sessions.sort_by_key(|it| (it.created_at, it.id));
        if let Some(after) = query.page.and_then(|page| page.after) {
            sessions.retain(|it| (it.created_at, it.id) > after);
        }
        let size = query.page.map_or(usize::MAX, |page| page.size as usize);
        sessions.into_iter().take(size).map(|it| self.summary(it)).collect()
    }

    pub(super) fn tasks(&self, query: &TaskQuery) -> Vec<PlacedTask> {
        let found: Vec<&PlacedTask> =
            self.tasks.iter().filter(|it| is_meant_task(&it.task, query)).collect();
        let newest = query.newest.map_or(found.len(), |limit| limit as usize);
        let skipped = found.len().saturating_sub(newest);
        let after = query.page.and_then(|page| page.after).unwrap_or(i64::MIN);
        let size = query.page.map_or(usize::MAX, |page| page.size as usize);
        let rest = found.into_iter().skip(skipped).filter(|it| it.place > after);
        rest.take(size).cloned().collect()
    }

    pub(super) fn task_summaries(&self, query: &TaskQuery) -> Vec<TaskSummary> {
        let summary = |PlacedTask { task, .. }: PlacedTask| {
            let session = self.sessions.iter().find(|it| Some(it.id) == task.session);
            let prompt = &task.order.prompt;
            let mut beginning: String = prompt.chars().take(TASK_BEGINNING_CHARACTERS).collect();
            if beginning.len() < prompt.len() {
                beginning.push('…');
            }
            TaskSummary {
                id: task.id,
                agent: task.order.agent,
                state: task.state.kind(),
                session: session.map(|it| (it.fleet.clone(), it.name.clone())),
                created_at: task.created_at,
                beginning,
            }
        };
        self.tasks(query).into_iter().map(summary).collect()
    }

    fn is_meant(&self, it: &Session, query: &SessionQuery) -> bool {
        let reaches = |from| it.id == from || it.parent == Some(from);
        query.ids.as_ref().is_none_or(|ids| ids.contains(&it.id))
            && query.fleet.as_ref().is_none_or(|fleet| *fleet == it.fleet)
            && query.name.as_ref().is_none_or(|name| *name == it.name)
            && query.vendor.as_ref().is_none_or(|vendor| *vendor == it.vendor)
            && query.config_dir.as_ref().is_none_or(|dir| *dir == it.config_dir)
            && query.cwd.as_ref().is_none_or(|cwd| *cwd == it.cwd)
            && query.reachable_from.is_none_or(reaches)
            && query.activity.is_none_or(|activity| self.is_active(it, activity))
            && (!query.has_agent || it.agent.is_some())
            && self.is_bound_to_one(it.id, query)
    }

    fn is_bound_to_one(&self, session: SessionId, query: &SessionQuery) -> bool {
        let Some(ids) = &query.vendor_sessions else { return true };
        let mut own = self.bindings.iter().filter(|it| it.session == session);
        own.any(|it| ids.contains(&it.vendor_session))
    }

    fn is_active(&self, it: &Session, activity: SessionActivity) -> bool {
        let is_open = self.has_open_launch(it.id);
        let is_active = || is_open || self.queued_messages(it.id) > 0 || !it.is_at_rest();
        match activity {
            SessionActivity::Open => is_open,
            SessionActivity::Unsettled => is_active(),
            SessionActivity::UnsettledOrChangedSince(time) => is_active() || it.updated_at >= time,
        }
    }

    fn queued_messages(&self, session: SessionId) -> usize {
        let own = self.messages.iter().filter(|it| it.session == session);
        own.filter(|it| !it.state.is_settled()).count()
    }

    fn summary(&self, session: &Session) -> SessionSummary {
        let own = || self.launches.iter().filter(|it| it.session == session.id);
        let number = |number: usize| u32::try_from(number).unwrap();
        SessionSummary {
            session: session.clone(),
            binding: self.bindings.iter().rfind(|it| it.session == session.id).cloned(),
            open: own().find(|it| it.is_open()).map(|it| OpenLaunch {
                id: it.id,
                machine: it.machine,
                created_at: it.created_at,
                holder: it.holder.clone(),
                agent: it.agent.clone(),
            }),
            launches: number(own().count()),
            queued_messages: number(self.queued_messages(session.id)),
            worktree: self
                .worktrees
                .iter()
                .find(|it| it.session == Some(session.id))
                .map(|it| LeasedWorktree { path: it.path.clone(), branch: it.branch.clone() }),
            usage: self.usage_of(session.id),
        }
    }

    fn usage_of(&self, session: SessionId) -> Option<Usage> {
        let own = self.usage.iter().filter(|it| it.used.session == session);
        Usage::sum(own.map(|it| it.used.usage))
    }

    pub(super) fn daily_usage(&self, query: &UsageQuery) -> Vec<DailyUsage> {
        let is_meant = |it: &&UsedBySession| {
            query.sessions.as_ref().is_none_or(|ids| ids.contains(&it.used.session))
                && query.since.is_none_or(|since| it.at >= since)
                && query.until.is_none_or(|until| it.at <= until)
        };
        let mut days: BTreeMap<(SessionId, Date), DailyUsage> = BTreeMap::new();
        for UsedBySession { used, .. } in self.usage.iter().filter(is_meant) {
            let day = days.entry((used.session, used.day));
            day.and_modify(|it| it.usage = it.usage.plus(used.usage))
                .or_insert_with(|| used.clone());
        }
        days.into_values().collect()
    }

    pub(super) fn resting_places(&self, limit: usize) -> Vec<VendorPlace> {
        let mut newest_first: Vec<&Session> = self.sessions.iter().collect();
        newest_first.sort_by_key(|it| std::cmp::Reverse((it.created_at, it.id)));
        let mut places = Vec::new();
        for session in newest_first {
            let place = VendorPlace { vendor: session.vendor.clone(), place: Place::of(session) };
            if !places.contains(&place) && self.has_rest(&place) {
                places.push(place);
            }
        }
        places.truncate(limit);
        places
    }

    /// Returns whether a session of this place has no open launch.
    fn has_rest(&self, VendorPlace { vendor, place }: &VendorPlace) -> bool {
        let is_there = |it: &&Session| {
            it.vendor == *vendor && it.cwd == place.cwd && it.config_dir == place.config_dir
        };
        self.sessions.iter().filter(is_there).any(|it| !self.has_open_launch(it.id))
    }

    pub(super) fn events_of(&self, query: &EventQuery) -> Vec<Event> {
        let EventQuery { after, sessions, limit, newest } = query;
        let is_meant = |it: &&Event| {
            let of = it.fact.session;
            it.seq > *after
                && (sessions.is_empty() || of.is_some_and(|session| sessions.contains(&session)))
        };
        let mut events: Vec<Event> = self.events.iter().filter(is_meant).cloned().collect();
        let limit = *limit as usize;
        if *newest {
            events.drain(..events.len().saturating_sub(limit));
        }
        events.truncate(limit);
        events
    }
}

fn is_meant_task(it: &Task, query: &TaskQuery) -> bool {
    let is_about = |issue: &IssueKey| {
        let key = it.order.repository.as_ref().zip(it.order.issue.as_ref());
        key == Some((&issue.repository, &issue.issue))
            && it.order.fleet == issue.fleet
            && it.order.agent == issue.agent
    };
    query.ids.as_ref().is_none_or(|ids| ids.contains(&it.id))
        && query.id_prefix.as_ref().is_none_or(|prefix| it.id.to_string().starts_with(prefix))
        && query.key.as_ref().is_none_or(|key| it.key.as_ref() == Some(key))
        && query.states.as_ref().is_none_or(|states| states.contains(&it.state.kind()))
        && query.agent.as_ref().is_none_or(|agent| *agent == it.order.agent)
        && query.session.is_none_or(|session| it.session == Some(session))
        && query.parent.is_none_or(|parent| it.order.parent == Some(parent))
        && query.spawner.is_none_or(|spawner| {
            it.order.spawner.as_ref().is_some_and(|own| own.session == spawner)
        })
        && query.issue.as_ref().is_none_or(is_about)
        && query.about.as_ref().is_none_or(|about| {
            let repository = it.order.repository.as_ref().map(RepositoryId::as_str);
            it.order.issue.as_ref() == Some(&about.issue)
                && about.repository.as_deref().is_none_or(|wanted| repository == Some(wanted))
        })
}
