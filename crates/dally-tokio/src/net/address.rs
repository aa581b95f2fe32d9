//! Addresses and names.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use dally_tasks::hosts::Host;

/// What can be turned into addresses. Names are `localhost`, those of the hosts of the execution, and addresses in
/// digits.
pub trait ToSocketAddrs: Sealed {}

pub(super) mod sealed {
    use super::{SocketAddr, io};

    pub trait Sealed {
        fn addresses(&self) -> io::Result<Vec<SocketAddr>>;
    }
}

use self::sealed::Sealed;

macro_rules! addresses {
    ($($type:ty: $own:ident => $answer:expr;)*) => {$(
        impl ToSocketAddrs for $type {}

        impl Sealed for $type {
            fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
                let $own = self;
                $answer
            }
        }
    )*};
}

addresses! {
    SocketAddr: own => Ok(vec![*own]);
    SocketAddrV4: own => Ok(vec![SocketAddr::V4(*own)]);
    SocketAddrV6: own => Ok(vec![SocketAddr::V6(*own)]);
    (IpAddr, u16): own => Ok(vec![(*own).into()]);
    (Ipv4Addr, u16): own => Ok(vec![(*own).into()]);
    (Ipv6Addr, u16): own => Ok(vec![(*own).into()]);
    [SocketAddr]: own => Ok(own.to_vec());
    (&str, u16): own => named(own.0, own.1);
    (String, u16): own => named(&own.0, own.1);
    str: own => parse(own);
    String: own => parse(own);
}

impl<T: ToSocketAddrs + ?Sized> ToSocketAddrs for &T {}

impl<T: Sealed + ?Sized> Sealed for &T {
    fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        (**self).addresses()
    }
}

/// What is done with the first of these addresses that it can be done with.
pub(super) fn first_that<T>(
    addr: impl ToSocketAddrs,
    mut does: impl FnMut(SocketAddr) -> io::Result<T>,
) -> io::Result<T> {
    let mut failed = unresolved();
    for at in addr.addresses()? {
        match does(at) {
            Ok(done) => return Ok(done),
            Err(why) => failed = why,
        }
    }
    Err(failed)
}

/// There was no address.
pub(super) fn unresolved() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "could not resolve to any address")
}

fn parse(text: &str) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = text.parse() {
        return Ok(vec![address]);
    }
    let invalid = || io::Error::new(io::ErrorKind::InvalidInput, "invalid socket address");
    let (host, port) = text.rsplit_once(':').ok_or_else(invalid)?;
    named(host, port.parse().map_err(|_| invalid())?)
}

fn named(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if host == "localhost" {
        return Ok(vec![(Ipv4Addr::LOCALHOST, port).into()]);
    }
    if let Some(host) = Host::named(host) {
        return Ok(vec![(host.address(), port).into()]);
    }
    let address = host.parse::<IpAddr>().map_err(|_| {
        let message = format!(
            "`{host}` is not looked up: under Dally there are `localhost` and the hosts that the test starts"
        );
        io::Error::new(io::ErrorKind::NotFound, message)
    })?;
    Ok(vec![(address, port).into()])
}

/// The addresses of a name.
pub async fn lookup_host<T: ToSocketAddrs>(
    host: T,
) -> io::Result<impl Iterator<Item = SocketAddr>> {
    Ok(host.addresses()?.into_iter())
}
