//! The same with the real programs of two vendors.

use segue_testkit::passing::Passing;
use segue_testkit::vendors::with_all;
use segue_testkit::{Model, is_soak, isolated, processes, scene};

use super::TaskCampaign;
use crate::world;

/// The agents of the project and their vendors.
const VENDORS: [(&str, &str); 2] = [("coder", "claude"), ("reviewer", "codex")];

const SHORT: TaskCampaign = TaskCampaign {
    agents: &["coder", "reviewer"],
    prompt: "[[slow: 1]] [[say: over]]",
    tasks: 6,
    repositories: 2,
    kills: 4,
};
const LONG: TaskCampaign = TaskCampaign { tasks: 16, kills: 16, ..SHORT };

#[test]
fn every_task_of_two_real_vendors_ends_once_after_random_kills() {
    isolated(|| {
        let (mut world, model) = (world(), Model::start());
        with_all(&mut world, &model, &VENDORS.map(|(_, vendor)| vendor));
        let passing = Passing::count(&mut world);
        scene::share_environment(&world);
        let agents = VENDORS.map(|(name, vendor)| {
            format!("[[agents]]\nname = \"{name}\"\nvendor = \"{vendor}\"\npermission = \"auto\"\n")
        });
        scene::write_project(&world, &format!("[fleet]\nname = \"shop\"\n{}", agents.concat()));
        let campaign = if is_soak() { LONG } else { SHORT };
        campaign.run(&world, &passing);
        let marked = |pid: &u32| processes::variable(*pid, "SEGUE_LAUNCH").is_some();
        let left: Vec<u32> = world.processes().into_iter().filter(marked).collect();
        left.into_iter().for_each(processes::wait_gone);
    });
}
