//! The terminal UI: a list of all sessions, who needs a person, and everything about one session.
//!
//! | module | what is in it |
//! |---|---|
//! | `api` | the port through which the UI talks to the daemon |
//! | `model` | what is shown, as plain data |
//! | `update` | a pure function: a message and the model give a changed model and effects |
//! | `view` | a pure function: the model gives a frame |
//! | `run` | the event loop: reads keys and events, carries out effects, draws |
//!
//! The UI holds no rules. Decisions are functions of `segue_core::rules`, such as `screens`.

mod api;
mod geometry;
mod model;
mod run;
#[cfg(test)]
mod samples;
mod syntax;
mod text;
mod update;
mod view;

pub use api::{
    AttachResult, DaemonApi, DaemonEvents, DiffQuestion, HandoverOrder, NewSession, NewTask,
    Surroundings, TalkPage, VendorChoice,
};
pub use model::UiModel;
pub use run::run;
pub use update::{UiEffect, UiMessage, update};
pub use view::draw;
