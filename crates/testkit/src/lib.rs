//! Test environments, fakes and contract suites.

pub mod contract;
