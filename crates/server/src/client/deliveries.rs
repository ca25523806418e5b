//! The requests about deliveries.

use hyper::Method;
use segue_core::Result;
use segue_core::api::{
    DeliveriesRequest, DeliveryList, DeliveryReport, DeliverySelector, DeliveryView,
    DispatchTestReport, DispatchTestRequest,
};

use super::Client;

impl Client {
    pub async fn deliveries(&self, request: &DeliveriesRequest) -> Result<DeliveryList> {
        self.line.ask(Method::POST, "/v1/deliveries", request).await
    }

    pub async fn delivery(&self, delivery: &str) -> Result<DeliveryReport> {
        let selector = DeliverySelector { delivery: delivery.to_owned() };
        self.line.ask(Method::POST, "/v1/deliveries/show", &selector).await
    }

    pub async fn replay_delivery(&self, delivery: &str) -> Result<DeliveryView> {
        let selector = DeliverySelector { delivery: delivery.to_owned() };
        self.line.change(Method::POST, "/v1/deliveries/replay", &selector).await
    }

    /// Returns what the rules make of a delivery. The forge may be asked, so this may take long.
    pub async fn test_dispatch(&self, request: &DispatchTestRequest) -> Result<DispatchTestReport> {
        self.line.ask(Method::POST, "/v1/dispatch/test", request).await
    }
}
