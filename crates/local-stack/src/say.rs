//! Lines for the person at the terminal.

use std::io::Write;

/// Prints a line. A terminal that is gone is no reason to fail: the stack must still be stopped in order.
pub fn say(line: &str) {
    let mut output = std::io::stdout().lock();
    let _printed = writeln!(output, "{line}").and_then(|()| output.flush());
}
