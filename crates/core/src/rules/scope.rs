//! What a caller may do: a person everything, an agent only what concerns itself and its children.

use std::path::Path;

use crate::error::{Error, Result};
use crate::model::{Permission, Session, SessionId, VendorDescription, VendorId};

/// Who calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    Person,
    /// A process that descends from a launch of this session.
    Agent(Box<Session>),
}

/// Something that only a person may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    Attach,
    /// Answering a dialog in a person's place.
    Answer,
    Remove,
    Trust,
    Repair,
    Adopt,
    StopDaemon,
    /// A verb on everything, or on a whole fleet.
    Everything,
}

const OTHER_SESSION: &str = "reach a session that is neither its own nor its child";

impl Scope {
    /// Refuses what an agent must leave to a person.
    pub fn allow(&self, deed: Deed) -> Result<()> {
        match self {
            Self::Person => Ok(()),
            Self::Agent(session) => Err(refusal(session, deed_words(deed))),
        }
    }

    /// Refuses an agent that reaches for another session than its own and its children.
    pub fn allow_session(&self, id: SessionId, parent: Option<SessionId>) -> Result<()> {
        match self {
            Self::Agent(own) if own.id != id && parent != Some(own.id) => {
                Err(refusal(own, OTHER_SESSION))
            }
            _ => Ok(()),
        }
    }

    /// Words that an address leads to no session. An agent is not told whether there is another
    /// session of that name.
    pub fn unknown_session(&self, unknown: Error) -> Error {
        match self {
            Self::Person => unknown,
            Self::Agent(own) => refusal(own, OTHER_SESSION),
        }
    }

    /// Returns the permission for a new session: never looser than the calling agent's own.
    pub fn permission(&self, wanted: Option<Permission>) -> Result<Permission> {
        match self {
            Self::Person => Ok(wanted.unwrap_or(Permission::Ask)),
            Self::Agent(own) if wanted.is_some_and(|wanted| wanted > own.permission) => {
                Err(refusal(own, "start an agent with a looser permission than its own")
                    .hint(format!("leave out --permission, or use `{}`", own.permission.word())))
            }
            Self::Agent(own) => Ok(wanted.unwrap_or(Permission::Ask).min(own.permission)),
        }
    }

