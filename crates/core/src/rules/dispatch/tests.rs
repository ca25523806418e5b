use super::conditions::is_like;
use super::*;
use crate::model::{
    AgentName, AllowedActors, DispatchConditions, DispatchRule, EventChanges, ForgeEvent,
    ForgeIssue, ForgeRepository, ForgeUser, SourceName, UserKind,
};

fn user(id: i64, login: &str) -> ForgeUser {
    ForgeUser { id, login: login.into(), kind: UserKind::Person }
}

fn assigned(labels: &[&str]) -> ForgeEvent {
    let repository = ForgeRepository {
        id: 1,
        full_name: "Team/App".into(),
        clone_url: None,
        web_url: String::new(),
        default_branch: None,
    };
    let issue = ForgeIssue {
        id: 70,
        number: 7,
        title: "Parser".into(),
        body: String::new(),
        web_url: String::new(),
        is_open: true,
        author: Some(user(3, "eve")),
        labels: labels.iter().map(|&label| label.to_owned()).collect(),
        assignees: Vec::new(),
        updated_at: None,
    };
    let changes = EventChanges { assignees: vec![user(1, "segue-bot")], ..EventChanges::default() };
    let event = ForgeEvent::new(TriggerKind::IssueAssigned, repository);
    ForgeEvent { actor: Some(user(2, "ada")), issue: Some(issue), changes, ..event }
}

fn rule(on: TriggerKind, when: DispatchConditions) -> DispatchRule {
    DispatchRule {
        number: 1,
        on,
        source: SourceName::parse("hub").unwrap(),
        folder: "/src/shop".into(),
        when,
        agent: AgentName::parse("coder").unwrap(),
        prompt: None,
        verify: None,
        reply: false,
        who: AllowedActors::Write,
        repo: None,
    }
}

#[test]
fn rule_is_about_an_event_if_all_conditions_are_met() {
    let some = |text: &str| Some(text.to_owned());
    let none = DispatchConditions::default;
    let table = [
        (none(), None),
        (DispatchConditions { label: some("BUG"), ..none() }, None),
        (DispatchConditions { label: some("docs"), ..none() }, Some("label `docs`")),
        (DispatchConditions { author: some("Eve"), ..none() }, None),
        (DispatchConditions { author: some("ada"), ..none() }, Some("author `ada`")),
        (DispatchConditions { repository: some("team/*"), ..none() }, None),
        (DispatchConditions { repository: some("team/ap"), ..none() }, Some("repository")),
        (DispatchConditions { branch: some("main"), ..none() }, Some("branch `main`")),
        (DispatchConditions { assignee: some("Segue-Bot"), ..none() }, None),
        (DispatchConditions { assignee: some("dev"), ..none() }, Some("work for `dev`")),
    ];
    let account = user(1, "segue-bot");
    for (when, expected) in table {
        let rule = rule(TriggerKind::IssueAssigned, when);
        let found = mismatch(&rule, &assigned(&["bug"]), Some(&account));
        assert_eq!(found.is_some(), expected.is_some(), "{rule:?}: {found:?}");
        assert!(found.unwrap_or_default().contains(expected.unwrap_or_default()), "{rule:?}");
    }
    let other = rule(TriggerKind::IssueClosed, none());
    assert_eq!(mismatch(&other, &assigned(&[]), None).unwrap(), "it is about `issue.closed`");
}

#[test]
fn assignment_of_another_user_is_not_work_for_the_account() {
    let rule = rule(TriggerKind::IssueAssigned, DispatchConditions::default());
    let found = mismatch(&rule, &assigned(&[]), Some(&user(9, "other")));
    assert_eq!(found.unwrap(), "it is work for `other`");
    assert_eq!(mismatch(&rule, &assigned(&[]), None), None);
}

#[test]
fn only_allowed_people_start_work() {
    let account = user(1, "segue-bot");
    let listed = |logins: &[&str]| {
        AllowedActors::Listed(logins.iter().map(|&login| login.to_owned()).collect())
    };
    let bot = ForgeUser { kind: UserKind::Bot, ..user(5, "ci[bot]") };
    let refused = |text: &str| ActorCheck::Refused(text.to_owned());
    let table = [
        (Some(user(2, "ada")), AllowedActors::Write, ActorCheck::NeedsPermission(user(2, "ada"))),
        (Some(user(2, "ada")), AllowedActors::Anyone, ActorCheck::Allowed),
        (Some(user(2, "ada")), listed(&["bob", "Ada"]), ActorCheck::Allowed),
        (Some(user(2, "ada")), listed(&["bob"]), refused("`who` does not list `ada`")),
        (Some(bot), AllowedActors::Anyone, refused("`ci[bot]` is a program")),
        (
            Some(user(1, "renamed")),
            listed(&["renamed"]),
            refused("`renamed` is the account of Segue itself"),
        ),
        (None, AllowedActors::Write, ActorCheck::Allowed),
        (None, listed(&["ada"]), refused("the forge does not name who caused the event")),
    ];
    for (actor, who, expected) in table {
        let event = ForgeEvent { actor, ..assigned(&[]) };
        let rule = DispatchRule { who, ..rule(event.trigger, DispatchConditions::default()) };
        assert_eq!(check_actor(&rule, &event, Some(&account)), expected, "{event:?}");
    }
}

#[test]
fn event_without_an_actor_starts_work_only_if_it_is_an_assignment() {
    let event = ForgeEvent { actor: None, trigger: TriggerKind::IssueCommented, ..assigned(&[]) };
    let rule = DispatchRule {
        who: AllowedActors::Anyone,
        ..rule(event.trigger, DispatchConditions::default())
    };
    assert!(matches!(check_actor(&rule, &event, None), ActorCheck::Refused(_)));
}

#[test]
fn patterns_with_stars_match_any_characters() {
    let table = [
        ("main", "main", true),
        ("main2", "main", false),
        ("feature/a", "feature/*", true),
        ("a-b-c", "a*b*c", true),
        ("a-c", "a*b*c", false),
        ("abab", "*ab", true),
        ("", "*", true),
        ("x", "", false),
        ("aba", "ab*ba", false),
    ];
    for (text, pattern, expected) in table {
        assert_eq!(is_like(text, pattern), expected, "{text} {pattern}");
    }
}

#[test]
fn brake_stops_an_issue_with_too_many_tasks() {
    assert_eq!(brake(MAX_TASKS_PER_HOUR - 1), None);
    assert!(brake(MAX_TASKS_PER_HOUR).unwrap().starts_with("20 tasks about this issue"));
}
