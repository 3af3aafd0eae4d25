//! The statuses with which the program ends, besides success.

/// For a reported ε that `tacita certify` cannot prove.
pub const NOT_PROVED: u8 = 1;

/// For bad input; clap uses it for bad arguments too.
pub const BAD_INPUT: u8 = 2;

/// For records of new input that `tacita predict` cannot use, all others being answered.
pub const SOME_UNUSABLE: u8 = 3;

/// For an audit that refutes the guarantee of a run.
pub const AUDIT_ALARM: u8 = 4;

/// For a run that Ctrl-C stopped, as for any program it stops.
pub const STOPPED: u8 = 130;
