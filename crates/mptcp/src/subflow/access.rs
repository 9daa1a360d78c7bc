//! The parts of a subflow, for the connection that it belongs to.

use super::Subflow;
use super::backlog::Backlog;
use super::mapping::Mapper;
use super::parts::{Agreed, Ends, Opening, PeerWindow, Record, TimestampClock, Turn, Watch};
use super::path_mtu::PathMtu;
use super::receiver::Receiver;
use super::sender::Sender;
use super::state::{Control, State};

impl Subflow {
    pub(crate) fn ends(&self) -> &Ends {
        &self.ends
    }

    pub(crate) fn ends_mut(&mut self) -> &mut Ends {
        &mut self.ends
    }

    pub(crate) fn opening(&self) -> &Opening {
        &self.opening
    }

    pub(crate) fn opening_mut(&mut self) -> &mut Opening {
        &mut self.opening
    }

    pub(crate) fn agreed(&self) -> &Agreed {
        &self.agreed
    }

    pub(crate) fn agreed_mut(&mut self) -> &mut Agreed {
        &mut self.agreed
    }

    pub(crate) fn clock(&self) -> &TimestampClock {
        &self.agreed.timestamps
    }

    pub(crate) fn clock_mut(&mut self) -> &mut TimestampClock {
        &mut self.agreed.timestamps
    }

    pub(crate) fn sender(&self) -> &Sender {
        &self.sender
    }

    pub(crate) fn sender_mut(&mut self) -> &mut Sender {
        &mut self.sender
    }

    pub(crate) fn backlog(&self) -> &Backlog {
        &self.backlog
    }

    pub(crate) fn backlog_mut(&mut self) -> &mut Backlog {
        &mut self.backlog
    }

    /// How many of its last two segments that were not full are under way.
    pub(crate) fn small_in_flight(&self) -> usize {
        self.backlog.small_behind(self.sender.board.una)
    }

    pub(crate) fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    pub(crate) fn receiver_mut(&mut self) -> &mut Receiver {
        &mut self.receiver
    }

    pub(crate) fn mapper(&self) -> &Mapper {
        &self.mapper
    }

    pub(crate) fn mapper_mut(&mut self) -> &mut Mapper {
        &mut self.mapper
    }

    /// What is left of the window that was said last on it.
    pub(crate) fn window_said(&self) -> u64 {
        let since = self.receiver.next().saturating_sub(self.window.last_ack_sent);
        self.window.said.saturating_sub(since)
    }

    /// The window that the peer said with the last acknowledgement.
    pub(crate) fn window_heard(&self) -> u64 {
        self.window.heard
    }

    pub(crate) fn window_mut(&mut self) -> &mut PeerWindow {
        &mut self.window
    }

    pub(crate) fn mtu(&self) -> &PathMtu {
        &self.mtu
    }

    pub(crate) fn mtu_mut(&mut self) -> &mut PathMtu {
        &mut self.mtu
    }

    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }

    pub(crate) fn watch_mut(&mut self) -> &mut Watch {
        &mut self.watch
    }

    pub(crate) fn record(&self) -> &Record {
        &self.record
    }

    pub(crate) fn record_mut(&mut self) -> &mut Record {
        &mut self.record
    }

    pub(crate) fn turn(&self) -> &Turn {
        &self.turn
    }

    pub(crate) fn turn_mut(&mut self) -> &mut Turn {
        &mut self.turn
    }

    pub(crate) fn state(&self) -> State {
        self.state
    }

    pub(crate) fn set_state(&mut self, state: State) {
        self.state = state;
    }

    /// What is to be said beside data.
    pub(crate) fn control(&self) -> Option<Control> {
        self.owed.control
    }

    pub(crate) fn set_control(&mut self, control: Option<Control>) {
        self.owed.control = control;
    }

    pub(crate) fn take_control(&mut self) -> Option<Control> {
        self.owed.control.take()
    }

    /// Whether a FIN is wanted after what was sent.
    pub(crate) fn wants_fin(&self) -> bool {
        self.owed.fin
    }

    pub(crate) fn want_fin(&mut self) {
        self.owed.fin = true;
    }

    /// Both parts that received data passes.
    pub(crate) fn receiving(&mut self) -> (&mut Receiver, &mut Mapper) {
        (&mut self.receiver, &mut self.mapper)
    }
}
