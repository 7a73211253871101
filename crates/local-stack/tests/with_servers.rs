//! `local-stack with-servers` returns the exit code of its command. Otherwise `make test` passes whatever fails.

use std::process::Command;

#[test]
fn the_exit_code_of_the_command_is_returned() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_local-stack"));
    let status = program.args(["with-servers", "--", "sh", "-c", "exit 7"]).status().unwrap();
    assert_eq!(status.code(), Some(7));
}
