//! The tables `[vendors.*]`: agent CLIs that a project file describes.

use std::collections::BTreeMap;

use segue_core::model::{AgentName, DescribedVendors, TrustClaim, VendorDescription, VendorId};
use segue_core::ports::Vendors;
use segue_core::{Error, Result};
use serde::Deserialize;
use toml::Spanned;

use super::source::ProjectSource;

/// The placeholder for the id of a conversation.
const ID: &str = "{id}";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenVendor {
    command: Vec<String>,
    new: Option<Vec<String>>,
    resume: Option<Vec<String>>,
    transcript: Option<String>,
    format: Option<String>,
}

/// Checks and converts the vendors of a file. An error names the line.
pub(super) fn convert(
    written: BTreeMap<String, Spanned<WrittenVendor>>,
    source: &ProjectSource,
    built_in: &dyn Vendors,
) -> Result<DescribedVendors> {
    let mut described = DescribedVendors::new();
    for (name, vendor) in written {
        let checked = check_name(&name, built_in).and_then(|()| vendor.as_ref().check(&name));
        checked.map_err(|error| source.at(&vendor, error))?;
        let WrittenVendor { command, new, resume, transcript, .. } = vendor.into_inner();
        let description = VendorDescription { command, new, resume, transcript };
        described.insert(VendorId::new(name), description);
    }
    Ok(described)
}

/// Returns the claim about a vendor that the user has to trust.
pub(super) fn claim((name, vendor): (&VendorId, &VendorDescription)) -> TrustClaim {
    let VendorDescription { command, new, resume, transcript } = vendor;
    // Recorded trust is compared with this text. If its form changes, users have to trust their
    // files again.
    let how = format!("new {new:?}, resume {resume:?}, transcript {transcript:?}");
    let claim = TrustClaim::setting(format!("vendor {name}"), format!("{command:?}, {how}"));
    claim.in_words(explanation(vendor))
}

/// Returns a text that describes for the user what a vendor's description runs. Each argument is
/// quoted, so that an argument with a space does not look like two.
fn explanation(
    VendorDescription { command, new, resume, transcript }: &VendorDescription,
) -> String {
    let quoted = |words: &[String]| -> String {
        words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(" ")
    };
    let with = |arguments: &Option<Vec<String>>| match arguments {
        Some(arguments) if !arguments.is_empty() => format!("with {}", quoted(arguments)),
        Some(_) => "without further arguments".to_owned(),
        None => "without an id".to_owned(),
    };
    let resume = match resume {
        Some(_) => format!("a resume {}", with(resume)),
        None => "it cannot resume".to_owned(),
    };
    let transcript = match transcript {
        Some(path) => format!("its transcript is {path:?}"),
        None => "no transcript is known".to_owned(),
    };
    format!("runs {}; a new conversation {}; {resume}; {transcript}", quoted(command), with(new))
}

fn check_name(name: &str, built_in: &dyn Vendors) -> Result<()> {
    AgentName::parse(name)?;
    if built_in.get(&VendorId::new(name)).is_ok() {
        return Err(Error::config(format!("`{name}` is the name of a built-in vendor"))
            .hint(format!("use another name, such as `my-{name}`")));
    }
    Ok(())
}

impl WrittenVendor {
    fn check(&self, name: &str) -> Result<()> {
        if self.command.first().is_none_or(|program| program.trim().is_empty()) {
            return Err(Error::config(format!("the command of `{name}` is empty"))
                .hint("name the program to start, such as `command = [\"mytool\", \"chat\"]`"));
        }
        let has_id = |words: Option<&Vec<String>>| {
            words.is_some_and(|words| words.iter().any(|word| word.contains(ID)))
        };
        if self.resume.is_some() && !has_id(self.resume.as_ref()) {
            return Err(Error::config(format!("`resume` of vendor `{name}` must contain `{ID}`"))
                .caused_by("without an id, the program resumes its newest conversation, which can be a wrong one")
                .hint("use the id, such as `resume = [\"--resume\", \"{id}\"]`"));
        }
        if self.resume.is_some() && !has_id(self.new.as_ref()) {
            return Err(Error::config(format!("`new` of vendor `{name}` must contain `{ID}`"))
                .caused_by("`resume` uses the id with which `new` has started the conversation")
                .hint("add `new = [\"--session\", \"{id}\"]`, or remove `resume`"));
        }
        self.check_transcript(name)
    }

    fn check_transcript(&self, name: &str) -> Result<()> {
        if let Some(path) = self.transcript.as_deref().filter(|path| !path.contains(ID)) {
            return Err(Error::config(format!(
                "`transcript` of vendor `{name}` must contain `{ID}`"
            ))
            .caused_by(format!("all conversations would have the same transcript `{path}`"))
            .hint("use the id, such as `transcript = \"~/.mytool/{id}.jsonl\"`"));
        }
        match self.format.as_deref() {
            None | Some("auto") => Ok(()),
            Some(other) => {
                let message = format!("`format` of vendor `{name}` must be `auto`, got `{other}`");
                Err(Error::config(message).hint("use `format = \"auto\"`, or remove `format`"))
            }
        }
    }
}
