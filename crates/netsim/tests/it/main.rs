//! Tests of the network against theory, published tables and simple models.

mod budget;
mod chance;
mod changes;
mod common;
mod impairments;
mod links;
mod longest;
mod marks;
mod model;
mod names;
mod observer;
mod queues;
mod spreading;
mod stations;
mod taps;
mod theory;
mod topology;
mod wifi;
mod wifi_coupling;
mod wifi_mobility;
mod wifi_neighbours;
mod wifi_queues;
mod wifi_random;
mod wifi_saturation;
