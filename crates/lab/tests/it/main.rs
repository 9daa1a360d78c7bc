//! Scenarios: what is read, what is refused, and what a run gives.

mod boxes;
mod broken;
mod captures;
mod competition;
mod dctcp;
mod events;
mod examples;
mod fabrics;
mod grid;
mod hostile;
mod impairments;
mod limits;
mod mechanisms;
mod middleboxes;
mod never_slower;
mod path_mtu;
mod policies;
mod queues;
mod reading;
mod reference;
mod routes;
mod scenario;
mod traces;
mod units;
mod wireless;
