//! The problems of one block, reported together.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Error;

/// Problems found so far.
#[derive(Default)]
pub struct Problems(Vec<Error>);

impl Problems {
    /// Adds a problem that the given tokens of the user have.
    pub fn add(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.0.push(Error::new_spanned(tokens, message));
    }

    /// Adds a problem found while parsing.
    pub fn push(&mut self, error: Error) {
        self.0.push(error);
    }

    /// The value, or the problem is kept and there is none.
    pub fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// One `compile_error!` for each, in the order in which they were found.
    pub fn into_compile_errors(self) -> TokenStream {
        self.0.iter().map(Error::to_compile_error).collect()
    }
}
