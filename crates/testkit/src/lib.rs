//! Test environments, fakes and contract suites.
