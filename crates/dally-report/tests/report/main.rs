//! What people and programs get to see of findings made by hand: one test binary, so that the
//! findings are shared.

mod any;
mod exports;
mod findings;
mod formats;
mod json;
mod page;
mod store;
mod stories;
mod texts;
