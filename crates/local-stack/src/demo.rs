//! What `make run` shows once everything is ready.

use local_stack::Stack;

use crate::say::say;

/// Shows where the stack is and how to speak to it.
pub(crate) async fn play(stack: &Stack) -> anyhow::Result<()> {
    say("");
    say(&format!("Integration API   {}", stack.order_api()));
    say(&format!("Portal            {}", stack.portal_api()));
    say(&format!("Tokens, databases {}", stack.directory().join("stack.json").display()));
    say(&format!("Logs              {}", stack.directory().join("logs").display()));
    say("\nWaybill is up. Ctrl-C stops it.");
    Ok(())
}
