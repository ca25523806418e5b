//! A vendor of this crate as a table of constants.

use segue_core::model::VendorId;
use segue_core::ports::{
    Capabilities, Conversion, Interaction, Launching, McpClient, ProgramCommands, Rehearsal,
    SignalSources, Support, Transcripts, TrialSetup, UsageReports, Vendor,
};

/// A vendor of this crate: plain data, and one value for each facet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BuiltInVendor {
    pub(crate) id: &'static str,
    pub(crate) capabilities: Capabilities,
    pub(crate) support: Support,
    /// Returns what the program needs to be tested without an account.
    pub(crate) rehearsal: Option<fn(&TrialSetup<'_>) -> Rehearsal>,
    pub(crate) launching: &'static dyn Launching,
    pub(crate) interaction: &'static dyn Interaction,
    pub(crate) transcripts: &'static dyn Transcripts,
    pub(crate) signals: &'static dyn SignalSources,
    /// `None` if the vendor does not report used tokens.
    pub(crate) usage: Option<&'static dyn UsageReports>,
    /// `None` if the vendor's program cannot use MCP servers.
    pub(crate) mcp: Option<&'static dyn McpClient>,
    /// `None` if a message can run no commands of the vendor's program.
    pub(crate) commands: Option<&'static dyn ProgramCommands>,
    /// `None` if the vendor cannot take over conversations of other vendors.
    pub(crate) conversion: Option<&'static dyn Conversion>,
}

impl Vendor for BuiltInVendor {
    fn id(&self) -> VendorId {
        VendorId::new(self.id)
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn support(&self) -> Support {
        self.support
    }

    fn rehearsal(&self, setup: &TrialSetup<'_>) -> Option<Rehearsal> {
        self.rehearsal.map(|rehearsal| rehearsal(setup))
    }

    fn launching(&self) -> &dyn Launching {
        self.launching
    }

    fn interaction(&self) -> &dyn Interaction {
        self.interaction
    }

    fn transcripts(&self) -> Option<&dyn Transcripts> {
        Some(self.transcripts)
    }

    fn signals(&self) -> Option<&dyn SignalSources> {
        Some(self.signals)
    }

    fn usage(&self) -> Option<&dyn UsageReports> {
        self.usage
    }

    fn mcp(&self) -> Option<&dyn McpClient> {
        self.mcp
    }

    fn commands(&self) -> Option<&dyn ProgramCommands> {
        self.commands
    }

    fn conversion(&self) -> Option<&dyn Conversion> {
        self.conversion
    }
}
