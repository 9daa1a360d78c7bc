//! Two endpoints in one process with two in-memory links: blocking sockets without root or devices.
//!
//!     cargo run -p mptcp-live --example pipes

use std::error::Error;
use std::io::{Read, Write};

use mptcp_live::{Config, Driver, Interface, MptcpListener, MptcpStream, Pipe};

/// Sends bytes from one end to the other. Returns the number of received bytes, and of subflows.
pub fn transfer(size: usize) -> Result<(usize, usize), Box<dyn Error>> {
    let (first, its_end) = Pipe::pair("first", 1_500)?;
    let (second, its_other_end) = Pipe::pair("second", 1_500)?;
    let near = Driver::start(vec![
        Interface::new(first, ["10.1.0.2".parse()?]),
        Interface::new(second, ["10.2.0.2".parse()?]),
    ])?;
    let far = Driver::start(vec![
        Interface::new(its_end, ["10.1.0.1".parse()?]),
        Interface::new(its_other_end, ["10.2.0.1".parse()?]),
    ])?;
    let listener = MptcpListener::bind(&far, 80, Config::default())?;
    let server = std::thread::spawn(move || -> std::io::Result<usize> {
        let (mut stream, _) = listener.accept()?;
        let mut received = Vec::new();
        stream.read_to_end(&mut received)?;
        stream.write_all(b"thanks")?;
        Ok(received.len())
    });
    let mut stream = MptcpStream::connect(&near, "10.1.0.1:80".parse()?, Config::default())?;
    stream.write_all(&vec![0x5a; size])?;
    let subflows = stream.info()?.subflows.len();
    stream.shutdown_write()?;
    stream.read_to_end(&mut Vec::new())?;
    let received = server.join().map_err(|_| "the server has panicked")??;
    Ok((received, subflows))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (received, subflows) = transfer(10_000_000)?;
    println!("{received} bytes arrived over {subflows} subflows");
    Ok(())
}
