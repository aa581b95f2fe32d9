//! The errors of one block, reported together.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Error;

#[derive(Default)]
pub struct Problems(Vec<Error>);

impl Problems {
    pub fn add(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.0.push(Error::new_spanned(tokens, message));
    }

    pub fn push(&mut self, error: Error) {
        self.0.push(error);
    }

    pub fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// One `compile_error!` for each error, in the order in which they were found.
    pub fn into_compile_errors(self) -> TokenStream {
        self.0.iter().map(Error::to_compile_error).collect()
    }
}
