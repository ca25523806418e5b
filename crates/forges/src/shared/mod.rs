//! Code that several forges share.

pub(crate) mod body;
pub(crate) mod headers;
pub(crate) mod history;
pub(crate) mod json;
pub(crate) mod lenient;
pub(crate) mod list;
pub(crate) mod logs;
pub(crate) mod payload;
pub(crate) mod rest;
pub(crate) mod signature;
pub(crate) mod text;
