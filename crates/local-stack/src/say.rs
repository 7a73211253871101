//! Output for the terminal.

use std::io::Write;

/// Prints a line. Ignores a closed terminal, because the stack must still be stopped in order.
pub fn say(line: &str) {
    let mut output = std::io::stdout().lock();
    let _printed = writeln!(output, "{line}").and_then(|()| output.flush());
}
