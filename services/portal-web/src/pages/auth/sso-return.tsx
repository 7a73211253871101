import { Anchor, Center, Loader, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useEffect, useRef, useState } from "react";
import { Link, useNavigate } from "react-router-dom";
import { asFailure } from "../../api/failure";
import type { SsoDeparture } from "../../api/sso-departure";
import type { SsoReturn as Returned } from "../../api/types";
import { AuthFrame } from "./auth-frame";

const SUCCESS = {
  confirm: "Confirmed. Now repeat what you wanted to do.",
  link: "Linked. From now on you can log in with single sign-on.",
};

interface SsoReturnProps {
  departure: SsoDeparture;
  error: unknown;
  complete: (returned: Returned, options: { onSuccess: () => void }) => void;
}

/** The identity provider has sent the browser back: completes the log-in, and leads to the page that the person left. */
export function SsoReturn({ departure, error, complete }: SsoReturnProps) {
  const [returned] = useState(ofAddress);
  const navigate = useNavigate();
  const isSent = useRef(false);
  useEffect(() => {
    // A code works once.
    if (isSent.current) return;
    isSent.current = true;
    // Neither the history nor a bookmark keeps the code.
    window.history.replaceState(window.history.state, "", window.location.pathname);
    complete(returned, {
      onSuccess: () => {
        if (departure.purpose !== "log_in") notifications.show({ message: SUCCESS[departure.purpose] });
        navigate(departure.path, { replace: true });
      },
    });
  }, [returned, departure, complete, navigate]);
  if (!error) {
    return (
      <Center mih="100vh">
        <Loader size="sm" role="status" aria-label="Completing the login" />
      </Center>
    );
  }
  return (
    <AuthFrame
      title={departure.purpose === "log_in" ? "You are not logged in" : "This did not work"}
      footer={
        <Anchor component={Link} to={departure.path} replace size="sm">
          {departure.purpose === "log_in" ? "Go to the login" : "Go back"}
        </Anchor>
      }
    >
      <Text role="alert">{asFailure(error).message}</Text>
    </AuthFrame>
  );
}

/** What the provider has added to the address. */
function ofAddress(): Returned {
  const given = new URLSearchParams(window.location.search);
  const names = ["state", "code", "error", "iss"].filter((name) => given.get(name));
  return { state: "", ...Object.fromEntries(names.map((name) => [name, given.get(name) ?? ""])) };
}
