//! The vendors of a world.

use std::sync::{Arc, Mutex};

use segue_core::model::{VendorDescription, VendorId};
use segue_core::ports::{Vendor, Vendors};
use segue_core::{Error, Result};

use crate::FakeVendor;

/// The vendors of a world, in the order in which they were added. A project file describes one of
/// them, or the first.
#[derive(Debug)]
pub struct FakeVendors(Mutex<Vec<Arc<FakeVendor>>>);

impl FakeVendors {
    pub(crate) fn new(vendor: FakeVendor) -> Self {
        Self(Mutex::new(vec![Arc::new(vendor)]))
    }

    /// Adds a vendor, or replaces the one of the same name, for example with one that has lost a
    /// capability.
    pub fn put(&self, vendor: FakeVendor) {
        let mut vendors = self.0.lock().unwrap();
        let vendor = Arc::new(vendor);
        match vendors.iter_mut().find(|it| it.name == vendor.name) {
            Some(known) => *known = vendor,
            None => vendors.push(vendor),
        }
    }

    fn named(&self, id: &VendorId) -> Option<Arc<FakeVendor>> {
        self.0.lock().unwrap().iter().find(|it| it.name == id.as_str()).cloned()
    }
}

impl Vendors for FakeVendors {
    fn get(&self, id: &VendorId) -> Result<Arc<dyn Vendor>> {
        match self.named(id) {
            Some(vendor) => Ok(vendor),
            None => Err(Error::not_found(format!("there is no vendor `{id}`"))),
        }
    }

    fn described(&self, id: &VendorId, _description: &VendorDescription) -> Arc<dyn Vendor> {
        let first = || Arc::clone(&self.0.lock().unwrap()[0]);
        self.named(id).unwrap_or_else(first)
    }

    fn all(&self) -> Vec<Arc<dyn Vendor>> {
        let vendors = self.0.lock().unwrap();
        vendors.iter().map(|vendor| Arc::clone(vendor) as Arc<dyn Vendor>).collect()
    }
}
