//! Numbers for Prometheus, in its text format.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use segue_core::Result;
use segue_core::model::{DurationHistogram, StatusKind, TaskStateKind};
use segue_core::ports::{Ports, TaskQuery};

use crate::wiring::VERSION;

/// What this daemon has counted since its start.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// The time from the request to the delivery of a message.
    message_latency: Mutex<DurationHistogram>,
    /// Deliveries of forges, by their answers.
    deliveries: Mutex<BTreeMap<&'static str, u64>>,
    /// Requests to webhooks that were refused, for example because of a wrong signature.
    refused_webhooks: AtomicU64,
}

impl Metrics {
    pub(crate) fn message_delivered(&self, waited: Duration) {
        lock(&self.message_latency).observe(waited);
    }

    /// Counts a delivery by its answer.
    pub(crate) fn delivery_answered(&self, answer: &'static str) {
        *lock(&self.deliveries).entry(answer).or_default() += 1;
    }

    pub(crate) fn webhook_refused(&self) {
        self.refused_webhooks.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns all metrics in the text format of Prometheus.
    pub(crate) async fn text(&self, ports: &Ports) -> Result<String> {
        let mut page = MetricsPage::default();
        page.family("segue_build_info", "gauge", "The version of the daemon; the value is 1");
        page.sample("segue_build_info", &[("version", VERSION)], 1);
        self.add_sessions(&mut page, ports).await?;
        self.add_tasks(&mut page, ports).await?;
        let help = "Deliveries of forges since the daemon started, by their outcomes";
        page.family("segue_deliveries_total", "counter", help);
        for (outcome, count) in &*lock(&self.deliveries) {
            page.sample("segue_deliveries_total", &[("outcome", outcome)], *count);
        }
        let help = "Requests to webhooks that were refused since the daemon started";
        page.family("segue_webhooks_refused_total", "counter", help);
        let refused = self.refused_webhooks.load(Ordering::Relaxed);
        page.sample("segue_webhooks_refused_total", &[], refused);
        let help = "Time from the request to the delivery of a message";
        page.histogram("segue_message_latency_seconds", help, &lock(&self.message_latency).clone());
        let help = "Time of commits to the store";
        page.histogram("segue_store_commit_seconds", help, &ports.store.commit_times());
        Ok(page.0)
    }

    async fn add_sessions(&self, page: &mut MetricsPage, ports: &Ports) -> Result<()> {
        let counted = ports.store.count_statuses().await?;
        page.family("segue_sessions", "gauge", "Sessions by status");
        for status in StatusKind::ALL {
            let of_status = counted.iter().filter(|(kind, _)| kind == status);
            let count = of_status.map(|(_, count)| count).sum();
            page.sample("segue_sessions", &[("status", status.word())], count);
        }
        Ok(())
    }

    async fn add_tasks(&self, page: &mut MetricsPage, ports: &Ports) -> Result<()> {
        page.family("segue_tasks", "gauge", "Tasks by state");
        for state in TaskStateKind::ALL {
            let query = TaskQuery { states: Some(vec![*state]), ..TaskQuery::default() };
            let count = ports.store.count_tasks(&query).await?;
            page.sample("segue_tasks", &[("state", state.word())], count.into());
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A page of metrics. The values of labels are words of this program and need no escapes.
#[derive(Debug, Default)]
struct MetricsPage(String);

impl MetricsPage {
    /// Begins a metric.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing into a string cannot fail, here and below.
        let _written = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: u64) {
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
        let labels = match labels.as_slice() {
            [] => String::new(),
            labels => format!("{{{}}}", labels.join(",")),
        };
        let _written = writeln!(self.0, "{name}{labels} {value}");
    }

    fn histogram(&mut self, name: &str, help: &str, histogram: &DurationHistogram) {
        self.family(name, "histogram", help);
        let bucket = format!("{name}_bucket");
        for (limit, count) in histogram.cumulative() {
            self.sample(&bucket, &[("le", &limit.as_secs_f64().to_string())], count);
        }
        self.sample(&bucket, &[("le", "+Inf")], histogram.count());
        let _written = writeln!(self.0, "{name}_sum {}", histogram.sum().as_secs_f64());
        self.sample(&format!("{name}_count"), &[], histogram.count());
    }
}
