//! Published crates, unmodified, under `cargo dally test`.

mod actors;
mod caches;
mod consensus;
mod grpc;
mod http;
mod mini_redis_server;
mod parts;
mod pools;
mod web;
