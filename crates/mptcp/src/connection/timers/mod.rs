pub(crate) mod arm;
pub(crate) mod deadlines;
pub(crate) mod timeouts;
