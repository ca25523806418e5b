//! Reports which vendors are installed on this machine.

use std::collections::BTreeMap;
use std::sync::Arc;

use segue_core::api::{Exemption, VendorList, VendorReport};
use segue_core::model::{Environment, Resumes};
use segue_core::ports::{Proof, TrialSetup, Vendor};
use segue_core::rules::versions;

use crate::wiring::{self, Local};

/// Looks for every vendor's program in the caller's environment. Starts nothing.
pub fn list(local: &Local) -> VendorList {
    list_in(local.environment())
}

/// Looks for every vendor's program in an environment. Starts nothing.
pub(crate) fn list_in(environment: &Environment) -> VendorList {
    let vendors = wiring::vendors().all();
    VendorList { vendors: vendors.iter().map(|it| report(it, environment)).collect() }
}

/// Returns every vendor that this build can drive.
pub fn all() -> Vec<Arc<dyn Vendor>> {
    wiring::vendors().all()
}

fn report(vendor: &Arc<dyn Vendor>, environment: &Environment) -> VendorReport {
    let support = vendor.support();
    let program = wiring::find_program(&vendor.launching().program(), environment);
    let version = program.as_ref().and_then(|program| program.version.clone());
    VendorReport {
        newer_than_tried: versions::is_newer_than_tried(version.as_deref(), support.tried),
        name: vendor.id(),
        title: support.title.to_owned(),
        installed: program.is_some(),
        version,
        path: program.map(|program| program.path),
        config_dir: vendor.launching().config_dir(environment).ok(),
        proof: proof(support.proof).to_owned(),
        versions_tried: support.tried.iter().map(|&it| it.to_owned()).collect(),
        capabilities: capabilities(vendor.as_ref()),
        exempt: exempt(vendor.as_ref()),
        notes: support.notes.iter().map(|&it| it.to_owned()).collect(),
        install: support.install.to_owned(),
    }
}

fn capabilities(vendor: &dyn Vendor) -> BTreeMap<String, bool> {
    let all = [
        ("resume", vendor.capabilities().resume == Resumes::Yes),
        ("verified", vendor.signals().is_some()),
        ("headless", vendor.launching().headless().is_some()),
        ("guarded", vendor.transcript_files().is_some()),
    ];
    all.into_iter().map(|(name, can)| (name.to_owned(), can)).collect()
}

fn proof(proof: Proof) -> &'static str {
    match proof {
        Proof::BuiltIn => "built in",
        Proof::Program => "tried with its program",
        Proof::Recordings => "from public descriptions, not tried",
        Proof::Description => "known from public descriptions only",
    }
}

fn exempt(vendor: &dyn Vendor) -> Vec<Exemption> {
    let rehearsal = vendor.rehearsal(&TrialSetup::placeholder()).unwrap_or_default();
    let exemption = |(behaviour, why): &(&str, &str)| Exemption {
        behaviour: (*behaviour).to_owned(),
        why: (*why).to_owned(),
    };
    rehearsal.exempt.iter().map(exemption).collect()
}
