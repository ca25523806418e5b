//! The requests of users about deliveries, and the receipt of deliveries.

use std::sync::Arc;

use segue_core::api::{
    DeliveriesRequest, DeliveryList, DeliveryListQuery, DeliveryPage, DeliveryReport, DeliveryView,
    DispatchTestReport, DispatchTestRequest, TestedEvent, TestedRule, TestedTask,
};
use segue_core::flows::deliveries::{self, DeliveryReceipt};
use segue_core::flows::dispatch::{self, DispatchContext, RuleReport};
use segue_core::model::{
    Delivery, DeliveryHeaders, DeliveryReading, DeliveryRequest, ForgeEvent, ForgeSource,
    Principal, SourceName,
};
use segue_core::ports::DeliveryQuery;
use segue_core::rules::scope::RestrictedAction;
use segue_core::{Error, Result};

use super::super::Supervisor;
use super::{process, wake, worker};

/// A list has this many deliveries if the request does not say it, and at most the second number.
const DEFAULT_LIMIT: u32 = 100;
const MAX_LIMIT: u32 = 10_000;

/// Verifies and stores a delivery, and wakes the worker of its source.
pub(crate) async fn receive(
    supervisor: &Arc<Supervisor>,
    source: &str,
    headers: &DeliveryHeaders,
    body: Vec<u8>,
) -> Result<DeliveryReceipt> {
    // A name that cannot be in the settings is answered like an unknown one.
    let unknown = |_| Error::not_found("there is no such source");
    let source = SourceName::parse(source).map_err(unknown)?;
    let received = deliveries::receive(&supervisor.ports, &source, headers, body).await;
    if received.is_ok() {
        wake(supervisor, &source);
    }
    received
}

/// Returns the newest deliveries.
pub(crate) async fn list(
    supervisor: &Supervisor,
    principal: &Principal,
    request: &DeliveriesRequest,
) -> Result<DeliveryList> {
    principal.allow(RestrictedAction::ReadTasks)?;
    let query = DeliveryQuery {
        source: request.source.clone(),
        states: request.state.map(|state| vec![state]),
        newest: Some(request.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT)),
        ..DeliveryQuery::default()
    };
    let found = supervisor.ports.store.deliveries(&query).await?;
    Ok(DeliveryList { deliveries: found.into_iter().map(DeliveryView::from).collect() })
}

/// Returns a page of the deliveries that the query describes, the newest first.
pub(crate) async fn page(
    supervisor: &Supervisor,
    principal: &Principal,
    query: &DeliveryListQuery,
) -> Result<DeliveryPage> {
    principal.allow(RestrictedAction::ReadTasks)?;
    let (found, next) = deliveries::page(&supervisor.ports, query).await?;
    let deliveries = found.into_iter().map(DeliveryView::from).collect();
    Ok(DeliveryPage { deliveries, next: next.map(|id| id.to_string()) })
}

/// Returns a delivery with its content.
pub(crate) async fn show(
    supervisor: &Supervisor,
    principal: &Principal,
    delivery: &str,
) -> Result<DeliveryReport> {
    principal.allow(RestrictedAction::ReadTasks)?;
    let Delivery { summary, headers, body, .. } =
        deliveries::find(&supervisor.ports, delivery).await?;
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    Ok(DeliveryReport {
        delivery: summary.into(),
        headers: headers.iter().map(owned).collect(),
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}

/// Compares a stored delivery with the rules once more. Tasks that it has added are not added again.
pub(crate) async fn replay(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    delivery: &str,
) -> Result<DeliveryView> {
    principal.allow(RestrictedAction::Tasks)?;
    let found = deliveries::find(&supervisor.ports, delivery).await?.summary;
    deliveries::find_source(&supervisor.ports, &found.source)?;
    deliveries::require_content(&found)?;
    deliveries::replay(&supervisor.ports, found.id).await?;
    wake(supervisor, &found.source);
    Ok(deliveries::find(&supervisor.ports, &found.id.to_string()).await?.summary.into())
}

/// Returns what the rules make of a delivery, with the exact prompts. Changes nothing.
pub(crate) async fn test(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: &DispatchTestRequest,
) -> Result<DispatchTestReport> {
    principal.allow(RestrictedAction::Tasks)?;
    let (source, reading) = reading(supervisor, request).await?;
    let name = source.name.clone();
    let events = match reading {
        DeliveryReading::Events(events) => events,
        DeliveryReading::Ignored(reason) => return Ok(ignored(name, reason)),
        DeliveryReading::Ping => {
            return Ok(ignored(name, "the forge tests the webhook".to_owned()));
        }
    };
    let context = context(supervisor, &source).await?;
    let mut tested = Vec::new();
    for event in &events {
        let reports = dispatch::explain(&supervisor.ports, &context, event).await?;
        tested.push(tested_event(event, reports));
    }
    Ok(DispatchTestReport { source: name, ignored: None, events: tested })
}

fn ignored(source: SourceName, reason: String) -> DispatchTestReport {
    DispatchTestReport { source, ignored: Some(reason), events: Vec::new() }
}

async fn reading(
    supervisor: &Arc<Supervisor>,
    request: &DispatchTestRequest,
) -> Result<(ForgeSource, DeliveryReading)> {
    let ports = &supervisor.ports;
    match request {
        DispatchTestRequest::Delivery(id) => {
            let delivery = deliveries::find(ports, id).await?;
            deliveries::require_content(&delivery.summary)?;
            let source = deliveries::find_source(ports, &delivery.summary.source)?;
            let reading = process::read(ports, &source, &delivery)?;
            Ok((source, reading))
        }
        DispatchTestRequest::Payload { source, event, body } => {
            let source = deliveries::find_source(ports, source)?;
            let forge = ports.sources.forge(&source)?;
            let headers = forge.webhooks().test_headers(event);
            let (body, received_at) = (body.as_bytes(), ports.clock.now());
            let request = DeliveryRequest { headers: &headers, body, received_at };
            let reading = forge.webhooks().read(&request)?;
            Ok((source, reading))
        }
    }
}

async fn context(supervisor: &Arc<Supervisor>, source: &ForgeSource) -> Result<DispatchContext> {
    let api = match source.has_token {
        true => Some(supervisor.ports.sources.api(&source.name).await?),
        false => None,
    };
    let account = match &api {
        Some(api) => Some(api.own_account().await?),
        None => None,
    };
    worker::context(supervisor, &source.name, (api, account), Arc::default()).await
}

fn tested_event(event: &ForgeEvent, reports: Vec<RuleReport>) -> TestedEvent {
    let rules = reports.into_iter().map(|RuleReport { rule, agent, task }| {
        let (reason, task) = match task {
            Ok(planned) => (None, Some(planned.request)),
            Err(reason) => (Some(reason), None),
        };
        let task = task.map(|request| TestedTask {
            repository: request.repo,
            issue: request.issue,
            branch: request.branch,
            prompt: request.prompt,
        });
        TestedRule { rule, agent, reason, task }
    });
    TestedEvent {
        trigger: event.trigger.into(),
        repository: event.repository.full_name.clone(),
        rules: rules.collect(),
    }
}
