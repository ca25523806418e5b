//! Deliveries of a forge.

use std::fmt::Debug;

use crate::error::Result;
use crate::model::{
    DeliveryHeaders, DeliveryReading, DeliveryRefusal, DeliveryRequest, SecretText,
};

/// How the deliveries of a forge are verified and read.
pub trait Webhooks: Debug + Send + Sync {
    /// Returns the id of the delivery, with at most 200 characters. A repeated delivery has the
    /// same id. `None` if the forge sent no usable id.
    fn delivery_id(&self, headers: &DeliveryHeaders) -> Option<String>;

    /// Returns the name of the event, for lists. Is not verified.
    fn event_name(&self, headers: &DeliveryHeaders) -> Option<String>;

    /// Returns the headers of a delivery with this event, for a test of the rules.
    fn test_headers(&self, event: &str) -> DeliveryHeaders;

    /// Checks that the forge sent the delivery: its signature, in constant time, or its token.
    fn verify(
        &self,
        request: &DeliveryRequest<'_>,
        secret: &SecretText,
    ) -> Result<(), DeliveryRefusal>;

    /// Returns the headers without those that contain secrets. Only these may be stored.
    fn storable_headers(&self, headers: &DeliveryHeaders) -> DeliveryHeaders;

    /// Reads a verified delivery. Unknown fields are ignored. Fails if the body is too large, too
    /// deeply nested or not valid, or if it lacks the object that its event is about.
    fn read(&self, request: &DeliveryRequest<'_>) -> Result<DeliveryReading>;
}
