//! Credentials for git: tokens from their sources, tickets for git commands of the daemon, and the
//! program that git runs to ask.

mod askpass;
mod ticket;
mod token;

pub use askpass::link_askpass;
pub use ticket::Tickets;
pub use token::TokenSource;
