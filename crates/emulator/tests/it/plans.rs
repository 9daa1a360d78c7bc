//! Plans: hosts, devices, addresses, routes, and refused scenarios.

use crate::scenes::{address, emulate};
use mptcp_lab::scenario::names::DownMode;

#[test]
fn paths_have_a_subnet_each() {
    let emulation = emulate(
        "[paths.wifi]\nrate = \"1Gbit\"\n[paths.3g]\nrate = \"1Gbit\"\n[flows.bulk]\nbackup = [\"3g\"]",
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let [client, server] = &emulation.plan().hosts[..] else { panic!("{:?}", emulation.plan()) };
    assert_eq!((client.name.as_str(), client.opens), ("client", true));
    assert_eq!((server.name.as_str(), server.opens), ("server", false));
    let names: Vec<_> = client.devices.iter().map(|device| (device.name.as_str(), device.backup)).collect();
    assert_eq!(names, [("wifi", false), ("3g", true)]);
    let addresses: Vec<_> = (0..4).map(|port| address(&emulation, port).to_string()).collect();
    assert_eq!(addresses, ["10.87.1.1", "10.87.2.1", "10.87.1.2", "10.87.2.2"]);
    assert!(client.routes.is_empty() && server.routes.is_empty(), "subnets lead everywhere");
}

#[test]
fn behind_routers_routes_say_the_way() {
    let emulation = emulate(
        "[links.a]\nrate = \"1Gbit\"\nends = [\"client\", \"r\"]\n[links.b]\nrate = \"1Gbit\"\nends = [\"client\", \"r\"]\n\
         [links.c]\nrate = \"1Gbit\"\nends = [\"r\", \"server\"]\n[flows.bulk]",
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let hosts = &emulation.plan().hosts;
    let server = hosts.iter().find(|host| host.name == "server").map(|host| host.routes.as_slice());
    let ways: Vec<_> = server.unwrap_or_default().iter().map(|route| route.to.to_string()).collect();
    assert_eq!(ways, ["10.87.1.1", "10.87.2.1"]);
    assert!(hosts.iter().all(|host| host.name != "r"), "a router is inside");
}

#[test]
fn names_that_no_device_can_have_are_replaced() {
    let emulation = emulate("[paths.a-path-with-a-long-name]\nrate = \"1Gbit\"\n[paths.lo]\nrate = \"1Gbit\"\n[paths.path1]\nrate = \"1Gbit\"\n[flows.bulk]")
        .unwrap_or_else(|error| panic!("{error}"));
    let devices = &emulation.plan().hosts[0].devices;
    let names: Vec<_> = devices.iter().map(|device| device.name.as_str()).collect();
    assert_eq!(names, ["path1", "path2", "link3"]);
}

#[test]
fn what_real_packets_cannot_have_is_said() {
    let middlebox =
        "[paths.wifi]\nrate = \"1Gbit\"\n[flows.bulk]\n[middleboxes.home]\npath = \"wifi\"\nkind = \"nat\"";
    let filter = "[paths.wifi]\nrate = \"1Gbit\"\n[flows.bulk]\n[[filters]]\npath = \"wifi\"\nflows = [\"bulk\"]\ndelay = \"1ms\"";
    let route = "[paths.wifi]\nrate = \"1Mbit\"\n[flows.bulk]\n[[routes]]\nfrom = \"client\"\nto = \"server\"\nflows = [\"bulk\"]\n\
                 links = [\"wifi\"]";
    let many: String = (0..251).map(|path| format!("[paths.p{path}]\nrate = \"1Mbit\"\n")).collect();
    let paths = "[paths.wifi]\nrate = \"1Gbit\"\n[paths.3g]\nrate = \"1Gbit\"\n";
    let both = format!("{paths}[flows.a]\n[flows.b]\nfrom = \"server\"\nto = \"client\"\n");
    for (toml, says) in [
        (both.as_str(), "host \"server\" accepts MPTCP (flow \"a\") and opens flows (flow \"b\")"),
        (middlebox, "middlebox \"home\": middleboxes work only in simulated networks"),
        (route, "the route from \"client\" to \"server\" selects flows"),
        (filter, "the filter on \"wifi\" selects flows or paths"),
        (&format!("{many}[flows.bulk]"), "251 links: an emulated network must have at most 250 links"),
    ] {
        let said = emulate(toml).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn who_opens_connections_is_told_of_its_devices() {
    let emulation = emulate(
        "[paths.wifi]\nrate = \"1Mbit\"\n[paths.3g]\nrate = \"1Mbit\"\n[flows.bulk]\n\
         [[events]]\nat = \"1s\"\npath = \"3g\"\nset = { up = false }\n\
         [[events]]\nat = \"2s\"\npath = \"3g\"\nset = { up = true }\n\
         [[events]]\nat = \"3s\"\npath = \"wifi\"\nset = { up = false }\nhow = \"blackhole\"\n\
         [[events]]\nat = \"4s\"\npath = \"wifi\"\nset = { up = false }\nhow = \"endpoint\"\n\
         [[events]]\nat = \"5s\"\npath = \"wifi\"\nset = { up = false }\nhow = \"route\"",
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let told: Vec<_> =
        emulation.plan().notices.iter().map(|told| (told.host, told.device, told.up, told.how)).collect();
    let (admin, endpoint, route) = (DownMode::Admin, DownMode::Endpoint, DownMode::Route);
    let wifi = [(0, 0, false, endpoint), (0, 0, false, route)];
    assert_eq!(told, [[(0, 1, false, admin), (0, 1, true, admin)], wifi].concat());
}