    /// Refuses an agent that chooses arguments for a vendor's program: they could loosen its limits.
    pub fn allow_arguments(&self, arguments: &[String]) -> Result<()> {
        match self {
            Self::Agent(own) if !arguments.is_empty() => {
                Err(refusal(own, "give arguments to the vendor's program"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses an agent with limits that starts an agent of the project file with arguments of its
    /// own. A person trusted them, but not for everybody.
    pub fn allow_project_arguments(&self, arguments: &[String]) -> Result<()> {
        match self {
            Self::Agent(own) if own.permission < Permission::Auto && !arguments.is_empty() => {
                Err(refusal(own, "give arguments to the vendor's program"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses an agent that starts another one outside its own folder, where it may have no rights
    /// itself. `folder` has no symlinks in it.
    pub fn allow_folder(&self, folder: &Path) -> Result<()> {
        match self {
            Self::Agent(own) if !folder.starts_with(&own.cwd) => {
                Err(refusal(own, "start an agent outside its own folder")
                    .hint(format!("or use `--cwd` with a folder in `{}`", own.cwd.display())))
            }
            _ => Ok(()),
        }
    }

    /// Refuses an agent with limits that starts an agent of another vendor which has none.
    pub fn allow_vendor(
        &self,
        (vendor, description): (&VendorId, Option<&VendorDescription>),
        keeps_permission: bool,
    ) -> Result<()> {
        match self {
            Self::Agent(own)
                if !keeps_permission
                    && own.permission < Permission::Auto
                    && (&own.vendor, own.description.as_ref()) != (vendor, description) =>
            {
                Err(refusal(own, "start an agent whose vendor knows no permissions"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the session that a new one is the child of.
    pub fn parent(&self) -> Option<SessionId> {
        match self {
            Self::Person => None,
            Self::Agent(own) => Some(own.id),
        }
    }
}

fn deed_words(deed: Deed) -> &'static str {
    match deed {
        Deed::Attach => "attach to a terminal, where it could answer for a person",
        Deed::Answer => "answer a question that was put to a person",
        Deed::Remove => "forget a session",
        Deed::Trust => "trust a project file",
        Deed::Repair => "repair the store",
        Deed::Adopt => "take in a conversation",
        Deed::StopDaemon => "stop the daemon",
        Deed::Everything => "act on sessions that are not its own",
    }
}

fn refusal(session: &Session, what: &str) -> Error {
    Error::usage(format!("an agent may not {what}"))
        .caused_by(format!("this command was called from inside `{}`", session.address()))
        .hint("run it in a terminal of your own")
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::flows::samples;

    fn agent(permission: Permission) -> Scope {
        let mut session = samples::session(1, "coder");
        session.permission = permission;
        Scope::Agent(Box::new(session))
    }

    #[test]
    fn permissions_never_get_looser_through_an_agent() {
        use Permission::{AcceptEdits, Ask, Auto};
        let table = [
            (Ask, None, Some(Ask)),
            (Ask, Some(Ask), Some(Ask)),
            (Ask, Some(AcceptEdits), None),
            (Ask, Some(Auto), None),
            (AcceptEdits, None, Some(Ask)),
            (AcceptEdits, Some(Auto), None),
            (Auto, Some(Auto), Some(Auto)),
            (Auto, None, Some(Ask)),
        ];
        for (own, wanted, expected) in table {
            assert_eq!(agent(own).permission(wanted).ok(), expected, "{own:?} {wanted:?}");
        }
        assert_eq!(Scope::Person.permission(Some(Auto)).ok(), Some(Auto));
    }

    #[test]
    fn a_flag_of_the_vendor_is_no_way_around_the_permission() {
        let flag = ["--permission=auto".to_owned()];
        assert!(agent(Permission::Ask).allow_arguments(&flag).is_err());
        assert!(agent(Permission::AcceptEdits).allow_arguments(&flag).is_err());
        assert!(agent(Permission::Ask).allow_arguments(&[]).is_ok());
        assert!(agent(Permission::Auto).allow_arguments(&flag).is_err());
        assert!(Scope::Person.allow_arguments(&flag).is_ok());
        assert!(agent(Permission::Ask).allow_project_arguments(&flag).is_err());
        assert!(agent(Permission::Auto).allow_project_arguments(&flag).is_ok());
    }

    #[test]
    fn an_agent_starts_others_in_its_own_folder_or_below() {
        let Scope::Agent(mut own) = agent(Permission::Auto) else { panic!("an agent") };
        own.cwd = "/src/shop".into();
        let scope = Scope::Agent(own);
        let table = [
            ("/src/shop", true),
            ("/src/shop/below", true),
            ("/src/shop-2", false),
            ("/src", false),
            ("/", false),
        ];
        for (folder, allowed) in table {
            assert_eq!(scope.allow_folder(Path::new(folder)).is_ok(), allowed, "{folder}");
            assert!(Scope::Person.allow_folder(Path::new(folder)).is_ok());
        }
    }

    #[test]
    fn a_vendor_without_permissions_is_no_way_around_the_permission() {
        let (same, other) = (VendorId::new("tool"), VendorId::new("other"));
        let description = VendorDescription {
            command: vec!["sh".to_owned()],
            new: None,
            resume: None,
            transcript: None,
        };
        let ask = agent(Permission::Ask);
        assert!(ask.allow_vendor((&other, None), true).is_ok());
        assert!(ask.allow_vendor((&other, None), false).is_err());
        assert!(ask.allow_vendor((&same, None), false).is_ok(), "it is one itself");
        assert!(ask.allow_vendor((&same, Some(&description)), false).is_err());
        assert!(agent(Permission::Auto).allow_vendor((&other, None), false).is_ok());
        assert!(Scope::Person.allow_vendor((&other, None), false).is_ok());
    }

    #[test]
    fn an_agent_reaches_itself_and_its_children() {
        let scope = agent(Permission::Ask);
        let own = SessionId::new(Uuid::from_u128(1));
        let other = SessionId::new(Uuid::from_u128(2));
        assert!(scope.allow_session(own, None).is_ok());
        assert!(scope.allow_session(other, Some(own)).is_ok());
        assert!(scope.allow_session(other, None).is_err());
        assert!(Scope::Person.allow_session(other, None).is_ok());
        for deed in [Deed::Remove, Deed::Trust, Deed::Repair, Deed::Adopt, Deed::StopDaemon] {
            assert!(scope.allow(deed).is_err(), "{deed:?}");
            assert!(Scope::Person.allow(deed).is_ok(), "{deed:?}");
        }
    }
}
